#include "run/memory.h"

#include <sys/resource.h>

struct memory_use memory_used(uint64_t worker_ready)
{
    struct memory_use memory = {.worker_ready = worker_ready};
    struct rusage self, children;
    if (getrusage(RUSAGE_SELF, &self) == 0)
        memory.supervisor_peak = (uint64_t)self.ru_maxrss * 1024;
    if (getrusage(RUSAGE_CHILDREN, &children) == 0)
        memory.worker_peak = (uint64_t)children.ru_maxrss * 1024;
    return memory;
}
