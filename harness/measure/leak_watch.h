/*
 * leak_watch.h - memory that a contender does not give back: what its setup took and its teardown did not release,
 * cycle after cycle. Libraries take pools when they are first used, and memory of a process moves between owners, so
 * the first cycle is forgiven, and a leak is only what the contender and the process have both gained in two cycles
 * running.
 */
#ifndef CUDAL2_MEASURE_LEAK_WATCH_H
#define CUDAL2_MEASURE_LEAK_WATCH_H

#include "device/probe.h"

#define LEAK_WATCH_CYCLES 4u        /* begun under watch; of the last one nothing but what its setup finds */
#define LEAK_WATCH_LEAST (1u << 20) /* bytes that count */

/* What the process holds, asked once where several contenders are set up or torn down in a row: what one leaves is what
 * the next one finds. To ask a GPU takes tens of microseconds, and milliseconds where other processes ask it too. */
struct leak_meter {
    bool in_row, known; /* known: nobody's code has run since it was asked */
    uint64_t bytes;
};

struct leak_watch {
    uint64_t before;       /* held by the process when the present setup began */
    int64_t own;           /* the contender's part since then */
    bool open;             /* between setup and teardown */
    bool grew;             /* the last cycle ended with more */
    bool cleared;          /* nothing is asked any more */
    unsigned cycles, runs; /* watched so far; running cycles that grew */
};

/* From here to the end of the row nothing takes or gives back memory but setups (or teardowns) under watch. */
void leak_meter_begin_row(struct leak_meter *meter);
void leak_meter_end_row(struct leak_meter *meter);

/* Called before (entering) and after a setup, then before and after the teardown. A teardown without such a setup is
 * not watched. Only what a verdict needs is asked for. */
void leak_watch_setup(struct leak_watch *h, struct leak_meter *meter, struct device *d, bool entering);
void leak_watch_teardown(struct leak_watch *h, struct leak_meter *meter, struct device *d, bool entering);

/* Asked before a setup: two cycles running have left more than they found. */
bool leak_watch_leaks(const struct leak_watch *h);

#endif
