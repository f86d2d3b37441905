/*
 * shift.h - is one sample shifted against another, and which of many such claims hold together. Pure functions.
 */
#ifndef CUDAL2_STATS_SHIFT_H
#define CUDAL2_STATS_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

struct sample {
    const double *values;
    size_t n;
};

/* One-sided Mann-Whitney p-value against H0 "low + margin does not lie below high": small when low is below high by
 * more than the margin. Exact up to 1024 pairs of values (10 against 10 reach 5e-6 where the normal approximation ends
 * at 9e-5, too large to stand out among 1000), the normal approximation above. Ties count against the claim, so the
 * value never comes out too small. 1 when a sample is empty, NaN out of memory. */
double stats_below_p(struct sample low, struct sample high, double margin);

/* The smallest p-value that samples of these sizes can give. */
double stats_below_least_p(size_t n_low, size_t n_high);

/* How far `low` would have to lie below `high`, from median to median, for samples that scatter like these to give a
 * p-value of alpha at margin 0: a smaller shift goes unseen. 0 when any shift would do, INFINITY when these sizes can
 * never give alpha, NaN out of memory. */
double stats_below_resolution(struct sample low, struct sample high, double alpha);

/* Benjamini-Hochberg at false discovery rate q: rejected[i] tells whether the claim with p-value p[i] holds. A NaN is
 * a claim that cannot be made; it counts in the family all the same. -1 out of memory. */
int stats_discoveries(const double *p, size_t n, double q, bool *rejected);

#endif
