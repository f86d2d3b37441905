/*
 * memory.h - what a run took of the host's memory.
 */
#ifndef CUDAL2_RUN_MEMORY_H
#define CUDAL2_RUN_MEMORY_H

#include "run/ledger.h"

/* Peaks of this process, and of the largest worker that has ended; worker_ready is told by the caller. */
struct memory_use memory_used(uint64_t worker_ready);

#endif
