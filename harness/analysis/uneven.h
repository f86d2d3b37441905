/*
 * uneven.h - whether a candidate does in few launches the work of many, and so is faster by what a trimmed mean drops.
 * Noise of the machine hits both of a pair alike; what counts is how much more the candidate's mean lies over its
 * median than its rival's does.
 */
#ifndef CUDAL2_ANALYSIS_UNEVEN_H
#define CUDAL2_ANALYSIS_UNEVEN_H

#include "analysis/pair.h"

/* Told from this share of the median on, where the 95% interval lies above the second. */
#define UNEVEN_LEAST 0.05
#define UNEVEN_LOW 0.03
/* A block is slow for who takes this many times its median in it; for both: the machine was. If each of the others were
 * as likely to be either's, or the candidate's by its share of the time of the two, where that is more (who takes
 * longer is interrupted more often), so many would be the candidate's with this probability at most. */
#define UNEVEN_SLOW 1.5
#define UNEVEN_CHANCE 0.002

/* By what share of the median the candidate's mean is higher, beyond its rival's, of blocks that do not begin a group
 * of several; NaN where that is not certain. */
double uneven_excess(const struct pair *p);

/* The ratio of the means, ln(reference / candidate), and half of its 95% interval. */
void uneven_means(const struct pair *p, double *log_ratio, double *half_width);

#endif
