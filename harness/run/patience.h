/*
 * patience.h - how long a worker that gives no sign of life is waited for. What it was given is time on a machine that
 * runs it: what the machine withheld, from all or from it alone, is not held against whoever runs there. slot.c asks.
 */
#ifndef CUDAL2_RUN_PATIENCE_H
#define CUDAL2_RUN_PATIENCE_H

#include "run/process.h"
#include "worker/stage_page.h"

/* Zeroed: a new worker, or a stage of the supervisor's own. */
struct patience {
    uint64_t count;     /* of the note that is waited for */
    uint64_t looked_ns; /* the last time */
    uint64_t grace_ns;  /* beyond its deadline */
    uint64_t from_ns;   /* waiting for processors is counted from here on; 0: not yet */
    uint64_t waited_ns; /* of the worker's threads by then */
    unsigned extended;  /* so often */
};

/* Called at each look. Whether the note's deadline has passed. Longer without a look than the supervisor's turns
 * explain, and the whole machine stood still: that time does not count. If threads of the worker waited for processors
 * in the latter half of their time, they get as much again, a few times at most. */
bool patience_ends(struct patience *p, const struct stage_note *note, const struct process *process);

#endif
