/*
 * time_single.c - one launch timed by itself, by the way that its timing is taken. Relies on model/timing.h. Called by
 * measure/segment.c, which so need not know the ways.
 */
#include "device/device.h"

int device_time_single(struct device *d, enum timing timing, const struct device_work *work, size_t set, double *ns,
                       struct error *err)
{
    switch (timing_table[timing].way) {
    case TIMING_BY_EVENTS:
        return d->ops->time_event(d, work, set, ns, err);
    case TIMING_BY_HOST:
        return d->ops->time_wall(d, work, set, ns, err);
    case TIMING_BY_SEGMENT:
        break;
    }
    return error_set(err, EXIT_CODE_INTERNAL, "timing %s is not of a single launch", timing_names[timing]);
}
