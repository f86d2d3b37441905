/*
 * host_memory.h - how much memory of this machine a process may still take: the least of what the kernel calls
 * available and what its control groups (v1 and v2, every level) leave. The CPU device asks before a cell, the
 * supervisor while workers run and when one was killed.
 */
#ifndef CUDAL2_BASE_HOST_MEMORY_H
#define CUDAL2_BASE_HOST_MEMORY_H

#include <stdint.h>

struct host_memory {
    uint64_t available; /* bytes that can be had without swapping or being killed; 0: nobody says */
    uint64_t total;     /* bytes of the machine, or of the tightest group; 0: nobody says */
    uint64_t oom_kills; /* processes that the kernel killed for memory in this group, or on the machine, so far */
};

/* Reads /proc and /sys below `root` ("" for this machine; tests have others). Page cache that a group can give back
 * counts as available. */
void host_memory_read(const char *root, struct host_memory *out);

#endif
