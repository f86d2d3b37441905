/*
 * devices.h - the devices of a run, one worker each, and the lock that keeps two runs off one GPU. Who they are is
 * resolved before the run (cli/devices.h); nothing here asks a driver.
 */
#ifndef CUDAL2_RUN_DEVICES_H
#define CUDAL2_RUN_DEVICES_H

#include "base/error.h"

#include <stdbool.h>

#define DEVICES_MAX 64
#define DEVICES_LOCK_MAX 48
#define DEVICES_BUS_MAX 24
#define DEVICES_HOLDER_MAX 128

struct devices {
    int count;
    bool on_cuda;
    char spec[DEVICES_MAX][16];               /* "cpu" or "cuda:N", one for each worker */
    char lock[DEVICES_MAX][DEVICES_LOCK_MAX]; /* names the GPU's lock: its UUID; "" takes none (CPU) */
    char bus[DEVICES_MAX][DEVICES_BUS_MAX];   /* where the GPU is plugged in, "0000:3b:00.0"; "" where not known */
};

/* One of them, for a run on that alone. */
void devices_pick(const struct devices *from, int which, struct devices *out);

/* The devices by their locks' names: two runs that take the same GPUs' locks each in an order of its own would wait for
 * each other. */
void devices_lock_order(const struct devices *devices, int order[DEVICES_MAX]);

/* Takes an exclusive lock of this name in the cache directory, waiting up to `seconds`; EXIT_CODE_TEMPORARY with who
 * holds it when another run keeps it, EXIT_CODE_IO where the file system has no locks or they keep nobody out. *stop
 * non-zero ends the wait too (NULL: nothing does). *fd is the caller's to close; -1 after an error. */
int devices_lock(const char *name, double seconds, const volatile int *stop, int *fd, struct error *err);

/* Who has taken the lock, in words ("process 4711 on node7"); "another run" where that is not known. */
void devices_holder(const char *name, char out[DEVICES_HOLDER_MAX]);

#endif
