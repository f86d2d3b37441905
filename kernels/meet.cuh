/*
 * meet.cuh - how the CTAs that share a tile's K meet without a cluster (REDUCE 2 and 3).
 *
 * Each leaves the others' pieces in the GPU's memory and adds its own share of the fragments, successive ones here, in
 * the order of K. Every multiprocessor finds work so, and a cluster may multicast instead; but all CTAs must be running
 * at once, which the manifest sees to. Launches that run at the same time must not share a module.
 *
 * REDUCE 2: pieces lie in the workspace, and a count of the CTAs that have left theirs tells when to read them: a fence,
 * a count and a wait for it lie between.
 * REDUCE 3: they lie in memory of the module, which is zero between launches, and are sealed: no word of a sealed piece
 * is zero. So each word tells by itself whether it is there, no warp waits for more than it reads, and who has read a
 * piece puts the zeros back. A module holds that memory as long as it is loaded, a tile's accumulators for each CTA.
 */
#ifndef CUDAL2_MEET_CUH
#define CUDAL2_MEET_CUH

#include "split.cuh"

#if REDUCE == 2
#define MAX_TILES 512 /* more than there are multiprocessors */

typedef piece letter; /* a piece as it lies there */

/* CTAs that have left their pieces of a tile, over all launches; wraps, so SPLIT_K is a power of two. */
__device__ u32 arrivals[MAX_TILES];

DEVICE letter seal(piece v)
{
    return v;
}

DEVICE piece unseal(letter v)
{
    return v;
}

#define LETTERS(workspace) ((letter *)(workspace)) /* a function would have put's addresses worked out store by store */
#elif REDUCE == 3
#define MAX_CTAS 144 /* multiprocessors of a whole GH100; the manifest refuses more */

#if PIECE_BYTES == 8
typedef uint2 letter;
#else
typedef uint4 letter;
#endif

__device__ letter letters[MAX_CTAS * SPLIT_K * OWNED * REDUCERS];

/* The complement, and 1 for none: there a NaN becomes another. (The compiler would make a comparison of the maximum.) */
DEVICE u32 seal_word(u32 bits)
{
    u32 sealed;
    asm("max.u32 %0, %1, 1;" : "=r"(sealed) : "r"(~bits));
    return sealed;
}

DEVICE letter seal(piece v)
{
#if PIECE_BYTES == 8
    return make_uint2(seal_word(v.x), seal_word(v.y));
#else
    return make_uint4(seal_word(__float_as_uint(v.x)), seal_word(__float_as_uint(v.y)), seal_word(__float_as_uint(v.z)),
                      seal_word(__float_as_uint(v.w)));
#endif
}

DEVICE piece unseal(letter v)
{
#if PIECE_BYTES == 8
    return make_uint2(~v.x, ~v.y);
#else
    return make_float4(__uint_as_float(~v.x), __uint_as_float(~v.y), __uint_as_float(~v.z), __uint_as_float(~v.w));
#endif
}

DEVICE bool is_missing(letter v)
{
#if PIECE_BYTES == 8
    return min(v.x, v.y) == 0;
#else
    return min(min(v.x, v.y), min(v.z, v.w)) == 0;
#endif
}

#define LETTERS(workspace) letters
#endif

/* A CTA's place, known before its products. */
struct meeting {
    letter *put, *take; /* of this thread, in the first owner's slots and in the first of this CTA's own */
#if REDUCE == 2
    u32 *count; /* of arrivals at the tile */
    u32 before; /* what that was; at most SPLIT_K - 1 of this launch, for this CTA's is not among them */
#endif
};

DEVICE struct meeting find_meeting(float4 *workspace, int tile, u32 rank, int thread)
{
    letter *slots = LETTERS(workspace) + (i64)tile * SPLIT_K * SPLIT_K * OWNED * REDUCERS + thread;
    struct meeting t;
    t.put = slots + rank * OWNED * REDUCERS;
    t.take = slots + rank * SPLIT_K * OWNED * REDUCERS;
#if REDUCE == 2
    t.count = &arrivals[tile];
#else
    stay(t.put), stay(t.take); /* or the compiler works them out again when the products are there */
    settle(t.put), settle(t.take);
#endif
    return t;
}

/* What is asked for before the products. */
DEVICE void ask_meeting(struct meeting &t)
{
#if REDUCE == 2
    t.before = load_relaxed4(t.count);
#endif
}

/* For `owner`, its i-th fragment. */
DEVICE void leave_piece(const struct meeting &t, int owner, int i, piece v)
{
#if REDUCE == 2
    store_global(t.put + (owner * SPLIT_K * OWNED + i) * REDUCERS, v);
#else
    stay(v); /* or it is sealed while products are under way, and they wait for that */
    store_relaxed(t.put + (owner * SPLIT_K * OWNED + i) * REDUCERS, seal(v));
#endif
}

/* Whoever sees this CTA counted sees what its threads have left. By all that have: one fence, for each takes as long. */
DEVICE void arrive(const struct meeting &t, int thread)
{
#if REDUCE == 2
    named_barrier<1>(REDUCERS);
    if (thread == 0) {
        add_release(t.count, 1);
    }
#endif
}

/* Returns when all of the tile's CTAs have arrived. */
DEVICE void await_all(const struct meeting &t, int thread)
{
#if REDUCE == 2
    u32 before = t.before;
    asm volatile("" : "+r"(before)); /* or the goal is worked out, and the count waited for, ahead of the products */
    const u32 goal = (before / SPLIT_K + 1) * SPLIT_K;
    if (thread == 0) {
        while ((int)(load_acquire4(t.count) - goal) < 0) {
        }
    }
    named_barrier<1>(REDUCERS);
#endif
}

/* Whether CTA `from` leaves a piece of the i-th fragment that `rank` owns. */
DEVICE bool travels(int from, u32 rank, int i)
{
    return from != (int)rank && (FRAGMENTS % SPLIT_K == 0 || (int)rank * OWNED + i < FRAGMENTS);
}

/* What the CTAs have left of the owned fragments, the own pieces in their place: all is asked for before any is used.
 * With REDUCE 3 what is not there is asked for again. */
DEVICE void take_pieces(const struct meeting &t, u32 rank, const piece (&own)[OWNED], letter (&all)[SPLIT_K][OWNED])
{
#pragma unroll
    for (int from = 0; from < SPLIT_K; ++from) {
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            all[from][i] = seal(own[i]);
#if REDUCE == 2
            load_if(from != (int)rank, t.take + (from * OWNED + i) * REDUCERS, all[from][i]);
#else
            load_relaxed_if(travels(from, rank, i), t.take + (from * OWNED + i) * REDUCERS, all[from][i]);
#endif
        }
    }
#if REDUCE == 3
    for (bool waits = true; waits;) {
        waits = false;
#pragma unroll
        for (int from = 0; from < SPLIT_K; ++from) {
#pragma unroll
            for (int i = 0; i < OWNED; ++i) {
                const bool missing = is_missing(all[from][i]);
                load_relaxed_if(missing, t.take + (from * OWNED + i) * REDUCERS, all[from][i]);
                waits |= missing;
            }
        }
    }
#endif
}

/* For the next launch. */
DEVICE void clear_pieces(const struct meeting &t, u32 rank)
{
#if REDUCE == 3
    const letter none = {};
#pragma unroll
    for (int from = 0; from < SPLIT_K; ++from) {
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            if (travels(from, rank, i)) {
                store_relaxed(t.take + (from * OWNED + i) * REDUCERS, none);
            }
        }
    }
#endif
}

DEVICE float4 sum_taken(const letter (&all)[SPLIT_K][OWNED], int i)
{
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int from = 0; from < SPLIT_K; ++from) {
        add(sum, widen(unseal(all[from][i])));
    }
    return sum;
}

#endif
