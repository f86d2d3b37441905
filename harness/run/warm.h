/*
 * warm.h - one worker process that outlives its run: kept when the run has no work for it, told to start anew by the
 * next one. It saves the start of a process, its device and its libraries. Beside one that times another one may be
 * kept that watches. Who keeps them decides whose runs may share a worker: the key says that. Called by crew.c, and by
 * serve/ which owns it; one thread at a time.
 */
#ifndef CUDAL2_RUN_WARM_H
#define CUDAL2_RUN_WARM_H

#include "base/digest.h"
#include "run/slot.h"

/* A worker does not live for ever: what its libraries leak in each run ends with it. */
#define WARM_RUNS 256

/* All zero: nobody is kept. */
struct warm {
    struct slot slot;     /* of the worker that is kept, with a lock of the GPU of its own */
    char key[DIGEST_HEX]; /* whose runs may have it */
    uint64_t kept_ns;     /* since when */
    unsigned runs;        /* that the worker has been in */
    bool held;            /* there is one */
    bool taken;           /* the present run has it from an earlier one */
    struct warm *watcher; /* of the same owner and the same key; begins and ends with this one. NULL: there is none */
};

/* A run for `key` is about to begin: ends a worker that is kept for another one, has served long enough, or has died
 * meanwhile. */
void warm_begin(struct warm *w, const char key[DIGEST_HEX]);

/* Whether anybody is kept, who times or who watches. */
bool warm_any(const struct warm *w);

/* A lock of the device that a kept worker has, to be closed by the caller; -1: there is none. */
int warm_lock(const struct warm *w);

/* Moves the kept worker into a slot without a process; false: there is none. It waits for a start message. */
bool warm_take(struct warm *w, struct slot *slot);

/* Moves an idle worker out of its slot, which is empty then; false, and nothing changed, where that is not possible. */
bool warm_keep(struct warm *w, struct slot *slot);

/* Ends who is kept. */
void warm_end(struct warm *w);

#endif
