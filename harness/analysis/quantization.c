/*
 * quantization.c - finds how coarse the clock is in a pair's times and the half step below which no difference is
 * known. Pure. Called by pair.c and measure/stop.c.
 */
#include "analysis/quantization.h"

#include <math.h>
#include <stdbool.h>

#define FEW 2u

/* How many different values there are, FEW + 1 for more than FEW. */
static unsigned count_values(const double *values, size_t n)
{
    double seen[FEW];
    unsigned count = 0;
    for (size_t i = 0; i < n && count <= FEW; i++) {
        unsigned k = 0;
        while (k < count && (seen[k] < values[i] || seen[k] > values[i]))
            k++;
        if (k == count && count++ < FEW)
            seen[k] = values[i];
    }
    return count;
}

/* The least distance of two values that differ; INFINITY when all are the same. */
static double least_distance(const double *values, size_t n)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double distance = fabs(values[i] - values[j]);
            if (distance > 0 && distance < least)
                least = distance;
        }
    return least;
}

/* Where no time comes twice there is nothing to tell steps by: two blocks have two times on any clock. */
static bool is_on_steps(unsigned values, size_t n)
{
    return values <= FEW && values < n;
}

double pair_quantization(const struct pair *p)
{
    const double *const sides[] = {p->reference_ns, p->candidate_ns};
    double coarse = 0;
    for (int i = 0; i < 2 && p->n > 0; i++) {
        unsigned values = count_values(sides[i], p->n);
        if (is_on_steps(values, p->n))
            coarse += least_distance(sides[values == 1 ? 1 - i : i], p->n) / 2 / stats_median(sides[i], p->n);
    }
    return coarse;
}
