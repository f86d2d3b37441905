/*
 * timed_state.h - what timed.c and timed_segment.c share: the state of a cell's checks.
 */
#ifndef CUDAL2_MEASURE_TIMED_STATE_H
#define CUDAL2_MEASURE_TIMED_STATE_H

#include "measure/timed.h"

/* Elements of C that are read first when the clock has stopped (timed_early.h). */
struct timed_early {
    struct probe_spot spots[TIMED_SPOTS_EARLY];
    const char *at[TIMED_SPOTS_EARLY];
    unsigned char raw[TIMED_SPOTS_EARLY][sizeof(float)];
    size_t n, bytes; /* how many, of how many bytes each */
};

struct timed {
    struct random random;
    void *pool;
    struct probe_renewal renewal;              /* the latest */
    bool cold;                                 /* of the cell's launches */
    struct probe_spot spots[TIMED_SPOTS_MOST]; /* of C, read when the clock had stopped, */
    double found[TIMED_SPOTS_MOST];            /* what lay there, */
    size_t n_spots;                            /* how many, */
    double read_ns;                            /* and how long that took */
    struct timed_early early;
    /* New inputs of a contender that stands still until they are delivered. */
    struct timed_stage {
        void *a, *b;
        uint64_t a_bytes, b_bytes;
        bool full;
    } stage;
    double products, products_ns; /* so far */
    /* Of segments (timed_disturb): whether the latest is checked, with a row for certain, and since when it runs. */
    bool chosen, row_due;
    double since;
    struct timed_cost cost;
    double others_ns; /* disturbances of segments that are not checked */
};

static inline double timed_now_ns(const struct bench *bench)
{
    return (double)bench->device->ops->now(bench->device);
}

/* The first of the entrant's sets, in its layout. */
static inline const struct cudal2_operands *timed_first_set(const struct bench *bench, const struct entrant *e)
{
    return operands_sets(bench->operands, e->contender->is.layout) + e->first_set;
}

#endif
