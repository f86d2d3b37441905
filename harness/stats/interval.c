/*
 * interval.c - means, medians, quantiles, the trimmed mean of groups and its interval with winsorised deviation and
 * the correction for correlated groups (docs/method.md, section 5). Pure. Called by the stop rule, results, tables and
 * tune.
 */
#include "stats/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
}

static double *sorted_copy(const double *values, size_t n)
{
    double *copy = malloc(n * sizeof *copy);
    if (!copy)
        return NULL;
    memcpy(copy, values, n * sizeof *copy);
    stats_sort(copy, n);
    return copy;
}

static double sorted_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    double share = at - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double stats_quantile(const double *values, size_t n, double q)
{
    if (n == 0 || !(q >= 0 && q <= 1))
        return NAN;
    double *sorted = sorted_copy(values, n);
    if (!sorted)
        return NAN;
    double result = sorted_quantile(sorted, n, q);
    free(sorted);
    return result;
}

double stats_median(const double *values, size_t n)
{
    return stats_quantile(values, n, 0.5);
}

double stats_log_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double stats_mean(const double *values, size_t n)
{
    if (n == 0)
        return NAN;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

double stats_sd(const double *values, size_t n)
{
    if (n < 2)
        return NAN;
    double mean = stats_mean(values, n);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

double stats_prediction(const double *values, size_t n)
{
    double count = (double)n;
    return stats_t95(count - 1) * stats_sd(values, n) * sqrt(1 + 1 / count);
}

struct keyed {
    unsigned group;
    double value;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a;
    const struct keyed *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Of a sorted run. Two or three values are too few to trim: nothing is dropped then. */
static double trimmed_mean(const struct keyed *run, size_t n)
{
    size_t drop = n / 4;
    double sum = 0;
    for (size_t i = drop; i < n - drop; i++)
        sum += run[i].value;
    return sum / (double)(n - 2 * drop);
}

/* Writes one trimmed mean per group, in group order; returns their number. */
static size_t group_means(struct keyed *sorted, size_t n, double *means)
{
    size_t groups = 0;
    for (size_t start = 0; start < n;) {
        size_t end = start;
        while (end < n && sorted[end].group == sorted[start].group)
            end++;
        means[groups++] = trimmed_mean(sorted + start, end - start);
        start = end;
    }
    return groups;
}

/* One-sided 10% point of sqrt(G) r1 when the group values are independent. */
#define SIGNIFICANT_R1 1.2816
/* With fewer groups no trend could show as significant, so a positive r1 is taken at its word. */
#define TESTABLE_GROUPS 8

static double lag1_autocorrelation(const double *values, size_t n)
{
    double mean = stats_mean(values, n);
    double cross = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
        if (i > 0)
            cross += (values[i] - mean) * (values[i - 1] - mean);
    }
    return squares > 0 ? cross / squares : 0;
}

/* Of the sorted group values this share is dropped at each end, rounded down: none below ten. */
#define DROPPED_SHARE 0.1

/* The values, in their own order, with what the trimmed mean drops drawn in to what it keeps. */
static void winsorise(double *values, size_t n, const double *sorted, size_t drop)
{
    for (size_t i = 0; i < n; i++)
        values[i] = fmin(fmax(values[i], sorted[drop]), sorted[n - 1 - drop]);
}

static double inflation_of(const double *values, size_t groups)
{
    double r1 = lag1_autocorrelation(values, groups);
    bool counts = groups < TESTABLE_GROUPS ? r1 > 0 : r1 * sqrt((double)groups) > SIGNIFICANT_R1;
    return counts ? 1 + 2 * r1 : 1;
}

/* Trimmed mean and its interval by Tukey and McLaughlin; values[] is winsorised on the way. */
static void interval_of_values(double *values, size_t groups, const double *sorted, struct interval *out)
{
    size_t drop = (size_t)(DROPPED_SHARE * (double)groups);
    size_t kept = groups - 2 * drop;
    double count = (double)groups;
    out->estimate = stats_mean(sorted + drop, kept);
    if (groups < 2)
        return;
    winsorise(values, groups, sorted, drop);
    out->inflation = inflation_of(values, groups);
    out->error = stats_sd(values, groups) * sqrt(count * out->inflation) / (double)kept;
    out->t = stats_t95((double)kept - 1);
    out->half_width = out->t * out->error;
    out->valid = true;
}

void stats_widen(struct interval *interval, double variance)
{
    if (!interval->valid || !(variance > 0))
        return;
    interval->error = sqrt(interval->error * interval->error + variance);
    interval->half_width = interval->t * interval->error;
}

int stats_group_values(const double *log_ratio, const unsigned *group, size_t n, double *values, size_t *groups)
{
    *groups = 0;
    struct keyed *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct keyed){.group = group[i], .value = log_ratio[i]};
    qsort(sorted, n, sizeof *sorted, compare_keyed);
    *groups = group_means(sorted, n, values);
    free(sorted);
    return 0;
}

void stats_interval(const double *log_ratio, const unsigned *group, size_t n, struct interval *out)
{
    *out = (struct interval){.estimate = NAN, .half_width = NAN, .error = NAN, .inflation = 1, .n = n};
    if (n == 0)
        return;
    double *values = malloc(n * sizeof *values);
    double *sorted = NULL;
    if (values && stats_group_values(log_ratio, group, n, values, &out->groups) == 0)
        sorted = sorted_copy(values, out->groups);
    if (sorted)
        interval_of_values(values, out->groups, sorted, out);
    free(sorted);
    free(values);
}

size_t stats_median_rank(size_t n)
{
    /* P(fewer than r of n values below the median), in logarithms so that no power of 2 underflows. */
    double log_term = -(double)n * log(2), tail = exp(log_term);
    size_t rank = 0;
    while (2 * tail <= 0.05 && rank < n / 2) {
        rank++;
        log_term += log((double)(n - rank + 1)) - log((double)rank);
        tail += exp(log_term);
    }
    return rank;
}
