/*
 * devices.h - from --device to the devices of a run, and the lock that keeps two runs off one GPU. No CUDA context is
 * made.
 */
#ifndef CUDAL2_RUN_DEVICES_H
#define CUDAL2_RUN_DEVICES_H

#include "base/error.h"

#include <stdbool.h>

#define DEVICES_MAX 64

struct devices {
    bool on_cuda;
    int count;
    char spec[DEVICES_MAX][16]; /* "cpu" or "cuda:N", one for each worker */
    int ordinal[DEVICES_MAX];
};

/* "auto" is cuda:0 where the driver shows a GPU, else cpu; "cuda" is cuda:0; "cuda:0,1" names two. EXIT_CODE_USAGE for
 * bad syntax or a GPU named twice, EXIT_CODE_UNAVAILABLE when a GPU is asked for that is not there. gpus is what
 * device_count_gpus() returned. */
int devices_resolve(const char *text, int gpus, struct devices *out, struct error *err);

/* Takes an exclusive lock named after the GPU's UUID in the cache directory, waiting up to `seconds`;
 * EXIT_CODE_TEMPORARY when another run keeps it. *stop non-zero ends the wait too. *fd is the caller's to close. */
int devices_lock(int ordinal, double seconds, const volatile int *stop, int *fd, struct error *err);
/* The same for any name (what devices_lock uses; tests). */
int devices_lock_named(const char *name, double seconds, const volatile int *stop, int *fd, struct error *err);

#endif
