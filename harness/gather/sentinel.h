/*
 * sentinel.h - the cell that every shard measures, host beside host: how much longer each host's GPU took than the
 * median of all. Nothing else of different hosts is compared.
 */
#ifndef CUDAL2_GATHER_SENTINEL_H
#define CUDAL2_GATHER_SENTINEL_H

#include "base/text.h"
#include "record/record.h"

#define SENTINEL_DIFFERS 0.02 /* time over the median of all from which a host is marked */

struct sentinel {
    unsigned shard;
    char node[64], device[48]; /* the host's name; the GPU's UUID, or the CPU's name */
    cJSON *times;              /* owned; contender -> median of its headline timing, ns */
    double ratio;              /* to the median of all shards, geometric mean over contenders; NAN: not known */
};

struct sentinels {
    struct sentinel *list; /* owned */
    size_t n, capacity;
};

/* EXIT_CODE_INTERNAL out of memory. */
int sentinels_add(struct sentinels *s, const struct sentinel *where, const struct cell_record *record,
                  struct error *err);

/* Sets each ratio, over the contenders that every shard has. */
void sentinels_rate(struct sentinels *s);

/* {"shard","node","device","cell","times_ns":{...}}: a journal's `sentinel` line; owned by the caller. */
cJSON *sentinel_line(const struct sentinel *s, const char *cell);

/* A row for each host and GPU, after sentinels_rate; sorts the list. */
void sentinels_text(struct sentinels *s, const char *cell, struct text *out);

void sentinels_free(struct sentinels *s);

#endif
