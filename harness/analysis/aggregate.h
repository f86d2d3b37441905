/*
 * aggregate.h - what the speedups of many shapes come to: means, wins, intervals. Called by the summary and by tables.
 */
#ifndef CUDAL2_ANALYSIS_AGGREGATE_H
#define CUDAL2_ANALYSIS_AGGREGATE_H

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

#endif
