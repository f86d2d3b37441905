/*
 * student.c - Student's t quantile through the regularised incomplete beta function: exact for fractional degrees of
 * freedom too, where tables and short expansions are not. Pure. Called by interval.c, and where an interval is made of
 * few values: result/gpus.c, measure/paper.c.
 */
#include "stats/interval.h"

#include <math.h>

#define BETA_TERMS 300
#define BETA_TINY 1e-300

static double away_from_zero(double x)
{
    return fabs(x) < BETA_TINY ? BETA_TINY : x;
}

/* Numerator of step i (1, 2, ...) of the continued fraction of I_x(a, b) (Abramowitz and Stegun 26.5.8). */
static double beta_numerator(double a, double b, double x, int i)
{
    double m = i / 2;
    if (i % 2 == 0)
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
}

/* Lentz's way of evaluating the fraction; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double value = 1;
    double c = 1;
    double d = 0;
    for (int i = 1; i <= BETA_TERMS; i++) {
        double numerator = beta_numerator(a, b, x, i);
        d = 1 / away_from_zero(1 + numerator * d);
        c = away_from_zero(1 + numerator / c);
        value *= c * d;
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return 1 / value;
}

static double incomplete_beta(double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front / a * beta_fraction(a, b, x);
    return 1 - front / b * beta_fraction(b, a, 1 - x);
}

/* P(|T| > t). */
static double two_sided_tail(double t, double dof)
{
    return incomplete_beta(dof / 2, 0.5, dof / (dof + t * t));
}

/* Between bounds that hold it. */
static double quantile(double tail, double dof, double low, double high)
{
    for (int i = 0; i < 60 && high - low > 1e-12; i++) {
        double middle = (low + high) / 2;
        if (two_sided_tail(middle, dof) > tail)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* The latest answer is kept: a cell asks for some forty intervals of as many blocks at each look, and finding it took
 * half of the look. */
double stats_t95(double dof)
{
    static _Thread_local struct {
        double dof, t;
    } latest = {0, 0};
    if (!(dof >= 1))
        return NAN;
    if (dof > 1e7) /* the normal limit: the difference is below 1e-7 */
        return 1.959963984540054;
    if (latest.dof != dof) {
        latest.t = quantile(0.05, dof, 1.9, 13);
        latest.dof = dof;
    }
    return latest.t;
}

double stats_t(double tail, double dof)
{
    if (!(dof >= 1) || !(tail > 0 && tail < 1))
        return NAN;
    return quantile(tail, fmin(dof, 1e7), 0, 2 / tail); /* of one degree of freedom it is 2 / (pi tail) at most */
}
