/*
 * process_state.h - what of its process a worker needs as it was, compared whenever a contender's hook is left: the
 * socket to the supervisor, with nothing in it that the worker did not write, and numbers with a '.' in them. Who is
 * named on the stage page then has changed it, and worker.c ends with the code; run/slot.c tells what it means.
 * What is compared takes under a microsecond: this stands before every timed segment.
 */
#ifndef CUDAL2_WORKER_PROCESS_STATE_H
#define CUDAL2_WORKER_PROCESS_STATE_H

#include "device/cpu_math.h"
#include "device/host_state.h"

#include <stdint.h>

struct process_state {
    int fd;                /* of the socket */
    unsigned most_threads; /* that the process may have */
    uint64_t device, inode;
    struct host_state host;
    struct cpu_filled inputs; /* what the inputs of timed launches are made of, while there are some */
};

/* Puts the calling thread's numbers in the "C" locale and notes which socket it is. */
void process_state_begin(struct process_state *out, int fd);

/* 0, or the code that tells what has changed (worker/protocol.h). */
int process_state_check(const struct process_state *state);
/* The same after code that is not timed, with what takes some microseconds to compare: variables. */
int process_state_check_all(const struct process_state *state);
/* After a plugin was loaded: constructors of honest libraries set how denormal numbers are treated (-ffast-math), which
 * is put back, and nobody's fault. */
int process_state_check_load(const struct process_state *state);

#endif
