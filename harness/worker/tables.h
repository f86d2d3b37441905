/*
 * tables.h - the tuning tables that a worker has, which it keeps when it starts again with the same. They are some
 * megabytes of JSON.
 */
#ifndef CUDAL2_WORKER_TABLES_H
#define CUDAL2_WORKER_TABLES_H

#include "contender/tuned.h"
#include "worker/protocol.h"

struct tables {
    struct tuned_tables tuned;
    char key[DIGEST_HEX]; /* what they were asked for with; "" before */
};

/* All zero before the first call; tuned_tables_close is due in the end. */
int tables_open(struct tables *t, const struct start_request *start, const struct config *config,
                const struct device *device, struct error *err);

#endif
