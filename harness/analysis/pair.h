/*
 * pair.h - two contenders of one cell on the blocks they share: what every ratio in the program is made from.
 */
#ifndef CUDAL2_ANALYSIS_PAIR_H
#define CUDAL2_ANALYSIS_PAIR_H

#include "record/record.h"
#include "stats/interval.h"

/* Owned arrays of n common blocks, in block order. */
struct pair {
    size_t n;
    double *reference_ns, *candidate_ns;
    double *log_ratio; /* ln(reference / candidate): above 0 the candidate is faster */
    unsigned *group;
    double choosing; /* variance of its mean log ratio that its values do not show: of a -max, else 0 */
};

enum pair_blocks { PAIR_HEALTHY_BLOCKS, PAIR_ALL_BLOCKS }; /* with or without those that saw a slowdown */

/* n may come out 0. -1 out of memory. */
int pair_collect(const struct cell_record *r, const struct series *reference, const struct series *candidate,
                 enum pair_blocks which, struct pair *out);
void pair_free(struct pair *p);

/* The interval of its log ratio, with what choosing adds. */
void pair_interval(const struct pair *p, struct interval *out);

/* All estimates of one pair; each is a ratio minus 1 (paper, Eq. 2). The interval is no narrower than
 * pair_quantization. */
struct speedup {
    size_t n;
    unsigned groups;
    double geomean;        /* from the trimmed mean log ratio of the groups */
    double low, high;      /* its 95% interval; NaN with fewer than two groups, or no step known */
    double mean_of_ratios; /* the paper's */
    double ratio_of_means;
    double log_mean; /* the geomean in log units */
    double uneven;   /* NaN; else the first three are of the ratio of means, for the candidate's launches are uneven */
};
void pair_speedup(const struct pair *p, struct speedup *out);

/* False for times of the device that were taken on different rungs of the ladder: they contain different things. */
bool rungs_are_comparable(const char *a, const char *b, enum timing timing);
bool pair_is_comparable(const struct contender_record *a, const struct contender_record *b, enum timing timing);

#endif
