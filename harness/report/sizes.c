/*
 * sizes.c - problem size as log2(MNK), mean and largest dimension, and the bins of each. Pure. Called by Table 3 and
 * Figure 3.
 */
#include "report/sizes.h"

#include <math.h>
#include <string.h>

static double log2_mnk(const struct shape_value *v)
{
    return log2(v->m) + log2(v->n) + log2(v->k);
}

static double mean_dimension(const struct shape_value *v)
{
    return log2((v->m + v->n + v->k) / 3);
}

static double largest_dimension(const struct shape_value *v)
{
    return log2(fmax(v->m, fmax(v->n, v->k)));
}

const struct size_axis size_axes[SIZE_AXES] = {
    {"log2(MNK)", "log2_mnk", log2_mnk, 2, true},
    {"mean dimension", "mean_dimension", mean_dimension, 1, false},
    {"largest dimension", "largest_dimension", largest_dimension, 1, false},
};

void size_fill_bins(const struct line *line, const struct size_axis *axis, struct size_bin bins[SIZE_BINS])
{
    bool mean = outcome_allows_mean(line->outcome);
    memset(bins, 0, SIZE_BINS * sizeof *bins);
    for (size_t i = 0; i < line->n; i++) {
        const struct shape_value *v = &line->values[i];
        double size = axis->of(v);
        double at = floor((size + 1e-9) / axis->width);
        if (!(at >= 0 && at < SIZE_BINS))
            continue;
        struct size_bin *bin = &bins[(size_t)at];
        bin->n++;
        bin->wins += v->geomean > 0;
        bin->converged += v->converged;
        bin->sum_at += size;
        bin->sum += mean ? v->mean : NAN;
        bin->sum_log += log1p(v->geomean);
    }
}
