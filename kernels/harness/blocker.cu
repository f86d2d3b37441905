/*
 * blocker.cu - holds the stream until the host sets *flag, so that launches queue up behind it and the host's launch cost
 * stays out of the timed span. Bounded: after limit_ns it gives up and says so, for a contender that synchronises inside its
 * launch would wait for ever.
 */
#include "harness/clock.cuh"

extern "C" __global__ void blocker(volatile u32 *flag, volatile u32 *timed_out, u64 limit_ns)
{
    u64 start = global_ns();
    while (*flag == 0) {
        if (global_ns() - start > limit_ns) {
            *timed_out = 1;
            __threadfence_system();
            return;
        }
    }
}
