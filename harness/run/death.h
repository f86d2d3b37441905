/*
 * death.h - what the end of a worker says of the contender in whose hands it ended. Only what the contender's own code
 * must have done convicts it: a signal that comes from outside as well, as the kernel's SIGKILL does when memory runs
 * out, says nothing of it. slot.c asks.
 */
#ifndef CUDAL2_RUN_DEATH_H
#define CUDAL2_RUN_DEATH_H

#include "model/verdict.h"
#include "run/process.h"

#define DEATH_REASON_MAX 256

/* How a worker ended, and what is known of it. */
struct death {
    const struct process_end *end;
    const char *stage;
    bool memory_ran_out; /* the kernel has killed processes for memory since the worker was started */
};

/* The verdict, with its reason. */
enum verdict death_verdict(const struct death *death, char reason[DEATH_REASON_MAX]);

/* The verdict on whoever lost the device in this stage, `text` being what the worker said of it. */
enum verdict death_of_device(const char *stage, const char *text);

#endif
