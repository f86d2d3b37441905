/*
 * estimates.h - the two estimates of one speedup: the trimmed one (result/: `geomean`), which the interval belongs to,
 * and the paper's untrimmed mean of ratios. Where the mean lies outside the interval, launches that took far longer
 * than the rest made it, not the kernels: tables flag, count and name such cells.
 */
#ifndef CUDAL2_REPORT_ESTIMATES_H
#define CUDAL2_REPORT_ESTIMATES_H

#include "result/result.h"

/* Ratios minus 1; false where the interval is not known. */
bool estimates_are_apart(double mean, double low, double high);
/* The same of a speedup of a result's cell; false for NULL. */
bool estimates_differ(const struct result_pair *speedup);
/* How far outside, in half-widths of the interval; 0 inside. */
double estimates_distance(const struct result_pair *speedup);

#endif
