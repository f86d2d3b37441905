/*
 * clock.cuh - the GPU's clock, for the harness's own kernels that wait.
 */
#ifndef CUDAL2_CLOCK_CUH
#define CUDAL2_CLOCK_CUH

#include "harness/prelude.cuh"

static __device__ __forceinline__ u64 global_ns(void)
{
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

#endif
