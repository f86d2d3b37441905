/*
 * probe.cu - what the honesty checks look at and change on the device (harness/device/probe.h), but for products
 * (product.cu). -D DTYPE. A loop whose step is not known to the compiler has one load under way, whatever it unrolls:
 * so those over whole matrices load several at a time.
 */
#include "harness/clock.cuh"
#include "harness/element.cuh"
#include "harness/random.cuh"
#include "harness/sums.cuh"

#if DTYPE == 2
typedef u32 bits_t;
#define INFINITY_BITS 0x7f800000u
#define SIGN_BIT 0x80000000u
#else
typedef u16 bits_t;
#define INFINITY_BITS (DTYPE == 0 ? 0x7c00u : 0x7f80u)
#define SIGN_BIT 0x8000u
#endif

#define AT_ONCE 4u /* loads of 16 bytes */

/* And which blocks share it; struct placed of harness/device/cuda_probe.c has the same layout. */
struct region {
    u8 *memory;
    u64 bytes;
    u32 first, parts;
};

/* The one that this block has a part of. */
static __device__ __forceinline__ u32 region_of_block(const region *regions, u32 n)
{
    u32 from = 0, to = n;
    while (to - from > 1) {
        u32 middle = (from + to) / 2;
        if (regions[middle].first <= blockIdx.x)
            from = middle;
        else
            to = middle;
    }
    return from;
}

static __device__ u64 unaligned_word(const u8 *from)
{
    u64 word = 0;
    for (u32 b = 0; b < 8; b++)
        word |= (u64)from[b] << (8 * b);
    return word;
}

static __device__ __forceinline__ u64 digest_of_word(u64 word, u64 i)
{
    return mix(word + (i + 1) * GOLDEN);
}

static __device__ __forceinline__ u64 digest_of_pair(ulonglong2 pair, u64 i)
{
    return digest_of_word(pair.x, 2 * i) + digest_of_word(pair.y, 2 * i + 1);
}

/* Of every `step`-th pair of words from `first` on. */
static __device__ __forceinline__ u64 digest_of_pairs(const ulonglong2 *pairs, u64 n, u64 first, u64 step)
{
    u64 sum = 0, i = first;
    for (u64 passed = 0; passed + AT_ONCE * step <= n; passed += AT_ONCE * step, i += AT_ONCE * step) {
        ulonglong2 some[AT_ONCE];
#pragma unroll
        for (u32 e = 0; e < AT_ONCE; e++)
            some[e] = pairs[i + e * step];
        all_loaded();
#pragma unroll
        for (u32 e = 0; e < AT_ONCE; e++)
            sum += digest_of_pair(some[e], i + e * step);
    }
    for (; i < n; i += step)
        sum += digest_of_pair(pairs[i], i);
    return sum;
}

static __device__ u64 digest_of_words(const region &r, u64 first, u64 step)
{
    u64 words = r.bytes / 8, sum = 0;
    if (((u64)r.memory & 15) == 0) {
        sum = digest_of_pairs((const ulonglong2 *)r.memory, words / 2, first, step);
        if (first == 0 && words % 2 != 0)
            sum += digest_of_word(((const u64 *)r.memory)[words - 1], words - 1);
        return sum;
    }
    for (u64 i = first; i < words; i += step)
        sum += digest_of_word(unaligned_word(r.memory + i * 8), i);
    return sum;
}

/* out[] was cleared. */
extern "C" __global__ void __launch_bounds__(THREADS) digest(const region *regions, u32 n, u64 *out)
{
    u32 which = region_of_block(regions, n);
    const region r = regions[which];
    u32 part = blockIdx.x - r.first;
    u64 sum = part == 0 && threadIdx.x == 0 ? r.bytes : 0;
    sum += digest_of_words(r, (u64)part * THREADS + threadIdx.x, (u64)r.parts * THREADS);
    u64 tail = r.bytes / 8 * 8 + threadIdx.x;
    if (part == 0 && tail < r.bytes)
        sum += mix(r.memory[tail] + (tail + 1) * GOLDEN);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out + which, sum);
}

extern "C" __global__ void __launch_bounds__(THREADS) pattern(const region *regions, u32 n, u32 byte)
{
    const region r = regions[region_of_block(regions, n)];
    u64 first = (u64)(blockIdx.x - r.first) * THREADS + threadIdx.x, step = (u64)r.parts * THREADS;
    u64 pieces = ((u64)r.memory & 15) == 0 ? r.bytes / 16 : 0;
    u32 word = byte * 0x01010101u;
    for (u64 i = first; i < pieces; i += step)
        ((uint4 *)r.memory)[i] = make_uint4(word, word, word, word);
    for (u64 i = pieces * 16 + first; i < r.bytes; i += step)
        r.memory[i] = (u8)byte;
}

static __device__ bits_t to_bits(float value)
{
#if DTYPE == 0
    return float_to_f16(value);
#elif DTYPE == 1
    return float_to_bf16(value);
#else
    return __float_as_uint(value);
#endif
}

static __device__ float float_of(bits_t bits)
{
    return to_float(*(element_t *)&bits);
}

#include "harness/spoil.cuh"

/* One element of each stretch becomes a NaN. */
extern "C" __global__ void __launch_bounds__(THREADS) sprinkle(bits_t *c, u64 elements, u64 key)
{
    u64 first = ((u64)blockIdx.x * THREADS + threadIdx.x) * STRETCH;
    if (first < elements)
        c[place_in(key, first, elements)] = (bits_t)~0u;
}

/* struct veil of harness/device/cuda_probe.c has the same layout. */
struct veiled {
    bits_t *matrix[3]; /* A, B, C */
    u64 elements[3];
    bits_t *aside; /* of A, then of B */
    u64 key, late_ns;
};

static __device__ u64 stretches(u64 elements)
{
    return (elements + STRETCH - 1) / STRETCH;
}

/* One element of each stretch of A and B is set aside and becomes a NaN. */
extern "C" __global__ void __launch_bounds__(THREADS) veil(veiled v)
{
    u64 of_a = stretches(v.elements[0]), all = of_a + stretches(v.elements[1]), step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < all; i += step) {
        const int which = i >= of_a;
        bits_t *at = v.matrix[which] + place_in(v.key, (which ? i - of_a : i) * STRETCH, v.elements[which]);
        v.aside[i] = *at;
        *at = (bits_t)~0u;
    }
}

/* Lets what is launched behind it begin at once, if it was launched so; late, the elements come back and C is
 * sprinkled. By so few blocks that a CTA that fills a multiprocessor finds most of them empty. */
extern "C" __global__ void __launch_bounds__(THREADS) unveil(veiled v)
{
    u64 of_a = stretches(v.elements[0]), of_b = stretches(v.elements[1]), step = (u64)gridDim.x * THREADS;
    u64 all = of_a + of_b + stretches(v.elements[2]);
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    for (u64 start = global_ns(); global_ns() - start < v.late_ns;)
        ;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < all; i += step) {
        const int which = i < of_a ? 0 : i < of_a + of_b ? 1 : 2;
        const u64 first = (i - (which > 0 ? of_a : 0) - (which > 1 ? of_b : 0)) * STRETCH;
        v.matrix[which][place_in(v.key, first, v.elements[which])] = which < 2 ? v.aside[i] : (bits_t)~0u;
    }
}

static __device__ __forceinline__ u32 is_nan(bits_t bits)
{
    return (bits & ~SIGN_BIT) > INFINITY_BITS;
}

static __device__ __forceinline__ u32 nans_of(uint4 all)
{
    const bits_t *one = (const bits_t *)&all;
    u32 found = 0;
#pragma unroll
    for (u32 i = 0; i < PIECE; i++)
        found += is_nan(one[i]);
    return found;
}

extern "C" __global__ void __launch_bounds__(THREADS) count_nan(const bits_t *c, u64 elements, u64 *counter)
{
    u64 found = 0, step = (u64)gridDim.x * THREADS, first = (u64)blockIdx.x * THREADS + threadIdx.x;
    u64 pieces = ((u64)c & 15) == 0 ? elements / PIECE : 0, i = first;
    for (u64 passed = 0; passed + AT_ONCE * step <= pieces; passed += AT_ONCE * step, i += AT_ONCE * step) {
        uint4 some[AT_ONCE];
#pragma unroll
        for (u32 e = 0; e < AT_ONCE; e++)
            some[e] = ((const uint4 *)c)[i + e * step];
        all_loaded();
#pragma unroll
        for (u32 e = 0; e < AT_ONCE; e++)
            found += nans_of(some[e]);
    }
    for (; i < pieces; i += step)
        found += nans_of(((const uint4 *)c)[i]);
    for (i = pieces * PIECE + first; i < elements; i += step)
        found += is_nan(c[i]);
    found = block_sum(found);
    if (threadIdx.x == 0 && found > 0)
        atomicAdd(counter, found);
}

struct operand_set {
    bits_t *a, *b, *c;
};

/* struct disturbed of harness/device/cuda_disturb.c has the same layout. */
struct disturbed {
    const operand_set *sets;
    u64 m, n, k, key, stretch; /* one element of each is spoiled; 0: all of C is written */
    float size;                /* of an element of C */
    int tn, spoil;
};

/* In every row of A and column of B of set blockIdx.y one element becomes another N(0,1) value; C is spoiled. */
extern "C" __global__ void __launch_bounds__(THREADS) disturb(disturbed d)
{
    operand_set s = d.sets[blockIdx.y];
    u64 key = mix(d.key + blockIdx.y), step = (u64)gridDim.x * THREADS, first = (u64)blockIdx.x * THREADS + threadIdx.x;
    for (u64 i = first; i < d.m; i += step)
        s.a[i * d.k + random_bits(key, 4 * i) % d.k] = to_bits(normal_of(random_bits(key, 4 * i + 1)));
    for (u64 j = first; j < d.n; j += step) {
        u64 at = random_bits(key, 4 * j + 2) % d.k;
        s.b[d.tn ? j * d.k + at : at * d.n + j] = to_bits(normal_of(random_bits(key, 4 * j + 3)));
    }
    struct spoil spoil = spoil_of(d.m * d.n, mix(key), d.size, d.spoil);
    if (d.stretch == 0)
        spoil_share(&spoil, s.c, s.c, first, step);
    else
        spoil_few(&spoil, s.c, d.stretch, first, step);
}

/* struct upset of harness/device/cuda_disturb.c has the same layout. */
struct upset_set {
    bits_t *a, *b, *c, *put;
    u64 m, n, k, key, lines;
    u64 *kept;
    float size;
    int tn, spoil;
};

/* harness/device/host_upset.c does the same on the host. */
static __device__ float unlike(float was, float value, float size)
{
    float least = 0.0625f * size;
    return fabsf(value - was) < least ? was + (value < was ? -least : least) : value;
}

static __device__ bits_t upset_value(const upset_set &u, u64 at, u64 bits)
{
    float was = float_of(u.c[at]), nudge = 0.03f * fabsf(was) + 0.01f * u.size;
    if (u.spoil == SPOIL_SOME_NAN)
        return (bits_t)~0u;
    if (u.spoil == SPOIL_NUDGED)
        return to_bits(was + (bits >> 63 ? nudge : -nudge));
    if (u.spoil == SPOIL_MOVED)
        return to_bits(unlike(was, float_of(u.c[bits % (u.m * u.n)]), u.size));
    return to_bits(unlike(was, normal_of(bits) * u.size, u.size));
}

/* Some inputs become others, one element of each stretch of C another one: what lies between two launches. */
extern "C" __global__ void __launch_bounds__(THREADS) upset(upset_set u)
{
    u64 step = (u64)gridDim.x * THREADS, first = (u64)blockIdx.x * THREADS + threadIdx.x, of_c = mix(u.key);
    u64 elements = u.m * u.n, items = u.spoil == SPOIL_NONE ? 0 : (elements + STRETCH - 1) / STRETCH;
    if (u.lines > 0) {
        u64 row = random_bits(u.key, ~0ull) % u.lines, column = random_bits(u.key, ~1ull) % u.lines;
        for (u64 i = row + first * u.lines; i < u.m; i += step * u.lines)
            u.a[i * u.k + random_bits(u.key, 4 * i) % u.k] = to_bits(normal_of(random_bits(u.key, 4 * i + 1)));
        for (u64 j = column + first * u.lines; j < u.n; j += step * u.lines) {
            u64 at = random_bits(u.key, 4 * j + 2) % u.k;
            u.b[u.tn ? j * u.k + at : at * u.n + j] = to_bits(normal_of(random_bits(u.key, 4 * j + 3)));
        }
    }
    for (u64 i = first; i < items; i += step) {
        u64 at = place_in(of_c, i * STRETCH, elements);
        bits_t value = upset_value(u, at, random_bits(of_c, ~(i * STRETCH)));
        u.c[at] = value;
        u.put[i] = value;
    }
}

/* How many of those are there still. */
extern "C" __global__ void __launch_bounds__(THREADS) count_kept(upset_set u)
{
    u64 elements = u.m * u.n, items = (elements + STRETCH - 1) / STRETCH, of_c = mix(u.key), found = 0;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < items; i += (u64)gridDim.x * THREADS)
        found += u.c[place_in(of_c, i * STRETCH, elements)] == u.put[i];
    found = block_sum(found);
    if (threadIdx.x == 0 && found > 0)
        atomicAdd(u.kept, found);
}
