/*
 * choice.c - the variance that choosing on one half of the values and scoring on the other adds (docs/method.md,
 * section 5). A closed formula. Called by analysis/entry.c for every `-max`.
 */
#include "stats/choice.h"

#include <math.h>

#define HALVES 2.0

static double normal_density(double z)
{
    return exp(-z * z / 2) / sqrt(2 * acos(-1));
}

double stats_choice_variance(double difference, double error)
{
    if (isnan(difference) || !(error > 0))
        return 0;
    double s = error * sqrt(HALVES);
    double z = difference / s;
    double sign = erf(z / sqrt(2));
    double size = 2 * s * normal_density(z) + difference * sign;
    return fmax(0, size * size + (1 - 2 * sign * sign) * difference * difference) / 8;
}
