/*
 * left_out.h - shapes that a mean over shapes does not count: those that a candidate declined, or has no time on, where
 * its reference has one. Who takes only what it is fast on would look faster than it is.
 */
#ifndef CUDAL2_RESULT_LEFT_OUT_H
#define CUDAL2_RESULT_LEFT_OUT_H

#include "result/result.h"

/* One list of pairs: a cell's speedups, or those of equal path. */
struct left_out_pair {
    const char *candidate, *reference;
    enum timing timing;
    bool equal_path;
};

/* Whether a contender stands behind the name: it has it, is one of the layouts of that "-max", or a baseline where the
 * name is ENTRY_STRONGEST. Copies never do. */
bool result_stands_for(const struct result_contender *contender, const char *name);

/* The candidate was entered in this cell, the reference has a time, and there is no speedup of one over the other. */
bool result_leaves_out(const struct result_cell *cell, const struct left_out_pair *pair);

/* A geometric mean over n shapes with the shapes left out in it, as 1: there one would run the reference. Speedups are
 * ratios minus 1. */
double result_mean_of_all(double geomean, double n, double left_out);

#endif
