/*
 * sums.cuh - sums over a warp and over a block of THREADS threads, for those of the harness's own kernels that read
 * whole matrices (probe.cu, product.cu).
 */
#ifndef CUDAL2_HARNESS_SUMS_CUH
#define CUDAL2_HARNESS_SUMS_CUH

#define THREADS 256

/* Between loads and their use, by all of a warp: else the compiler waits for the first before the last is under way.
 * With one load at a time a kernel waits for memory most of the time. */
static __device__ __forceinline__ void all_loaded(void)
{
    __syncwarp();
}

template <class T> static __device__ __forceinline__ T warp_sum(T value)
{
#pragma unroll
    for (u32 apart = 16; apart > 0; apart /= 2)
        value += __shfl_xor_sync(~0u, value, apart);
    return value;
}

template <class T> static __device__ __forceinline__ T block_sum(T value)
{
    __shared__ T sums[THREADS / 32];
    T whole = 0;
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < THREADS / 32; i++)
        whole += sums[i];
    __syncthreads();
    return whole;
}

#endif
