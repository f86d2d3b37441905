/*
 * memory.c - peak memory of supervisor and workers, OOM kills that the kernel counted, and whether little is left.
 * Relies on base/host_memory.h. Called by crew.c while it waits, and slot.c.
 */
#include "run/memory.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/host_memory.h"

#define MOST_OF_IT 0.75

struct memory_use memory_used(uint64_t worker_ready, uint64_t leaving)
{
    struct memory_use memory = {.worker_ready = worker_ready, .worker_peak = leaving};
    struct rusage self, children;
    if (getrusage(RUSAGE_SELF, &self) == 0)
        memory.supervisor_peak = (uint64_t)self.ru_maxrss * 1024;
    if (getrusage(RUSAGE_CHILDREN, &children) == 0 && (uint64_t)children.ru_maxrss * 1024 > leaving)
        memory.worker_peak = (uint64_t)children.ru_maxrss * 1024;
    return memory;
}

uint64_t memory_oom_kills(void)
{
    struct host_memory memory;
    host_memory_read("", &memory);
    return memory.oom_kills;
}

bool memory_is_short(struct slot *slot, char told[128])
{
    struct host_memory memory;
    host_memory_read("", &memory);
    double total = (double)memory.total;
    double resident = slot->process.pid > 0 ? (double)process_resident_bytes(&slot->process) : 0;
    if (slot->warned_memory || total <= 0 || resident < MOST_OF_IT * total)
        return false;
    slot->warned_memory = true;
    snprintf(told, 128, "%s: the worker holds %.1f GiB, most of the memory that it may have", slot->device,
             resident / 0x1p30);
    return true;
}
