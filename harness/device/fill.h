/*
 * fill.h - the random function behind device_ops.fill, the same on every device: 64 bits for (seed, element index),
 * from splitmix64's finalizer over a counter. kernels/harness/random.cuh holds the same text for the GPU.
 */
#ifndef CUDAL2_DEVICE_FILL_H
#define CUDAL2_DEVICE_FILL_H

#include <math.h>
#include <stdint.h>

#define FILL_GOLDEN 0x9e3779b97f4a7c15u
/* A NaN of the dtype; never the result of arithmetic, which gives the quiet NaN 0x7fff only by chance on NaN input. */
#define FILL_POISON_16 0x7fffu
#define FILL_POISON_32 0x7fffffffu

static inline uint64_t fill_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Seeds that are near each other must not give shifted copies of one sequence, hence the mixing. */
static inline uint64_t fill_key(uint64_t seed)
{
    return fill_mix(seed ^ 0x5851f42d4c957f2du);
}

static inline uint64_t fill_bits(uint64_t key, uint64_t index)
{
    return fill_mix(key + (index + 1) * FILL_GOLDEN);
}

/* Uniform in [0, 1) with 24 bits, from the upper part; uniform in (0, 1] for a logarithm. */
static inline float fill_unit(uint64_t bits)
{
    return (float)(bits >> 40) * 0x1p-24f;
}

static inline float fill_unit_positive(uint64_t bits)
{
    return (float)((bits >> 40) + 1) * 0x1p-24f;
}

/* The other half of a Box-Muller pair, independent of the two above: the lower 24 bits. */
static inline float fill_unit_low(uint64_t bits)
{
    return (float)(bits & 0xffffffu) * 0x1p-24f;
}

/* N(0, 1), by Box and Muller. */
static inline float fill_normal(uint64_t bits)
{
    return sqrtf(-2.0f * logf(fill_unit_positive(bits))) * cosf(6.2831853f * fill_unit_low(bits));
}

#endif
