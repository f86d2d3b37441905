/*
 * pool.h - jobs in child processes, so that one that crashes or never ends loses nothing but itself: what compiling
 * hundreds of kernels needs of a compiler that may do either.
 *
 * The children are forks of the caller, which must have one thread and no device open.
 */
#ifndef CUDAL2_TUNE_POOL_H
#define CUDAL2_TUNE_POOL_H

#include "abi/contender.h"
#include "base/error.h"

#include <stdbool.h>

#define POOL_MAX_WORKERS 64u

struct pool_verdict {
    bool done; /* false: not begun, because the caller was stopped */
    bool good;
    char why[CUDAL2_WHY]; /* when not good */
};

struct pool_request {
    size_t n_jobs;
    unsigned workers;
    double seconds; /* of one job; then its process is killed and the job has failed */
    /* Runs in a child: true, or false with a line in why[CUDAL2_WHY]. Whatever else it leaves must be on disk. */
    bool (*work)(void *context, size_t job, char *why);
    void *context;
    const volatile int *stop; /* non-zero: begin nothing more, kill what runs. May be NULL */
};

/* Fills verdicts[n_jobs]. EXIT_CODE_UNAVAILABLE when no child can be started at all. */
int pool_run(const struct pool_request *request, struct pool_verdict *verdicts, struct error *err);

#endif
