/*
 * estimates.c - whether a pair's mean of ratios lies outside its own interval. Pure. Called by the screen's rows and
 * counts and by the page.
 */
#include "report/estimates.h"

#include <math.h>

bool estimates_are_apart(double mean, double low, double high)
{
    return mean < low || mean > high;
}

double estimates_distance(const struct result_pair *speedup)
{
    const struct result_interval *ci = speedup ? &speedup->ci95 : NULL;
    if (!ci || isnan(ci->low) || isnan(speedup->mean_of_ratios))
        return 0;
    double outside = fmax(ci->low - speedup->mean_of_ratios, speedup->mean_of_ratios - ci->high);
    return outside > 0 ? outside / fmax((ci->high - ci->low) / 2, 1e-9) : 0;
}

bool estimates_differ(const struct result_pair *speedup)
{
    return estimates_distance(speedup) > 0;
}
