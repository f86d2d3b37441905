/*
 * alone_judge.c - the arithmetic of alone.c: a screen, and intervals of pairs at looks that are fixed beforehand.
 * Relies on stats/interval.h. Called by alone.c.
 */
#include "run/alone_judge.h"

#include <math.h>

#include "stats/interval.h"

static const size_t looked_after[] = {ALONE_LEAST, 8, 16, ALONE_ROUNDS};
#define LUCK 2.0
#define TRIMMED 8 /* from so many values on one is dropped at each end */
#define LOOKS (sizeof looked_after / sizeof looked_after[0])

static double slowest_of(const struct alone_looks *looks, size_t n)
{
    double slowest = 0;
    for (size_t i = 0; i < n; i++)
        slowest = fmax(slowest, looks->without[i]);
    return slowest;
}

bool alone_is_suspect(const struct alone_looks *looks, size_t n)
{
    double slowest = slowest_of(looks, n);
    return slowest > 0 && looks->run > slowest * (1 + ALONE_MARGIN);
}

bool alone_is_plain(const struct alone_looks *looks)
{
    double slowest = slowest_of(looks, ALONE_SCREENS), quickest = slowest;
    for (size_t i = 0; i < ALONE_SCREENS; i++)
        quickest = fmin(quickest, looks->without[i]);
    return quickest > 0 && looks->early > 0 &&
           log(looks->early / slowest) > log1p(ALONE_MARGIN) + log(slowest / quickest);
}

/* Of n values, so many are not dropped. */
static double kept_of(size_t n)
{
    return (double)(n - 2 * (n / TRIMMED));
}

/* Tukey and McLaughlin: an eighth is dropped at each end, for one worker in thirty meets something by far. The values
 * at the ends stand for those that are dropped in the deviation. */
static double trimmed(double *values, size_t n, double error, double *half)
{
    size_t g = n / TRIMMED, h = n - 2 * g;
    stats_sort(values, n);
    double mean = stats_mean(values + g, h);
    for (size_t i = 0; i < g; i++) {
        values[i] = values[g];
        values[n - 1 - i] = values[n - 1 - g];
    }
    *half = stats_t(2 * error, (double)h - 1) * stats_sd(values, n) * sqrt((double)n) / (double)h;
    return mean;
}

bool alone_interval(const struct alone_pairs *pairs, double error, struct alone_interval *out)
{
    double ratio[ALONE_ROUNDS], half;
    for (size_t i = 0; i < pairs->n; i++) {
        if (!(pairs->without[i] > 0) || !(pairs->beside[i] > 0))
            return false;
        ratio[i] = log(pairs->beside[i] / pairs->without[i]);
    }
    if (pairs->n < 2)
        return false;
    double mean = trimmed(ratio, pairs->n, error, &half);
    *out = (struct alone_interval){expm1(mean - half), expm1(mean + half)};
    return true;
}

/* Half of the pairs lie below the margin: what was suspected wrongly mostly costs one pair, or two. */
static bool is_alike(const struct alone_pairs *pairs)
{
    size_t below = 0;
    for (size_t i = 0; i < pairs->n; i++)
        below += !(pairs->beside[i] > 0 && pairs->without[i] > 0) ||
                 pairs->beside[i] < pairs->without[i] * (1 + ALONE_MARGIN);
    return 2 * below >= pairs->n;
}

static bool is_look(size_t n)
{
    for (size_t i = 0; i < LOOKS; i++)
        if (looked_after[i] == n)
            return true;
    return false;
}

/* Whether the interval will lie above the margin after all rounds, if pairs go on as they did; half again as much is
 * left to luck. */
static bool is_hopeless(size_t n, double error, const struct alone_interval *now)
{
    double middle = (log1p(now->from) + log1p(now->to)) / 2, half = (log1p(now->to) - log1p(now->from)) / 2;
    double quantile = stats_t(2 * error, kept_of(ALONE_ROUNDS) - 1) / stats_t(2 * error, kept_of(n) - 1);
    double later = half * quantile * sqrt((double)n / ALONE_ROUNDS);
    return n >= TRIMMED && middle - log1p(ALONE_MARGIN) < later / LUCK;
}

enum alone_verdict alone_judge(const struct alone_pairs *pairs, size_t asked, bool last, struct alone_interval *out)
{
    double error = ALONE_ERROR / ALONE_MEASURES / (double)LOOKS / (double)(asked > 0 ? asked : 1);
    if (is_alike(pairs))
        return ALONE_ALIKE;
    if (pairs->n < ALONE_LEAST)
        return last ? ALONE_ALIKE : ALONE_OPEN;
    if (!alone_interval(pairs, error, out))
        return ALONE_ALIKE;
    if ((last || is_look(pairs->n)) && out->from > ALONE_MARGIN)
        return ALONE_DISTURBED;
    return last || pairs->n == ALONE_ROUNDS || is_hopeless(pairs->n, error, out) ? ALONE_ALIKE : ALONE_OPEN;
}
