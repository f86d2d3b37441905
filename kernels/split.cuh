/*
 * split.cuh - pieces of a sum over K on their way between the CTAs of a cluster, and between clusters.
 *
 * A CTA of a SPLIT_K cluster owns every SPLIT_K-th fragment (16 x 8 of the tile, per warp) and receives that fragment
 * of all its peers, each in a slot of its own, so that the order of summation is fixed whatever the order of arrival.
 * REDUCE 0: pieces are fp32, lie over the stages and two barriers of the cluster guard them. REDUCE 1: they lie beside
 * the stages and travel by st.async, which counts towards the owner's barrier; fp16 accumulators travel as they are.
 * REDUCE 2: all SPLIT_K CTAs of a tile leave each other's pieces in the workspace, wait for each other there, and each
 * adds its share of the fragments (successive ones here) in the order of K. It takes no cluster, so every multiprocessor
 * finds work and a cluster may multicast instead; but all CTAs must be running at once, which the manifest sees to.
 * A CTA's own pieces of what it owns do not travel.
 * PARTS > 1: that many clusters share the tile; each leaves its sum in the workspace, the last one adds them in order.
 */
#ifndef CUDAL2_SPLIT_CUH
#define CUDAL2_SPLIT_CUH

#include "wgmma.cuh"

#define FRAGMENTS (BM / CONSUMERS / 64 * BN / 8) /* of a warp */
#define OWNED ((FRAGMENTS + SPLIT_K - 1) / SPLIT_K)
#define REDUCERS (CONSUMERS * 128)

#if (REDUCE >= 1 || STREAM_K) && !WIDE_ACCUMULATOR
typedef uint2 piece;
#define PIECE_BYTES 8
#else
typedef float4 piece;
#define PIECE_BYTES 16
#endif
#define SLOT (REDUCERS * PIECE_BYTES)

/* n8-tile j of an accumulator, as it travels. */
DEVICE piece make_piece(const wgmma_register (&d)[WG_REGISTERS], int j)
{
#if PIECE_BYTES == 8
    return make_uint2(d[2 * j], d[2 * j + 1]);
#elif WIDE_ACCUMULATOR
    return make_float4(d[4 * j], d[4 * j + 1], d[4 * j + 2], d[4 * j + 3]);
#else
    float4 v;
    unpack_f16x2(d[2 * j], v.x, v.y);
    unpack_f16x2(d[2 * j + 1], v.z, v.w);
    return v;
#endif
}

/* A piece as floats. */
DEVICE float4 widen(piece v)
{
#if PIECE_BYTES == 8
    float4 wide;
    unpack_f16x2(v.x, wide.x, wide.y);
    unpack_f16x2(v.y, wide.z, wide.w);
    return wide;
#else
    return v;
#endif
}

/* The piece at `address` of this CTA. */
DEVICE piece load_piece(u32 address)
{
#if PIECE_BYTES == 8
    return load_shared8(address);
#else
    return load_shared16f(address);
#endif
}

/* To `address` of this CTA. */
DEVICE void keep_piece(u32 address, piece v)
{
#if PIECE_BYTES == 8
    store_shared8(address, v);
#else
    store_shared16f(address, v);
#endif
}

#if REDUCE == 1
/* Where it is `own`, into slots of this CTA, at `here`; else to `address` of the cluster, where the barrier `arrived`
 * counts the bytes. Without a branch. */
DEVICE void send_or_keep(bool own, u32 here, u32 address, piece v, u32 arrived)
{
#if PIECE_BYTES == 8
    asm volatile("{.reg .pred p;\n setp.ne.u32 p, %5, 0;\n @p st.shared.v2.u32 [%0], {%3, %4};\n"
                 " @!p st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%1], {%3, %4}, [%2];}" ::"r"(here),
                 "r"(address), "r"(arrived), "r"(v.x), "r"(v.y), "r"((u32)own)
                 : "memory");
#else
    asm volatile("{.reg .pred p;\n setp.ne.u32 p, %7, 0;\n @p st.shared.v4.f32 [%0], {%3, %4, %5, %6};\n"
                 " @!p st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%1], {%3, %4, %5, %6}, [%2];}" ::"r"(
                     here),
                 "r"(address), "r"(arrived), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"((u32)own)
                 : "memory");
#endif
}
#elif SPLIT_K > 1 && REDUCE == 0
/* The same where nobody counts. */
DEVICE void send_or_keep(bool own, u32 here, u32 address, piece v, u32)
{
    if (own) {
        keep_piece(here, v);
    } else {
        store_cluster16f(address, v);
    }
}
#endif

DEVICE void add(float4 &to, float4 v)
{
    to.x += v.x, to.y += v.y, to.z += v.z, to.w += v.w;
}

/* The sum of the owned fragment `i` over the cluster; `slots` is this thread's place in the first slot. */
DEVICE float4 sum_pieces(u32 slots, int i)
{
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int r = 0; r < SPLIT_K; ++r) {
        add(sum, widen(load_piece(slots + (r * OWNED + i) * SLOT)));
    }
    return sum;
}

/* Bytes that CTA `rank` of the cluster's SPLIT_K receives from the others. */
DEVICE u32 bytes_owned(u32 rank)
{
    return (FRAGMENTS - rank + SPLIT_K - 1) / SPLIT_K * (SPLIT_K - 1) * SLOT;
}

#if REDUCE == 2
#define MAX_TILES 512 /* more than there are multiprocessors */

/* CTAs that have left their pieces of a tile, over all launches; wraps, so SPLIT_K is a power of two. */
__device__ u32 arrivals[MAX_TILES];

/* A CTA's place in the workspace, known before its products. */
struct meeting {
    piece *put, *take; /* of this thread, in the first owner's slots and in the first of this CTA's own */
    u32 *count;        /* of arrivals at the tile */
    u32 before;        /* what that was; at most SPLIT_K - 1 of this launch, for this CTA's is not among them */
};

DEVICE struct meeting find_meeting(float4 *workspace, int tile, u32 rank, int thread)
{
    piece *slots = (piece *)workspace + (i64)tile * SPLIT_K * SPLIT_K * OWNED * REDUCERS + thread;
    struct meeting t;
    t.put = slots + rank * OWNED * REDUCERS;
    t.take = slots + rank * SPLIT_K * OWNED * REDUCERS;
    t.count = &arrivals[tile];
    return t;
}

/* For `owner`, its i-th fragment. */
DEVICE void leave_piece(const struct meeting &t, int owner, int i, piece v)
{
    store_global(t.put + (owner * SPLIT_K * OWNED + i) * REDUCERS, v);
}

/* Whoever sees this CTA counted sees what its threads have left. By all that have: one fence, for each takes as long. */
DEVICE void arrive(const struct meeting &t, int thread)
{
    named_barrier<1>(REDUCERS);
    if (thread == 0) {
        add_release(t.count, 1);
    }
}

/* Returns when all of the tile's CTAs have arrived. */
DEVICE void await_all(const struct meeting &t, int thread)
{
    u32 before = t.before;
    asm volatile("" : "+r"(before)); /* or the goal is worked out, and the count waited for, ahead of the products */
    const u32 goal = (before / SPLIT_K + 1) * SPLIT_K;
    if (thread == 0) {
        while ((int)(load_acquire4(t.count) - goal) < 0) {
        }
    }
    named_barrier<1>(REDUCERS);
}

/* What the CTAs have left of the owned fragments, the own pieces in their place: all is asked for before any is used. */
DEVICE void take_pieces(const struct meeting &t, u32 rank, const piece (&own)[OWNED], piece (&all)[SPLIT_K][OWNED])
{
#pragma unroll
    for (int from = 0; from < SPLIT_K; ++from) {
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            all[from][i] = own[i];
            load_if(from != (int)rank, t.take + (from * OWNED + i) * REDUCERS, all[from][i]);
        }
    }
}

DEVICE float4 sum_taken(const piece (&all)[SPLIT_K][OWNED], int i)
{
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int from = 0; from < SPLIT_K; ++from) {
        add(sum, widen(all[from][i]));
    }
    return sum;
}
#endif

#if PARTS > 1
#define MAX_ARRIVALS 65536 /* the manifest refuses more */

/* Per warp of an owner: how many clusters have left its fragments' sums; zero again when the tile is done. */
__device__ u32 arrivals[MAX_ARRIVALS];

/* Whether this warp is the last of PARTS; what the others have stored is then visible. `owner`: tile and rank. */
DEVICE bool last_of_parts(int owner, int thread)
{
    u32 before = 0;
    fence_gpu();
    __syncwarp();
    if (thread % 32 == 0) {
        u32 *counter = &arrivals[owner * (REDUCERS / 32) + thread / 32];
        before = atomicAdd(counter, 1u);
        if (before == PARTS - 1) {
            *counter = 0;
        }
    }
    before = __shfl_sync(~0u, before, 0);
    fence_gpu();
    return before == PARTS - 1;
}

/* Where cluster `part` leaves the owned fragment `i`. */
DEVICE float4 *part_at(float4 *workspace, int owner, int part, int i, int thread)
{
    return workspace + (((i64)owner * PARTS + part) * OWNED + i) * REDUCERS + thread;
}

DEVICE float4 sum_parts(float4 *workspace, int owner, int i, int thread)
{
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        add(sum, __ldcg(part_at(workspace, owner, part, i, thread)));
    }
    return sum;
}
#endif

#endif
