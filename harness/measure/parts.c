/*
 * parts.c - adds the time between two marks to a part of the cell's record. Relies on the device's clock and timed.h.
 * Called by cell_loop.c and block.c.
 */
#include "measure/parts.h"

#include "measure/timed.h"

void parts_skip(struct bench *bench)
{
    bench->part_since_ns = (double)bench->device->ops->now(bench->device);
    bench->part_checks_ns = timed_spent(bench);
}

void parts_end(struct bench *bench, enum part part)
{
    double since = bench->part_since_ns, checks = bench->part_checks_ns;
    parts_skip(bench);
    double spent = bench->part_checks_ns - checks;
    bench->record->part_seconds[PART_CHECKS] += 1e-9 * spent;
    bench->record->part_seconds[part] += 1e-9 * (bench->part_since_ns - since - spent);
}
