/*
 * sizes.h - speedup by problem size (the paper's Table 3 and Figure 3): three ways to say how large a problem is, and
 * the shapes of a line in bins of each.
 */
#ifndef CUDAL2_REPORT_SIZES_H
#define CUDAL2_REPORT_SIZES_H

#include "report/dataset.h"

struct size_axis {
    const char *head, *key;                    /* "mean dimension", "mean_dimension" */
    double (*of)(const struct shape_value *v); /* as a power of two */
    double width;                              /* of a bin, in powers of two */
    bool exponent;                             /* bins are named by the exponent, not the size */
};
#define SIZE_AXES 3
extern const struct size_axis size_axes[SIZE_AXES];

#define SIZE_BINS 64

/* Bin i holds sizes from i * width on. Sums of the shapes' sizes, mean_of_ratios (NaN where the line's outcome allows
 * no mean) and ln(1 + geomean). */
struct size_bin {
    size_t n, wins, converged;
    double sum_at, sum, sum_log;
};

void size_fill_bins(const struct line *line, const struct size_axis *axis, struct size_bin bins[SIZE_BINS]);

#endif
