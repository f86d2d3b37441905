/*
 * rank.c - Pearson's and Spearman's correlation, with mean ranks for ties. Pure. Called by report/table4.c, which
 * relates kernel parameters to problem sizes.
 */
#include "stats/interval.h"

#include <math.h>
#include <stdlib.h>

double stats_pearson(const double *x, const double *y, size_t n)
{
    if (n < 2)
        return NAN;
    double mean_x = stats_mean(x, n);
    double mean_y = stats_mean(y, n);
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - mean_x;
        double dy = y[i] - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

struct ranked {
    double value;
    size_t index;
};

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value;
    double y = ((const struct ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Ranks from 1; ties share the mean of their ranks. */
static int ranks_of(const double *values, size_t n, double *ranks)
{
    struct ranked *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct ranked){.value = values[i], .index = i};
    qsort(sorted, n, sizeof *sorted, compare_ranked);
    for (size_t start = 0; start < n;) {
        size_t end = start;
        while (end < n && !(sorted[end].value > sorted[start].value))
            end++;
        for (size_t i = start; i < end; i++)
            ranks[sorted[i].index] = ((double)start + 1 + (double)end) / 2;
        start = end;
    }
    free(sorted);
    return 0;
}

double stats_spearman(const double *x, const double *y, size_t n)
{
    if (n < 2)
        return NAN;
    double result = NAN;
    double *ranks_x = malloc(n * sizeof *ranks_x);
    double *ranks_y = malloc(n * sizeof *ranks_y);
    if (ranks_x && ranks_y && ranks_of(x, n, ranks_x) == 0 && ranks_of(y, n, ranks_y) == 0)
        result = stats_pearson(ranks_x, ranks_y, n);
    free(ranks_y);
    free(ranks_x);
    return result;
}
