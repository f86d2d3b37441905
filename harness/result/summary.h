/*
 * summary.h - the run in a few dozen lines, from the cells of a result tree: what tables and screen show first.
 */
#ifndef CUDAL2_RESULT_SUMMARY_H
#define CUDAL2_RESULT_SUMMARY_H

#include "base/json.h"

#include <stddef.h>

/* Aggregates over shapes of one candidate against one reference. Speedups are ratios minus 1. */
struct aggregate {
    size_t n, wins;                  /* wins: geomean above 0 */
    size_t clear_wins, clear_losses; /* the 95% interval excludes 0 */
    double mean, sd;                 /* of mean_of_ratios over the shapes: the paper's Table 1 */
    double low, high;                /* 95% interval of the mean over the shapes */
    double geomean, median;          /* over the shapes' geomeans */
    double max_mean;                 /* mean of max(s, 0): Table 2 */
};
/* Of n shapes; means[] and geomeans[] are ratios minus 1, low[] and high[] their intervals (NaN where unknown). */
struct aggregate_input {
    size_t n;
    const double *means, *geomeans, *low, *high;
};
void aggregate_of(const struct aggregate_input *in, struct aggregate *out);

/* The summary object of an array of result cells, owned by the caller; NULL out of memory. */
cJSON *summary_of(const cJSON *cells);

#endif
