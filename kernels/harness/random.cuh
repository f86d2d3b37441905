/*
 * random.cuh - bits that are a function of a key and an index alone: splitmix64's finalizer over a counter, as
 * harness/device/fill.h and harness/device/probe.h have it for the host.
 */
#ifndef CUDAL2_HARNESS_RANDOM_CUH
#define CUDAL2_HARNESS_RANDOM_CUH

#define GOLDEN 0x9e3779b97f4a7c15ull

static __device__ u64 mix(u64 z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static __device__ u64 random_bits(u64 key, u64 index)
{
    return mix(key + (index + 1) * GOLDEN);
}

#endif
