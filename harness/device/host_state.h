/*
 * host_state.h - state of the process that one contender could leave behind for its rivals: timers, whose signals
 * interrupt whoever is running when they expire, how the launching thread rounds and treats denormal numbers, and what
 * host_process.h has.
 */
#ifndef CUDAL2_DEVICE_HOST_STATE_H
#define CUDAL2_DEVICE_HOST_STATE_H

#include "device/host_process.h"

#include <stdbool.h>
#include <stdint.h>

#define HOST_INTERVAL_TIMERS 3

struct host_state {
    bool armed[HOST_INTERVAL_TIMERS]; /* real, virtual, profiling */
    int64_t last_timer;               /* largest id of a POSIX timer; -1 where there is none, or none can be listed */
    uint64_t arithmetic;              /* rounding, flushing of denormals; 0 where this is not known how to read */
    struct host_process process;
};

void host_state_read(struct host_state *out);

/* What is different now, one line in what (128 bytes); "" when nothing. A timer that is gone is no change. */
void host_state_changes(const struct host_state *was, char what[128]);

/* Whether the calling thread computes otherwise now: a few nanoseconds. And the way back, which stands before each
 * launch that is timed. */
bool host_state_computes_otherwise(const struct host_state *was);
void host_state_restore_arithmetic(const struct host_state *was);

/* Threads of the process now, those of libraries included; 0 where that is not known. */
unsigned host_state_threads(void);

/* Disarms and deletes the timers that were not there, and restores the rest. */
void host_state_restore(struct host_state *was);

#endif
