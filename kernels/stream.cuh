/*
 * stream.cuh - tiles whose steps are dealt out evenly (STREAM_K): stream-K.
 *
 * Of T tiles on G clusters of CTAs that run at once T % G are left for a last wave, in which the other clusters have
 * nothing to do. STREAM_K 1 lays the steps of K of these tiles end to end, and 2 those of G tiles more, and cuts them into
 * G shares of one length (to a step), which the clusters take first; then each has as many whole tiles.
 *
 *     STREAM_K 2: 5 tiles of 6 steps on 3 clusters      tile  |0 . . . . .|1 . . . . .|2 . . . . .|3 . . . . .|4 . . . . .
 *     of which nothing is left for whole tiles          share |0 . . . . . . . . .|1 . . . . . . . . .|2 . . . . . . . . .
 *                                                                     leaves tile 1: 2 steps, tile 3: 4 steps
 *
 * A share goes through its tiles in turn. Who begins inside of one leaves its sums in the workspace, as the threads hold
 * them and each warp for itself; who has a tile's first step adds them to its own, in the order of K, and stores the
 * tile. It comes to that at the end of its share, and they came at the beginning of theirs: it does not wait. Shares are
 * counted from the grid's end, so whom it could wait for has begun before it.
 */
#ifndef CUDAL2_STREAM_CUH
#define CUDAL2_STREAM_CUH

#include "persistent.cuh"
#include "split.cuh"

#if STREAM_K
#include "shares.cuh"

#define SHARERS ((int)gridDim.x / CLUSTER)
#define TILE_THREADS (PINGPONG ? 128 : CONSUMERS * 128) /* that multiply one tile */
#define TILE_PIECES (MI * (WG_N / 8))                   /* of each of them */
#define AT_ONCE (MI * WG_REGISTERS > 128 || CONSUMERS == 3 ? 8 : 16) /* of these that have room beside the accumulators */
#define MAX_LEAVERS 4096                                /* warps of consumers at once, more than there are */

/* Per warp that may leave its sums: 1 when they are there; 0 again when they have been added. */
__device__ u32 left_there[MAX_LEAVERS];

/* Which share the CTA's cluster takes. */
DEVICE int own_share()
{
    return SHARERS - 1 - (int)blockIdx.x / CLUSTER;
}

/* `w` is of whole tiles, here and below. */
DEVICE struct deal deal_of(const struct work &w)
{
    struct deal d = {w.walk.tiles, w.k_end, SHARERS, STREAM_K};
    return d;
}

DEVICE struct round first_round(const struct work &w)
{
    return begin_share(deal_of(w), own_share());
}

/* Goes on to the CTA's next part, whose tile it returns; a tile beyond the walk: there is none. */
DEVICE int hear(const struct work &w, struct round &r)
{
    r = next_part(deal_of(w), own_share(), r);
    return r.tile;
}

/* What a CTA works on, with the steps of this part only. */
DEVICE struct work part_of(const struct work &w, const struct round &r)
{
    struct work part = w;
    part.k_begin = r.begin, part.k_end = r.end;
    return part;
}

/* Where the threads of a share's CTA leave the first of their pieces, and where their warp says that it has. */
DEVICE piece *left_at(const struct work &w, int share, int thread)
{
    return (piece *)w.workspace + (i64)(share * CLUSTER + (int)w.rank) * TILE_PIECES * TILE_THREADS + thread;
}

DEVICE u32 *told_of_left(const struct work &w, int share, int thread)
{
    return &left_there[((share * CLUSTER + (int)w.rank) * TILE_THREADS + thread) / 32];
}

DEVICE void leave_sums(const struct work &w, const accumulator &acc, int thread)
{
    piece *to = left_at(w, own_share(), thread);
#pragma unroll
    for (int i = 0; i < TILE_PIECES; ++i) {
        store_global(to + i * TILE_THREADS, make_piece(acc[i / (WG_N / 8)], i % (WG_N / 8)));
    }
    __syncwarp();
    if (thread % 32 == 0) {
        add_release(told_of_left(w, own_share(), thread), 1);
    }
}

DEVICE void add_to(wgmma_register (&d)[WG_REGISTERS], int j, piece v)
{
#if WIDE_ACCUMULATOR
    d[4 * j] += v.x, d[4 * j + 1] += v.y, d[4 * j + 2] += v.z, d[4 * j + 3] += v.w;
#else
    float4 sum = widen(make_piece(d, j));
    add(sum, widen(v));
    d[2 * j] = pack2(sum.x, sum.y), d[2 * j + 1] = pack2(sum.z, sum.w);
#endif
}

DEVICE void add_left(const struct work &w, accumulator &acc, int share, int thread)
{
    const piece *from = left_at(w, share, thread);
    u32 *told = told_of_left(w, share, thread);
    if (thread % 32 == 0) {
        while (load_acquire4(told) == 0) {
        }
    }
    __syncwarp();
#pragma unroll
    for (int first = 0; first < TILE_PIECES; first += AT_ONCE) {
        piece v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE && first + i < TILE_PIECES; ++i) {
            v[i] = __ldcg(from + (first + i) * TILE_THREADS);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE && first + i < TILE_PIECES; ++i) {
            add_to(acc[(first + i) / (WG_N / 8)], (first + i) % (WG_N / 8), v[i]);
        }
        asm volatile("" ::: "memory"); /* or all are asked for at once, and sums wait in local memory */
    }
    if (thread % 32 == 0) {
        *told = 0; /* nobody looks before the next launch */
    }
}

/* When the part's products are there: whether this CTA has the tile's sums now, and stores them. */
DEVICE bool sum_parts_of_tile(const struct work &w, const struct round &r, accumulator &acc, int group)
{
    const int thread = (PINGPONG ? 0 : group * 128) + (int)threadIdx.x % 128;
    if (r.begin > 0) {
        leave_sums(w, acc, thread);
        return false;
    }
    if (r.end < w.k_end) {
#pragma unroll 1
        for (int share = own_share() + 1; share < SHARERS && leaves_some_of(deal_of(w), r.tile, share); ++share) {
            add_left(w, acc, share, thread);
        }
    }
    return true;
}

/* Steps of a part. */
DEVICE int length_of(const struct work &, const struct round &r)
{
    return r.end - r.begin;
}

DEVICE int first_tile(const struct work &w)
{
    return first_round(w).tile;
}

#else
/* All parts are whole tiles. No functions: what takes a reference to the work changes the code of every kernel. */
#define first_round(w) first_round()
#define first_tile(w) (blockIdx.x / CLUSTER)
#define part_of(w, round) (w)
#define length_of(w, round) ((w).k_end - (w).k_begin)
#define sum_parts_of_tile(w, round, acc, group) true
#endif

#endif
