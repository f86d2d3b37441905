/*
 * interval.h - estimators and intervals. Pure functions of arrays; no allocation is kept.
 */
#ifndef CUDAL2_STATS_INTERVAL_H
#define CUDAL2_STATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

/* In ascending order; none of them NaN. */
void stats_sort(double *values, size_t n);
/* Quantile q in [0,1] with linear interpolation (Hyndman-Fan type 7). NaN when n is 0. Does not change values. */
double stats_quantile(const double *values, size_t n, double q);
double stats_median(const double *values, size_t n);
/* The rank r, from 1, for which the r-th value from either end bounds the median with 95% confidence or more: the
 * binomial's. 0 below six values, which allow none. */
size_t stats_median_rank(size_t n);
/* ln of the number of ways to take k of n. */
double stats_log_choose(size_t n, size_t k);
double stats_mean(const double *values, size_t n);
/* Sample standard deviation (n-1); NaN below two values. */
double stats_sd(const double *values, size_t n);
/* Student t quantile for two-sided 95%, dof >= 1. */
double stats_t95(double dof);
/* What |t| exceeds with probability `tail`, in (0, 1); dof >= 1. */
double stats_t(double tail, double dof);
/* Half the width of the 95% prediction interval around the mean: where one more value of the same normal distribution
 * lies, t95(n-1) * sd * sqrt(1 + 1/n). NaN below two values. */
double stats_prediction(const double *values, size_t n);
double stats_pearson(const double *x, const double *y, size_t n);
double stats_spearman(const double *x, const double *y, size_t n);

/* A 95% interval for the trimmed mean log ratio of paired blocks.
 * Unit of inference: the group (other places, fresh inputs). A group's value is the trimmed mean of its log ratios
 * (a quarter dropped at each end); the estimate is the trimmed mean of the G group values (a tenth dropped at each end,
 * rounded down: none below ten; h are left), the half-width t95(h-1) * s * sqrt(G) / h * sqrt(inflation), where s is
 * the standard deviation of the winsorised group values (Tukey and McLaughlin 1963) and inflation = 1 + 2 r1 where
 * their lag-1 autocorrelation r1 is significant (sqrt(G) r1 > 1.28; below 8 groups: positive), else 1. With 8 groups an
 * insignificant r1 is mostly noise, and taking it at its word widened the worst of 15 pairs by a third. All in log
 * units. */
struct interval {
    bool valid; /* at least two groups */
    double estimate, half_width, inflation;
    double error, t; /* half_width = t * error */
    size_t n, groups;
};
void stats_interval(const double *log_ratio, const unsigned *group, size_t n, struct interval *out);

/* Makes a valid interval as wide as it is with so much more variance of its estimate than its groups show. */
void stats_widen(struct interval *interval, double variance);

/* The group values behind it, in group order: values[] has room for n, *groups is how many came. -1 out of memory. */
int stats_group_values(const double *log_ratio, const unsigned *group, size_t n, double *values, size_t *groups);

#endif
