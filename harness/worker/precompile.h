/*
 * precompile.h - what a run's cells will have compiled, compiled before the first cell by several threads, into the
 * cache on disk. Where cells do not wait for all of it, behind.h compiles.
 */
#ifndef CUDAL2_WORKER_PRECOMPILE_H
#define CUDAL2_WORKER_PRECOMPILE_H

#include "config/config.h"
#include "contender/contender.h"
#include "contender/tuned.h"
#include "worker/precompile_list.h"

#define PRECOMPILE_SETS_MOST 64u

struct precompiling {
    const struct config *config;
    const struct tuned_tables *tuned;
    const struct registry *registry;
    struct device *device;
    unsigned threads, turn; /* turn: the worker's number, so that several begin at different kernels */
    bool ranked;            /* there is a model that chooses */
    bool own;               /* the harness's kernels too: a worker that starts again has them */
    const size_t *order;    /* as in precompile_list_request */
    size_t n_order;
};

/* What such a run asks of precompile_list.h, and of the sets once there is a list. */
struct precompile_question {
    const char *families[PRECOMPILE_SETS_MOST];
    struct precompile_list_request list;
};
void precompile_ask(const struct precompiling *p, struct precompile_question *out);
struct precompile_request precompile_request_for(const struct precompiling *p, const struct precompile_list *list);

/* Processors that this process may use, as many as compile at a time at most. */
unsigned precompile_threads(void);

/* Kernels for which NVRTC would otherwise run one by one inside the first cell and the first races. */
void precompile(const struct precompiling *p);

#endif
