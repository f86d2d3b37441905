/*
 * lanes.h - processes that compile for a worker at its side, each one kernel at a time, off a list that they share with
 * it: what the worker waits for comes first, the rest in the list's order. A compiler that crashes or hangs costs one
 * lane and the kernel that it had, which is then compiled in its contender's setup.
 */
#ifndef CUDAL2_WORKER_LANES_H
#define CUDAL2_WORKER_LANES_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "compile/compile.h"

#define LANES_MOST 32u          /* 150 MB each */
#define LANES_JOBS_MOST 8192u   /* what is more is compiled when it is set up */
#define LANES_JOB_SECONDS 60.0  /* a compiler that takes longer is ended */
#define LANES_NONE ((size_t)-1) /* no place of the list */

struct lanes;

struct lanes_request {
    unsigned count;         /* at most LANES_MOST */
    const cpu_set_t *cores; /* of the lanes, together; NULL: the worker's */
    int nice;               /* added to theirs */
    double job_seconds;     /* LANES_JOB_SECONDS, or a test's */
    /* Both are called in the lanes. `begin` once; `compile` leaves the kernel in the cache, or returns false. */
    void (*begin)(void *context);
    bool (*compile)(void *context, const struct compile_request *request);
    void *context;
};

/* Starts them; they wait for a list. Only while the process has one thread. NULL: none could be started. */
struct lanes *lanes_open(const struct lanes_request *request);

/* Puts it at the end of the list, once: the place, also of what is there already; LANES_NONE where there is no room. */
size_t lanes_add(struct lanes *l, const struct compile_request *request);
/* Nothing is added from now on: lanes that find nothing to do end. */
void lanes_seal(struct lanes *l);
/* Where it is in the list, or LANES_NONE. */
size_t lanes_find(const struct lanes *l, const struct compile_request *request);
size_t lanes_count(const struct lanes *l);

/* Returns when these have been compiled or tried, when there is nobody to try them, or after `seconds`; how many of
 * them are compiled. They go ahead of what nobody waits for. */
size_t lanes_wait(struct lanes *l, const size_t *places, size_t n, double seconds);
/* The same for the whole list, in its order. */
size_t lanes_wait_all(struct lanes *l, double seconds);

/* Whether all of the list has been tried. */
bool lanes_are_done(const struct lanes *l);

/* Lanes end when they have done what they are at, and with the worker at the latest. NULL: nothing. */
void lanes_close(struct lanes *l);

#endif
