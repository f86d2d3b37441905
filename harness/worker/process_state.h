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

/* Compares when a contender's hook in that stage is left. 0, or the code that tells what has changed
 * (worker/protocol.h). Not behind a timed launch, nor where the same contender goes on in the same stage (a race of its
 * variants), is looked at what takes some microseconds to compare: variables, malloc, threads. After "load" how
 * denormal numbers are treated, which constructors of honest libraries set (-ffast-math), is put back first, and is
 * nobody's fault. */
int process_state_leave(const struct process_state *state, const char *stage, bool goes_on);

#endif
