/*
 * host_process.h - what the kernel and libc keep for the whole process and one contender could leave changed for its
 * rivals: signal handlers and masks, limits, descriptors, the variables that steer other libraries, how malloc gives
 * memory. Part of host_state.h, which is what others call.
 */
#ifndef CUDAL2_DEVICE_HOST_PROCESS_H
#define CUDAL2_DEVICE_HOST_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* What a launch is refused with. */
#define HOST_SIGNALS_UNBLOCKED "tamper_suspected: a launch changed which signals its thread takes"

#define HOST_SIGNALS 32 /* handlers of 1 to 31 are compared; of the rest nobody takes one */
#define HOST_LIMITS 7
#define HOST_STREAMS 3

struct host_process {
    sigset_t blocked; /* for the calling thread */
    struct sigaction handlers[HOST_SIGNALS];
    struct rlimit limits[HOST_LIMITS];
    int flags[HOST_STREAMS]; /* of descriptors 0 to 2, which the supervisor has too; -1: closed */
    int first_free;          /* lowest descriptor that is free */
    uint32_t steering;       /* digest of the variables that steer libraries */
    bool maps;               /* malloc takes blocks of some 100 KiB from the kernel, each by itself */
    bool fills;              /* and writes to each that it gives */
};

/* The calling thread takes no signal from now on but libc's own two (worker/confine_named.c), so that no contender's
 * handler runs on it; a fault still ends the process. Threads that it starts inherit this. */
void host_process_block_signals(void);

void host_process_read(struct host_process *out);
/* The part of it that can be put back, for it is read around every setup. */
void host_process_read_kept(struct host_process *out);

/* What is different of all that host_process_restore puts back, one line in what (128 bytes), which is left alone when
 * nothing is. */
void host_process_changes(const struct host_process *was, const struct host_process *now, char what[128]);
void host_process_restore(struct host_process *was);
/* Behind each launch that is timed, as soon as the clock was read: the calling thread blocks what it did. False when it
 * did not, which a handler that is to run later needs. A tenth of a microsecond. */
bool host_process_reblock(const struct host_process *was);

/* What cannot be put back. More than HOST_MANY_DESCRIPTORS are taken that were not: libraries keep some. */
#define HOST_MANY_DESCRIPTORS 1024
bool host_process_hoards(const struct host_process *was);
/* A variable that steers other libraries is another. */
bool host_process_steered(const struct host_process *was);
/* malloc is slower for everybody than it was (mallopt: M_MMAP_THRESHOLD, M_PERTURB): OpenBLAS asks it for memory in
 * each product. Some microseconds. */
bool host_process_slows_malloc(const struct host_process *was);

#endif
