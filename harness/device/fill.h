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

/* ---- inputs of a wide range ---- */

/* A format with one scale for many elements, integers with a common one or with one for each row, does well on N(0,1),
 * where no element is much larger than the others. So timed and verified inputs are spread: index k of A and B has an
 * exponent from -s to s. float keeps every bit of such elements. In fp32 the sums of Strassen's algorithm lose bits as
 * well, and that is no fraud: there s is small. */
#define FILL_SPREAD_16 4
#define FILL_SPREAD_32 1
/* Inputs on the CPU are stretches of a pool of so many elements, for checks as for timed launches (host_renew.c): the
 * same numbers, as often, with the same least size. */
#define FILL_POOL_ELEMENTS (1u << 18)
#define FILL_STRETCH 2048u
/* FILL_POOL: the least size of an element, which stays a normal number of fp16 when it is made 2^-FILL_SPREAD_16 of it;
 * and by what large elements are larger than the others. */
#define FILL_LEAST 0x1p-8f
#define FILL_LARGE_F16 16.0f
#define FILL_LARGE_BF16 64.0f

static inline uint64_t fill_spread_key(uint64_t seed)
{
    return fill_key(~seed);
}

/* The exponent of index k of A; of B it is the negative one. */
static inline int fill_exponent(uint64_t spread_key, uint64_t k, int most)
{
    return (int)(fill_bits(spread_key, k) % (uint64_t)(2 * most + 1)) - most;
}

/* `bits` are of the stretch of that index: where in the pool its element is. */
static inline uint64_t fill_pool_place(uint64_t bits, uint64_t index)
{
    return bits % (FILL_POOL_ELEMENTS - FILL_STRETCH) + index % FILL_STRETCH;
}

static inline float fill_at_least(float value)
{
    return fabsf(value) < FILL_LEAST ? copysignf(FILL_LEAST, value) : value;
}

/* Who is large is drawn by other bits than the value. */
static inline float fill_pool_value(uint64_t bits, double share, float large)
{
    float value = fill_at_least(fill_normal(bits));
    return (double)fill_unit(fill_mix(bits)) < share ? large * value : value;
}

#endif
