/*
 * gpus.h - what the check between a run's GPUs (run/between.h) comes to: how much longer one takes than another, and
 * whether speedups are apart by more than when one GPU measures a cell twice.
 */
#ifndef CUDAL2_RESULT_GPUS_H
#define CUDAL2_RESULT_GPUS_H

#include "base/json.h"

#include <stdbool.h>

#define GPUS_MOST 64

struct gpus_apart {
    size_t cells;    /* that both measured for this check */
    double longer;   /* log: times of the second over those of the first, mean over cells and contenders */
    double speedups; /* log: speedups of the second over those of the first, mean over cells and pairs; NaN: no pairs */
    double half_width; /* of that, 95% over the cells; NaN for fewer than two */
    double repeats;    /* log: how far speedups of one GPU's two measurements of a cell are apart, mean; NaN: none */
    bool apart;        /* further than repeats, and the interval excludes 0; of one or two cells: plainly */
};

/* Devices in the order in which they appear; returns how many, at most `capacity`. `looks` is the array of
 * between_take, or anybody's JSON. */
size_t gpus_list(const cJSON *looks, const char **devices, size_t capacity);

/* The second of two devices against the first. False where no cell was measured on both. */
bool gpus_compare(const cJSON *looks, const char *first, const char *second, struct gpus_apart *out);

#endif
