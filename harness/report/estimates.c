/*
 * estimates.c - whether a pair's mean of ratios lies outside its own interval. Pure. Called by the screen's rows and
 * counts and by the page.
 */
#include "report/estimates.h"

#include <math.h>

#include "base/tree.h"

bool estimates_are_apart(double mean, double low, double high)
{
    return mean < low || mean > high;
}

double estimates_distance(const cJSON *speedup)
{
    const cJSON *ci = tree_member(speedup, "ci95");
    double mean = tree_number(speedup, "mean_of_ratios");
    if (cJSON_GetArraySize(ci) != 2 || isnan(mean))
        return 0;
    double low = ci->child->valuedouble, high = ci->child->next->valuedouble;
    double outside = fmax(low - mean, mean - high);
    return outside > 0 ? outside / fmax((high - low) / 2, 1e-9) : 0;
}

bool estimates_differ(const cJSON *speedup)
{
    return estimates_distance(speedup) > 0;
}
