/*
 * stamp.c - a start stamp behind a mask, and one to be looked at. Relies on base/clock.h. Called by the devices around
 * launches that are timed by the host's clock.
 */
#include "base/stamp.h"

#include "base/clock.h"
#include "base/random.h"

void stamp_take(struct stamp *stamp)
{
    uint64_t mask = random_entropy();
    stamp->mask = mask;
    uint64_t now = clock_now_ns();
    stamp->shown = now;
    stamp->masked = now ^ mask;
}

bool stamp_until(const volatile struct stamp *stamp, uint64_t end_ns, double *ns)
{
    uint64_t start = stamp->masked ^ stamp->mask;
    *ns = (double)(end_ns - start);
    return stamp->shown == start;
}
