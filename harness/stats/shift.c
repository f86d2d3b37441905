/*
 * shift.c - the Mann-Whitney test against a shift, exact for few pairs and normal beyond, the least shift it could
 * see, and Benjamini-Hochberg. Pure. Called by compare/, which makes verdicts of it.
 */
#include "stats/shift.h"

#include <math.h>
#include <stdlib.h>

#include "stats/interval.h"

#define EXACT_PAIRS 1024

/* Pairs that speak against "low + margin lies below high". */
static size_t count_against(struct sample low, struct sample high, double margin)
{
    size_t against = 0;
    for (size_t i = 0; i < low.n; i++)
        for (size_t j = 0; j < high.n; j++)
            against += !(low.values[i] + margin < high.values[j]);
    return against;
}

/* ways[u] becomes the number of orders of n_low + n_high values with u inversions, for u <= last: the coefficients of
 * the Gaussian binomial, one factor (1 - x^(n_high+i)) / (1 - x^i) after the other. */
static void count_orders(double *ways, size_t last, size_t n_low, size_t n_high)
{
    ways[0] = 1;
    for (size_t u = 1; u <= last; u++)
        ways[u] = 0;
    for (size_t i = 1; i <= n_low; i++) {
        for (size_t u = last + 1; u-- > n_high + i;)
            ways[u] -= ways[u - n_high - i];
        for (size_t u = i; u <= last; u++)
            ways[u] += ways[u - i];
    }
}

/* P(U <= last) where all orders are equally likely. */
static double exact_tail(size_t last, size_t n_low, size_t n_high)
{
    double *ways = malloc((last + 1) * sizeof *ways);
    if (!ways)
        return NAN;
    count_orders(ways, last, n_low, n_high);
    double sum = 0;
    for (size_t u = 0; u <= last; u++)
        sum += ways[u];
    free(ways);
    return sum * exp(-stats_log_choose(n_low + n_high, n_low));
}

/* The distribution is symmetric, so the shorter tail tells both. */
static double exact_p(size_t u, size_t n_low, size_t n_high)
{
    size_t pairs = n_low * n_high;
    if (u >= pairs)
        return 1;
    size_t mirrored = pairs - u - 1;
    return u <= mirrored ? exact_tail(u, n_low, n_high) : 1 - exact_tail(mirrored, n_low, n_high);
}

static double normal_p(size_t u, size_t n_low, size_t n_high)
{
    double pairs = (double)n_low * (double)n_high;
    double sd = sqrt(pairs * (double)(n_low + n_high + 1) / 12);
    return erfc(-((double)u + 0.5 - pairs / 2) / sd / sqrt(2)) / 2;
}

static double p_of(size_t u, size_t n_low, size_t n_high)
{
    return n_low * n_high <= EXACT_PAIRS ? exact_p(u, n_low, n_high) : normal_p(u, n_low, n_high);
}

double stats_below_p(struct sample low, struct sample high, double margin)
{
    if (low.n == 0 || high.n == 0)
        return 1;
    return p_of(count_against(low, high, margin), low.n, high.n);
}

double stats_below_least_p(size_t n_low, size_t n_high)
{
    if (n_low == 0 || n_high == 0)
        return 1;
    return p_of(0, n_low, n_high);
}

/* How many pairs may speak against a claim of p-value alpha: the p-value grows with them. 0: none may, or not even
 * that is enough. */
static size_t pairs_allowed(size_t n_low, size_t n_high, double alpha)
{
    size_t good = 0, bad = n_low * n_high;
    while (good + 1 < bad) {
        size_t middle = good + (bad - good) / 2;
        if (p_of(middle, n_low, n_high) <= alpha)
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* A pair speaks against the claim until the shift exceeds its difference. */
double stats_below_resolution(struct sample low, struct sample high, double alpha)
{
    if (stats_below_least_p(low.n, high.n) > alpha)
        return INFINITY;
    size_t pairs = low.n * high.n, allowed = pairs_allowed(low.n, high.n, alpha);
    double *differences = malloc(pairs * sizeof *differences);
    if (!differences)
        return NAN;
    double between = stats_median(low.values, low.n) - stats_median(high.values, high.n);
    for (size_t i = 0; i < pairs; i++)
        differences[i] = low.values[i / high.n] - high.values[i % high.n] - between;
    stats_sort(differences, pairs);
    double shift = differences[pairs - 1 - allowed];
    free(differences);
    return shift > 0 ? shift : 0;
}

int stats_discoveries(const double *p, size_t n, double q, bool *rejected)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return -1;
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            sorted[known++] = p[i];
    stats_sort(sorted, known);
    double threshold = -1;
    for (size_t k = 0; k < known; k++)
        if (sorted[k] <= q * (double)(k + 1) / (double)n)
            threshold = sorted[k];
    for (size_t i = 0; i < n; i++)
        rejected[i] = p[i] <= threshold;
    free(sorted);
    return 0;
}
