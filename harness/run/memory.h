/*
 * memory.h - what a run took of the host's memory.
 */
#ifndef CUDAL2_RUN_MEMORY_H
#define CUDAL2_RUN_MEMORY_H

#include "run/ledger.h"
#include "run/slot.h"

/* Peaks of this process, and of the largest worker that has ended, or is about to with `leaving` bytes; worker_ready is
 * told by the caller. */
struct memory_use memory_used(uint64_t worker_ready, uint64_t leaving);

/* How many processes the kernel has killed for memory so far, in this control group or on the machine. */
uint64_t memory_oom_kills(void);

/* Whether a slot's worker holds most of this machine's memory, which is told once: by the line in told[128]. */
bool memory_is_short(struct slot *slot, char told[128]);

#endif
