/*
 * aggregate.c - mean, geometric mean, median, wins and their interval over the shapes of a summary row. Relies on
 * stats/interval.h. Called by result/summary.c and by report/.
 */
#include "analysis/aggregate.h"

#include <math.h>
#include <stdlib.h>

#include "stats/interval.h"

static void count(const struct aggregate_input *in, struct aggregate *out)
{
    for (size_t i = 0; i < in->n; i++) {
        out->wins += in->geomeans[i] > 0;
        out->clear_wins += in->low && in->low[i] > 0;
        out->clear_losses += in->high && in->high[i] < 0;
    }
}

static double mean_log(const double *ratios_minus_one, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += log1p(ratios_minus_one[i]);
    return sum / (double)n;
}

static double mean_of_wins(const double *speedups, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fmax(speedups[i], 0);
    return sum / (double)n;
}

void aggregate_of(const struct aggregate_input *in, struct aggregate *out)
{
    *out = (struct aggregate){.n = in->n};
    count(in, out);
    out->mean = stats_mean(in->means, in->n);
    out->sd = stats_sd(in->means, in->n);
    double half_width = in->n > 1 ? stats_t95((double)in->n - 1) * out->sd / sqrt((double)in->n) : NAN;
    out->low = out->mean - half_width;
    out->high = out->mean + half_width;
    out->geomean = expm1(mean_log(in->geomeans, in->n));
    out->median = stats_median(in->geomeans, in->n);
    out->max_mean = mean_of_wins(in->means, in->n);
}
