/*
 * persistent.cu - F3 and F4: TMA loads, wgmma, warp-specialised, persistent; for problems that fill the machine,
 * through SPLIT_K for those with few tiles and a long K, and through STREAM_K for those whose last wave is not full.
 *
 * CONSUMERS warpgroups multiply; of the warps behind them the first issues the copies and the second makes barriers
 * (with OPENS the first makes those of its first copies; two more are there where a whole warpgroup gives registers
 * away). A stage is an A box of BM x 64 and a B box of BN x 64 (TN) or BN/64 boxes of 64 x 64 (NN), 128-byte swizzled,
 * guarded by a `full` and an `empty` barrier. Each CTA walks the tiles that fall to it and the copies of the next tile
 * run while this one is stored.
 *
 *   BM, BN               tile; PINGPONG 0: its rows are split among the consumers, 1: each consumer takes every other
 *                        tile alone, so that one multiplies while the other stores; where BN is not a multiple of 64,
 *                        NN copies the whole last box all the same
 *   ACROSS               1: the products' rows are the tile's columns (C is made transposed, and turned on its way to
 *                        shared memory): BN is what comes in 64s and is split, BM what may be any of 8s
 *   STAGES               shared-memory stages
 *   CLUSTER_M, CLUSTER_N CTAs of a cluster that share a column (row) of tiles: the common operand is multicast
 *   SPLIT_K              CTAs of a cluster sharing one tile: partial sums meet in distributed shared memory, in one
 *                        launch without a workspace and in a fixed order
 *   ABREAST              tiles, next to each other in the walk, whose CTAs stand in one cluster: those with the same
 *                        share of K are neighbours, and ask for the same lines of an operand at once
 *   REDUCE, PARTS        how they meet, and clusters that share one tile through the workspace: see split.cuh; with
 *                        REDUCE 2 the CTAs that share a tile are no cluster
 *   EVICT                1: stores of C are the first to leave the L2 cache
 *   STREAM               1: of the operands A is the first to leave it, 2: B, which no other tile reads again
 *   FETCH                bytes that the L2 fetches where some of A or B are missing (0: no more than asked; in the
 *                        tensor maps, not here)
 *   RASTER, DOWN         tiles are walked in bands RASTER wide, row by row (DOWN 0) or column by column (DOWN 1); of
 * the launch: the arguments from `wide` on (walk.cuh) QUEUE                1: a CTA's next tile is the walk's next that
 * nobody has, as counted in the GPU's memory, and not the one gridDim.x / CLUSTER further on (queue.cuh) STREAM_K 1:
 * the steps of tiles that are left for a last wave, 2: and those of a full wave, are dealt out evenly, and a tile's
 * sums meet through the workspace (stream.cuh) KEEP                 1: a stage's box of A stays for the CTA's next
 * tile, whose rows are the same as long as the walk goes along a band of rows, 2: its box of B, along a band of
 * columns; the ring holds whole tiles HOLD                 slots for what KEEP names, one for each step of a tile,
 * where they are not the ring's PEEK                 0: when all products of a stage are asked for, the stage before it
 * is handed back and the next one waited for; 1, 2: after so many of its four steps of 16 k the one before that is
 * handed back and the next one looked for TAIL                 the second consumer leaves the last TAIL stages of a
 * tile alone until the first has asked for all of its products: while that one stores, the tensor cores have work EARLY
 * 1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here) ONE_TILE 1: C
 * is staged over the stages, which leaves room for one more; each CTA has one tile EPILOGUE 0:
 * 4-byte stores from the accumulators; 1: stmatrix into swizzled shared memory, TMA stores; 2: stmatrix, then each warp
 * stores its rows by 16 bytes a lane, waiting for no other; 3: the same by 4 and 2 bytes, for rows that begin anywhere;
 * 4: by 16 and 2 (odd.cu)
 *
 *   PACK                 1: the operands are packed into the workspace first (odd.cu)
 *
 * Warp and cluster numbers are passed through a shuffle: only then does the compiler know them to be the same for the
 * whole warp and keep stages, descriptors and barriers' addresses in uniform registers. Without it each product is
 * preceded by moves into them, which a tile of 64 x 64 does not hide.
 */
#include "begin.cuh"
#if PACK
#include "packing.cuh"
#endif
#include "persistent.cuh"
#include "products.cuh"
#include "queue.cuh"
#include "store.cuh"
#include "stream.cuh"

/* --- producer --------------------------------------------------------------------------------------------- */

#if PACK
/* A tile's step of A or B, which lies in one piece. */
template <bool SHARED> DEVICE void load_a(const struct work &w, const struct place &p, int stage, int k, int)
{
    bulk_load(w.stages_a + stage * A_BYTES, w.packed_a + ((i64)(p.row / BM) * w.steps + k / BK) * A_BYTES, A_BYTES,
              w.full + stage * 8);
}

template <bool SHARED> DEVICE void load_b(const struct work &w, const struct place &p, int stage, int k, int)
{
    bulk_load(w.stages_b + stage * B_BYTES, w.packed_b + ((i64)(p.col / BN) * w.steps + k / BK) * B_BYTES, B_BYTES,
              w.full + stage * 8);
}
#else
/* A slice of an operand: into this CTA, or with SHARED into those of its peers' that `mask` has. */
template <int EVICT_FIRST, bool SHARED>
DEVICE void load_slice(u32 to, const TensorMap *map, int x, int y, u32 barrier, u16 mask)
{
    if (SHARED) {
        tensor_load_multicast<EVICT_FIRST>(to, map, x, y, barrier, mask);
    } else {
        tensor_load<EVICT_FIRST>(to, map, x, y, barrier);
    }
}

/* Slices of A from the one of peer `first` on. A slice may be half a swizzled group of eight rows: the copy swizzles by
 * the address in shared memory. */
template <bool SHARED> DEVICE void load_a(const struct work &w, const struct place &p, int stage, int k, int first)
{
    const u32 to = w.stages_a + (HOLD && KEEP == 1 ? k / BK : stage) * A_BYTES;
    u16 mask = 0;
#pragma unroll
    for (int i = 0; i < CLUSTER_N; ++i) {
        mask |= (u16)(1 << (w.cm + i * CLUSTER_M));
    }
#pragma unroll
    for (int i = first; i < (SHARED ? first + 1 : CLUSTER_N); ++i) {
        load_slice<STREAM == 1, SHARED>(to + i * (A_BYTES / CLUSTER_N), w.map_a, k, p.row + i * (BM / CLUSTER_N),
                                        w.full + stage * 8, mask);
    }
}

/* Likewise of B. */
template <bool SHARED> DEVICE void load_b(const struct work &w, const struct place &p, int stage, int k, int first)
{
    const u32 to = w.stages_b + (HOLD && KEEP == 2 ? k / BK : stage) * B_BYTES;
    u16 mask = 0;
#pragma unroll
    for (int i = 0; i < CLUSTER_M; ++i) {
        mask |= (u16)(1 << (i + w.cn * CLUSTER_M));
    }
#pragma unroll
    for (int i = first; i < (SHARED ? first + 1 : CLUSTER_M); ++i) {
#if LAYOUT_TN
        load_slice<STREAM == 2, SHARED>(to + i * (B_BYTES / CLUSTER_M), w.map_b, k, p.col + i * (BN / CLUSTER_M),
                                        w.full + stage * 8, mask);
#else
#pragma unroll 1 /* unrolled, it outgrows the producer's registers */
        for (int j = 0; j < BOXES; ++j) {
            load_slice<STREAM == 2, SHARED>(to + j * BOX_BYTES + i * (BOX_BYTES / CLUSTER_M), w.map_b, p.col + j * 64,
                                            k + i * (BK / CLUSTER_M), w.full + stage * 8, mask);
        }
#endif
    }
}
#endif

/* Among its peers a CTA has rank cm + cn * CLUSTER_M. CTAs of equal cm share A, each loads its slice for all of them;
 * CTAs of equal cn B. With KEEP, when all slots have been loaded with the tile's rows of A (columns of B), what is
 * there is what would be loaded: they hold whole tiles, so a slot is always of the same k. */
DEVICE void load_stage(const struct work &w, const struct place &p, int stage, int k)
{
    const bool kept = KEEP > 0 && p.held >= HELD;
    barrier_expect(w.full + stage * 8, (KEEP == 1 && kept ? 0 : A_BYTES) + (KEEP == 2 && kept ? 0 : B_BYTES));
    if (KEEP != 1 || !kept) {
        load_a<(CLUSTER_N > 1)>(w, p, stage, k, CLUSTER_N > 1 ? w.cn : 0);
    }
    if (KEEP != 2 || !kept) {
        load_b<(CLUSTER_M > 1)>(w, p, stage, k, CLUSTER_M > 1 ? w.cm : 0);
    }
}

/* The same for this CTA alone. */
DEVICE void load_own_stage(const struct work &w, const struct place &p, int stage, int k)
{
    barrier_expect(w.full + stage * 8, A_BYTES + B_BYTES);
    load_a<false>(w, p, stage, k, 0);
    load_b<false>(w, p, stage, k, 0);
}

/* A's or B's part of the first tile's step `s`. */
DEVICE void load_part(const struct work &w, const struct place &p, int s, bool of_b)
{
    const int k = (w.k_begin + s) * BK;
    if (of_b) {
        load_b<(CLUSTER_M > 1)>(w, p, s, k, CLUSTER_M > 1 ? w.cm : 0);
    } else {
        load_a<(CLUSTER_N > 1)>(w, p, s, k, CLUSTER_N > 1 ? w.cn : 0);
    }
}

/* The first stages of the first tile, before the CTA has met: all that they need is their `full` barriers. Those of
 * peers need not be ready, for nothing of these is shared. By one thread. */
DEVICE void load_ahead(const struct work &w, const struct place &p)
{
#pragma unroll
    for (int s = 0; s < FIRST_AHEAD; ++s) {
        if (s == 0 || w.k_begin + s < w.k_end) {
            load_own_stage(w, p, s, (w.k_begin + s) * BK);
        }
    }
#pragma unroll
    for (int s = FIRST_AHEAD; s < PART_AHEAD; ++s) {
        if (s == 0 || w.k_begin + s < w.k_end) {
            barrier_expect(w.full + s * 8, A_BYTES + B_BYTES);
            load_part(w, p, s, CLUSTER_N > 1);
        }
    }
}

/* What it has left of these stages, when the peers' barriers are ready. By one thread. */
DEVICE void load_behind(const struct work &w, const struct place &p, int ahead)
{
#pragma unroll 1
    for (int s = FIRST_AHEAD; s < ahead; ++s) {
        load_part(w, p, s, CLUSTER_N == 1);
    }
}

/* By warp `producer` of the producer: barriers by the second, while the first works out where its tile is, and by that
 * one the first stages of the tile, which it returns, where it has not `opened` with them. Consumers, below 0, pass it
 * by. */
DEVICE struct place begin_producing(const struct work &w, int producer, const struct place &opened)
{
    struct place first = {0, 0, 0};
    if (!OPENS && producer == 0) {
        first = place_tile(w, first_tile(w));
        take_over_first_barriers();
        announce_barriers();
        arrive_at_cluster();
        await_grid_ahead();
        if (elect_one()) {
            load_ahead(part_of(w, first_round(w)), first);
        }
        __syncwarp();
    } else if (producer == 1) {
        if (!OPENS) {
            if (elect_one()) {
                make_first_barriers(w);
            }
            __syncwarp();
            hand_over_first_barriers();
        }
        if (elect_one()) {
            make_barriers(w);
        }
        __syncwarp();
        announce_barriers();
        hand_over_barriers();
        arrive_at_cluster();
    } else if (producer > 1) {
        arrive_at_cluster();
    }
    if (OPENS) { /* in uniform registers from here on */
        first.row = __shfl_sync(~0u, opened.row, 0), first.col = __shfl_sync(~0u, opened.col, 0);
    }
    return first;
}

/* With HOLD: a slot is loaded anew when the steps that had it, HOLD ago, twice HOLD ago and so on, have handed back
 * their stages: consumers that take turns may be one behind the other. That one did so STAGES ago is known. */
DEVICE void await_slot(const struct work &w, const struct place &p, const struct ring &r)
{
    if (HOLD > 0 && p.held < HOLD) {
#pragma unroll 1
        for (int ago = HOLD; ago < STAGES; ago += HOLD) {
            struct ring then = r;
            skip(then, STAGES - ago);
            barrier_wait(w.empty + then.stage * 8, then.parity);
        }
    }
}

/* Steps `k` to `end` of a tile. By one whole warp, of which a thread is elected for each. They are not written out:
 * code comes from afar the first time. */
DEVICE void load_steps(const struct work &w, const struct place &p, struct ring &r, int &k, int end)
{
#pragma unroll 1
    for (; k < end; ++k) {
        barrier_wait(w.empty + r.stage * 8, r.parity);
        await_slot(w, p, r);
        if (elect_one()) {
            load_stage(w, p, r.stage, k * BK);
        }
        __syncwarp();
        advance(r);
    }
}

/* Where tile `t` is, which comes behind the one at `p`. */
DEVICE struct place place_next(const struct work &w, const struct place &p, int t)
{
    struct place next = place_tile(w, t);
    if (KEEP > 0 && (KEEP == 1 ? next.row == p.row : next.col == p.col)) {
        next.held = p.held + w.k_end - w.k_begin;
    }
    return next;
}

/* By one whole warp; `p` is the first tile. */
DEVICE void produce(const struct work &w, struct place p)
{
    const int ahead = smaller(PART_AHEAD, length_of(w, first_round(w)));
    struct ring r = {0, 1}; /* parity 1: a fresh barrier's preceding phase counts as over */
    struct round next = first_round(w);
    int k = part_of(w, next).k_begin + ahead;
    skip(r, ahead);
    if (PART_AHEAD > FIRST_AHEAD && elect_one()) {
        load_behind(part_of(w, next), p, ahead);
    }
    __syncwarp();
    for (int t = next.tile; t < w.walk.tiles; k = part_of(w, next).k_begin) {
#if QUEUE
        load_steps(w, p, r, k, w.k_end - ASK_AHEAD);
        const int asked = ask_for_tile(w);
        load_steps(w, p, r, k, w.k_end);
        t = pass_tile(w, next, asked);
#else
        load_steps(w, p, r, k, part_of(w, next).k_end);
        t = hear(w, next);
#endif
        if (t < w.walk.tiles) {
            p = place_next(w, p, t);
        }
    }
    end_queue(w, next);
    /* A CTA stays until its peers have handed back all that they share with it: their arrivals find its barriers. */
    for (int s = 0; s < (CLUSTER > 1 ? STAGES : 0); ++s) {
        barrier_wait(w.empty + r.stage * 8, r.parity);
        advance(r);
    }
}

/* --- consumers -------------------------------------------------------------------------------------------- */

/* What a consumer has found out by itself waits for the others from here on. */
DEVICE void begin_consuming(outlet &o)
{
    await_barriers();
    arrive_at_cluster();
    await_cluster();
#if defined(PRODUCER_REGISTERS) && MIN_BLOCKS == 1
    registers_grow<CONSUMER_REGISTERS>();
#endif
    await_grid_ahead();
    ask_ahead(o);
#if SPLIT_K > 1 && REDUCE == 1
    cluster_wait(); /* of arrive_at_cluster(), while the first copies are under way */
#endif
}

/* What can be known of a tile before its products is known before the CTA meets, or while the tile ahead is multiplied:
 * after the products it would take as long as they do. With QUEUE 1 that is while this one is, for a consumer hears of
 * its next tile when it has stored this one: nobody waits for that which may be told late, except whose turn it is. */
DEVICE void consume(const struct work &w, int group)
{
    struct ring r = {0, 0};
    struct round round = first_round(w);
    accumulator acc;
    const int first = round.tile;
    int t = first;
    u32 box_count = 0;
#if PINGPONG
    skip(r, group * length_of(w, round));
    if (!QUEUE && group > 0) {
        t = hear(w, round);
    }
#endif
    outlet next = find_outlet(w, place_tile(w, t), group);
    begin_consuming(next);
    if (QUEUE && PINGPONG && group > 0) {
        t = hear(w, round);
    }
    while (t < w.walk.tiles) {
        outlet o = next;
        const int own = t;
        const struct round part = round;
#if PINGPONG
        if (t != first) {
            await_turn(group);
        }
#endif
        const int last = multiply_tile(part_of(w, part), acc, r, group);
#if PINGPONG
        t = hear(w, round);
        if (t < w.walk.tiles) {
            pass_turn(group);
        }
        const int length_between = length_of(w, round); /* the other consumer's part, or its end */
#endif
#if QUEUE
        o = find_outlet(w, place_tile(w, own), group);
#else
        t = hear(w, round);
        if (t < w.walk.tiles) {
            next = find_outlet(w, place_tile(w, t), group);
        }
#endif
        wgmma_wait<0>();
        release(w, last);
        if (sum_parts_of_tile(w, part, acc, group)) {
            store_tile(w, acc, o, group, box_count);
        }
#if PINGPONG
        skip(r, length_between);
#endif
        if (QUEUE && t < w.walk.tiles) {
            t = hear(w, round);
        }
    }
    if (threadIdx.x % 128 == 0) {
        tensor_store_wait<0>();
    }
    __syncwarp();
}

/* --- the kernel ------------------------------------------------------------------------------------------- */

/* Where everything lies in shared memory. */
DEVICE void lay_out(struct work &w, u32 base)
{
    w.stages_a = base, w.stages_b = base + A_SLOTS * A_BYTES, w.stages_c = w.stages_b + B_SLOTS * B_BYTES;
    w.slots = REDUCE == 1 ? w.stages_c : w.stages_a;
    w.full = w.stages_c + SLOT_BYTES + STAGING_BYTES;
    w.empty = w.full + STAGES * 8, w.arrived = w.queue = w.empty + STAGES * 8; /* nobody has both */
}

/* Who the CTA is that has `rank` in its cluster. */
DEVICE void take_place(struct work &w, u32 rank)
{
    static_assert(CLUSTER == 1 || CLUSTER_K == 1, "a cluster shares K or operands, not both");
    w.rank = REDUCE == 2 ? blockIdx.z : rank / ABREAST;
    w.cm = CLUSTER > 1 ? (int)rank % CLUSTER_M : 0, w.cn = CLUSTER > 1 ? (int)rank / CLUSTER_M : 0;
}

/* Share `z` of the stages. Without a sign: that division takes a third of the instructions. */
DEVICE void take_share(struct work &w, u32 stages, u32 z)
{
    w.k_begin = SHARES == 1 ? 0 : (int)(stages * z / SHARES);
    w.k_end = SHARES == 1 ? (int)stages : (int)(stages * (z + 1) / SHARES);
}

/* With OPENS, by the producer's first warp: the first barriers, and the first stages of the first tile, which is
 * returned. It works out by itself what it needs for that, and says that barriers are there when the copies are on
 * their way. */
DEVICE struct place open_with_copies(struct work w, u32 stages)
{
    struct place first = {0, 0, 0};
#if OPENS
    const u32 x = ask_block_x(), z = ask_block_z();
    asm volatile("" ::"l"(w.map_a));                          /* asks for the line of constants that has it */
    if (__any_sync(~0u, threadIdx.x / 32 == CONSUMERS * 4)) { /* a vote takes less than a shuffle */
        w.cm = w.cn = 0;                                      /* nobody shares an operand */
        take_share(w, stages, z);
        first = place_tile(w, (int)x);
        if (elect_one()) {
            make_first_barriers(w);
            await_end_ahead();
            load_ahead(w, first);
        }
        __syncwarp();
        announce_barriers();
        arrive_at_cluster();
        await_grid_ahead();
    }
#endif
    return first;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(int wide, int band, int lanes, int inverse_band, int inverse_wide, int inverse_last, int tiles, int m, int n,
         int k, u16 *c, float4 *workspace,
#if PACK
         const u16 *a, const u16 *b, int inverse_steps
#else
         const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_c, const __grid_constant__ TensorMap map_narrow
#endif
    )
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const u32 stages = (u32)(k + BK - 1) / BK;
    struct work w;
    w.c = c, w.m = m, w.n = n, w.workspace = workspace;
#if PACK
    pack_operands(w, a, b, k, inverse_steps);
    if (PACKERS && (int)blockIdx.x >= tiles) {
        return; /* it was here to pack */
    }
#else
    w.map_a = &map_a, w.map_b = &map_b, w.map_c = &map_c, w.map_narrow = &map_narrow;
#endif
    w.walk = {wide, band, lanes, inverse_band, inverse_wide, inverse_last, tiles};
    lay_out(w, ALONE ? SHARED_BEGIN : (shared_address(smem) + 1023) & ~1023u);
    const struct place opened = open_with_copies(w, stages);
    const int warp = __shfl_sync(~0u, (int)(threadIdx.x / 32), 0), producer = warp - CONSUMERS * 4;
    take_place(w, CLUSTER * CLUSTER_K > 1 ? __shfl_sync(~0u, cluster_rank(), 0) : 0);
    take_share(w, stages, blockIdx.z);
    if (warp == 0 && elect_one()) {
        prefetch_maps(w);
    }
    __syncwarp();
    const struct place first = begin_producing(w, producer, opened);
    if (ALONE && producer == 1 && shared_address(smem) != SHARED_BEGIN) {
        __trap(); /* another compiler's or system's shared memory: told of, not prevented */
    }
    if (producer >= 0) {
        await_cluster();
#if defined(PRODUCER_REGISTERS) && MIN_BLOCKS == 1
        registers_shrink<PRODUCER_REGISTERS>();
#endif
        if (producer == 0) {
            take_over_barriers();
            produce(w, first);
        }
        __syncwarp();
#if SPLIT_K > 1
        finish_producing();
#endif
    } else {
        const int group = warp / 4;
        const u32 own = PINGPONG ? 0 : group * ROWS * BK * 2; /* 64 rows are as many bytes in either layout */
        w.left = wgmma_descriptor_low((ACROSS ? w.stages_b : w.stages_a) + own, 16);
        w.right = wgmma_descriptor_low(ACROSS ? w.stages_a : w.stages_b, WG_RIGHT_TRANSPOSED ? BOX_BYTES : 16);
        consume(w, group);
    }
}
