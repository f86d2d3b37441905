/*
 * arrivals.c - draws the gap of a block, fixed, uniform or exponential, and waits it on the device's clock. Relies on
 * base/random.h. Called by segment.c, block.c, race.c, paper.c and the checks of verify/ before each launch of server
 * mode.
 */
#include "measure/arrivals.h"

#define LONGEST_GAP_MEANS 10.0

double arrivals_draw(const struct gap_config *gap, struct random *random)
{
    if (gap->kind == GAP_FIXED)
        return gap->mean_ns;
    if (gap->kind == GAP_UNIFORM)
        return gap->mean_ns * (0.5 + random_unit(random));
    double drawn = random_exponential(random, gap->mean_ns);
    double longest = LONGEST_GAP_MEANS * gap->mean_ns;
    return drawn < longest ? drawn : longest;
}

double arrivals_longest(const struct gap_config *gap)
{
    static const double means[] = {[GAP_FIXED] = 1, [GAP_UNIFORM] = 1.5, [GAP_POISSON] = LONGEST_GAP_MEANS};
    return means[gap->kind] * gap->mean_ns;
}

double arrivals_wait(struct device *device, double gap_ns)
{
    uint64_t start = device->ops->now(device);
    uint64_t end = device->ops->wait_until(device, start + (uint64_t)gap_ns);
    return (double)(end - start);
}
