/*
 * persistent.cu - F3 and F4: TMA loads, wgmma, warp-specialised, persistent; for problems that fill the machine, and
 * through SPLIT_K for those with few tiles and a long K.
 *
 * One producer warpgroup issues the copies, CONSUMERS warpgroups multiply. A stage is an A box of BM x 64 and a B box
 * of BN x 64 (TN) or BN/64 boxes of 64 x 64 (NN), 128-byte swizzled, guarded by a `full` and an `empty` barrier. Each
 * CTA walks the tiles that fall to it and the copies of the next tile run while this one is stored.
 *
 *   BM, BN               tile; PINGPONG 0: its rows are split among the consumers, 1: each consumer takes every other
 *                        tile alone, so that one multiplies while the other stores; where BN is not a multiple of 64,
 *                        NN copies the whole last box all the same
 *   STAGES               shared-memory stages
 *   CLUSTER_M, CLUSTER_N CTAs of a cluster that share a column (row) of tiles: the common operand is multicast
 *   SPLIT_K              CTAs of a cluster sharing one tile: partial sums meet in distributed shared memory, in one
 *                        launch without a workspace and in a fixed order; together with CLUSTER_M and CLUSTER_N the
 *                        cluster has SPLIT_K groups of sharing CTAs
 *   REDUCE, PARTS        how they meet, and clusters that share one tile through the workspace: see split.cuh; with
 *                        REDUCE 2 the CTAs that share a tile are no cluster
 *   EVICT                1: stores of C are the first to leave the L2 cache
 *   STREAM               1: of the operands A is the first to leave it, 2: B, which no other tile reads again
 *   SKEW                 1: CTAs begin at different places of K and go round, so that they do not walk in step
 *   RASTER, DOWN         tiles are walked in bands RASTER wide, row by row (DOWN 0) or column by column (DOWN 1)
 *   EPILOGUE             0: 4-byte stores from the accumulators; 1: stmatrix into swizzled shared memory, TMA stores
 *
 * Warp and cluster numbers are passed through a shuffle: only then does the compiler know them to be the same for the
 * whole warp and keep stages, descriptors and barriers' addresses in uniform registers. Without it each product is
 * preceded by moves into them, which a tile of 64 x 64 does not hide.
 */
#include "consumers.cuh"
#include "epilogue.cuh"
#include "split.cuh"
#include "walk.cuh"

#define BK 64
#define CLUSTER (CLUSTER_M * CLUSTER_N)
#define CLUSTER_K (REDUCE == 2 ? 1 : SPLIT_K)
#define THREADS ((CONSUMERS + 1) * 128)
#define SHARES (SPLIT_K * PARTS)              /* of K */
#define ROWS (PINGPONG ? BM : BM / CONSUMERS) /* of a tile that a consumer multiplies */
#define MI (ROWS / 64)
#define A_BYTES (BM * BK * 2)
#define BOX_BYTES (64 * 64 * 2)
#define BOXES ((BN + 63) / 64) /* 64 columns wide, of a tile */
#define B_BYTES (LAYOUT_TN ? BN * BK * 2 : BOXES * BOX_BYTES)
#define SLOT_BYTES (SPLIT_K > 1 && REDUCE == 1 ? SPLIT_K * OWNED * SLOT : 0) /* beside the stages */
#define USERS (PINGPONG ? 1 : CONSUMERS)                                     /* consumers of a stage */

typedef wgmma_register accumulator[MI][WG_REGISTERS];

struct work {
    const TensorMap *map_a, *map_b, *map_c, *map_narrow;
    u16 *c;
    int m, n;
    int k_begin, k_end; /* in stages */
    u32 stages_a, stages_b, stages_c, full, empty;
    u32 left, right;    /* of stage 0: the low words of the operands' descriptors, for this consumer */
    u32 rank, peers;    /* among the CTAs that split K; of the first CTA that shares operands with this one */
    int cm, cn;         /* place in the cluster's CLUSTER_M x CLUSTER_N tiles */
    u32 slots, arrived; /* of the pieces of the sum */
    float4 *workspace;
};

/* --- the order of tiles ----------------------------------------------------------------------------------- */

DEVICE int cluster_rows(const struct work &w)
{
    return (w.m + BM * CLUSTER_M - 1) / (BM * CLUSTER_M);
}

DEVICE int cluster_cols(const struct work &w)
{
    return (w.n + BN * CLUSTER_N - 1) / (BN * CLUSTER_N);
}

DEVICE struct place place_tile(const struct work &w, int index)
{
    int row, col;
#if DOWN
    band(index, cluster_cols(w), cluster_rows(w), col, row);
#else
    band(index, cluster_rows(w), cluster_cols(w), row, col);
#endif
    const struct place p = {(row * CLUSTER_M + w.cm) * BM, (col * CLUSTER_N + w.cn) * BN};
    return p;
}

/* --- producer --------------------------------------------------------------------------------------------- */

template <int EVICT_FIRST>
DEVICE void load_box(u32 to, const TensorMap *map, int x, int y, u32 barrier, int peers, u16 mask)
{
    if (peers > 1) {
        tensor_load_multicast<EVICT_FIRST>(to, map, x, y, barrier, mask);
    } else {
        tensor_load<EVICT_FIRST>(to, map, x, y, barrier);
    }
}

/* Among its peers a CTA has rank cm + cn * CLUSTER_M. CTAs of equal cm share A, each loads its slice for all of them;
 * likewise B. */
DEVICE void load_stage(const struct work &w, const struct place &p, int stage, int k)
{
    const int cm = w.cm, cn = w.cn;
    const u32 full = w.full + stage * 8;
    const u32 a = w.stages_a + stage * A_BYTES, b = w.stages_b + stage * B_BYTES;
    u16 mask_a = 0, mask_b = 0;
#pragma unroll
    for (int i = 0; i < CLUSTER_N; ++i) {
        mask_a |= (u16)(1 << (w.peers + cm + i * CLUSTER_M));
    }
#pragma unroll
    for (int i = 0; i < CLUSTER_M; ++i) {
        mask_b |= (u16)(1 << (w.peers + i + cn * CLUSTER_M));
    }
    barrier_expect(full, A_BYTES + B_BYTES);
    load_box<STREAM == 1>(a + cn * (A_BYTES / CLUSTER_N), w.map_a, k, p.row + cn * (BM / CLUSTER_N), full, CLUSTER_N,
                          mask_a);
#if LAYOUT_TN
    load_box<STREAM == 2>(b + cm * (B_BYTES / CLUSTER_M), w.map_b, k, p.col + cm * (BN / CLUSTER_M), full, CLUSTER_M,
                          mask_b);
#else
#pragma unroll 1 /* unrolled, it outgrows the producer's registers */
    for (int j = 0; j < BOXES; ++j) {
        load_box<STREAM == 2>(b + j * BOX_BYTES + cm * (BOX_BYTES / CLUSTER_M), w.map_b, p.col + j * 64,
                              k + cm * (BK / CLUSTER_M), full, CLUSTER_M, mask_b);
    }
#endif
}

/* Steps of K by which this cluster begins later than the first one; it goes round. */
DEVICE int skew_of(const struct work &w)
{
    return (w.k_end - w.k_begin) * (int)(blockIdx.x / CLUSTER) / (int)(gridDim.x / CLUSTER);
}

/* By one whole warp, of which a thread is elected for each stage. */
DEVICE void produce(const struct work &w, int tiles)
{
    const int length = w.k_end - w.k_begin, skew = SKEW ? skew_of(w) : 0;
    struct ring r = {0, 1}; /* parity 1: a fresh barrier's preceding phase counts as over */
    for (int t = blockIdx.x / CLUSTER; t < tiles; t += gridDim.x / CLUSTER) {
        const struct place p = place_tile(w, t);
        for (int k = w.k_begin; k < w.k_end; ++k) {
            barrier_wait(w.empty + r.stage * 8, r.parity);
            if (elect_one()) {
                load_stage(w, p, r.stage, (k + skew - (SKEW && k + skew >= w.k_end ? length : 0)) * BK);
            }
            __syncwarp();
            advance(r);
        }
    }
}

/* --- consumers -------------------------------------------------------------------------------------------- */

/* Tells every CTA that may copy into this stage that the warp is done with it. */
DEVICE void release(const struct work &w, int stage)
{
    const u32 lane = threadIdx.x % 32;
    if (CLUSTER == 1) {
        if (lane == 0) {
            barrier_arrive(w.empty + stage * 8);
        }
    } else if (lane < CLUSTER) {
        barrier_arrive_at(w.empty + stage * 8, w.peers + lane);
    }
}

DEVICE void multiply_stage(const struct work &w, accumulator &acc, int stage, int accumulate)
{
    const u32 left = w.left + stage * (A_BYTES >> 4), right = w.right + stage * (B_BYTES >> 4);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
        for (int i = 0; i < MI; ++i) {
            wgmma<!LAYOUT_TN>(acc[i], wgmma_descriptor(left + ((i * BOX_BYTES + k * 32) >> 4)),
                              wgmma_descriptor(right + (k * (LAYOUT_TN ? 32 : 2048) >> 4)), accumulate || k);
        }
    }
    wgmma_commit();
}

/* One tile's products; the stage before the one being multiplied is handed back. `last`: no tile comes after it. */
DEVICE void multiply_tile(const struct work &w, accumulator &acc, struct ring &r, int group, bool last)
{
    int previous = r.stage;
    barrier_wait(w.full + r.stage * 8, r.parity);
    multiply_stage(w, acc, r.stage, 0);
    advance(r);
    for (int k = w.k_begin + 1; k < w.k_end; ++k) {
        barrier_wait(w.full + r.stage * 8, r.parity);
        multiply_stage(w, acc, r.stage, 1);
        wgmma_wait<1>();
        release(w, previous);
        previous = r.stage;
        advance(r);
    }
#if PINGPONG
    if (!last) {
        pass_turn(group);
    }
#endif
    wgmma_wait<0>();
    release(w, previous);
}

DEVICE void store_pair(const struct work &w, int row, int col, u32 pair)
{
    if (row < w.m && col < w.n) {
        store_global4(w.c + (i64)row * w.n + col, pair);
    }
}

#if SPLIT_K > 1
DEVICE void store_fragment(const struct work &w, const struct place &p, int thread, int f, float4 sum)
{
    const int lane = thread % 32, top = p.row + thread / 128 * ROWS + thread % 128 / 32 * 16 + lane / 4;
    const int row = top + f / (BN / 8) * 64, col = p.col + f % (BN / 8) * 8 + lane % 4 * 2;
    store_pair(w, row, col, pack2(sum.x, sum.y));
    store_pair(w, row + 8, col, pack2(sum.z, sum.w));
}
#endif

#if REDUCE == 2
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128, tile = (int)blockIdx.x;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        *left_at(w.workspace, tile, f / OWNED, w.rank, f % OWNED, thread) = make_piece(acc[f / (BN / 8)], f % (BN / 8));
    }
    named_barrier<1>(REDUCERS);
    if (thread == 0) {
        meet(tile);
    }
    named_barrier<1>(REDUCERS);
    float4 sums[OWNED]; /* all loaded before the first is stored */
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        sums[i] = sum_left(w.workspace, tile, w.rank, i, thread);
    }
#pragma unroll
    for (int i = 0; i < OWNED; ++i) {
        const int f = (int)w.rank * OWNED + i;
        if (f < FRAGMENTS) {
            store_fragment(w, p, thread, f, sums[i]);
        }
    }
}

DEVICE void finish_producing()
{
}
#elif SPLIT_K > 1
/* Fragment f belongs to CTA f % SPLIT_K; the piece from CTA r lands in slot r of its owner. */
DEVICE void send_pieces(const struct work &w, const accumulator &acc, int thread)
{
    const u32 peer = w.cm + w.cn * CLUSTER_M;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        const u32 slot = w.slots + (w.rank * OWNED + f / SPLIT_K) * SLOT + thread * PIECE_BYTES;
        send_piece(slot, f % SPLIT_K * CLUSTER + peer, make_piece(acc[f / (BN / 8)], f % (BN / 8)), w.arrived);
    }
}

DEVICE void store_owned(const struct work &w, const struct place &p, int thread)
{
    const u32 slots = w.slots + thread * PIECE_BYTES;
#if PARTS == 1
    for (int f = (int)w.rank; f < FRAGMENTS; f += SPLIT_K) {
        store_fragment(w, p, thread, f, sum_pieces(slots, f / SPLIT_K));
    }
#else
    const int owner = (int)(blockIdx.x * SPLIT_K + w.rank), part = (int)blockIdx.z / SPLIT_K;
    for (int f = (int)w.rank; f < FRAGMENTS; f += SPLIT_K) {
        *part_at(w.workspace, owner, part, f / SPLIT_K, thread) = sum_pieces(slots, f / SPLIT_K);
    }
    if (last_of_parts(owner, thread)) {
        float4 sums[OWNED]; /* all loaded before the first is stored */
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            sums[i] = sum_parts(w.workspace, owner, i, thread);
        }
#pragma unroll
        for (int i = 0; i < OWNED; ++i) {
            const int f = (int)w.rank + i * SPLIT_K;
            if (f < FRAGMENTS) {
                store_fragment(w, p, thread, f, sums[i]);
            }
        }
    }
#endif
}

/* The cluster's barriers here and in finish_producing() match. */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = group * 128 + (int)threadIdx.x % 128;
#if REDUCE == 0
    cluster_arrive_relaxed(); /* every stage of the cluster has been read */
    cluster_wait();
    send_pieces(w, acc, thread);
    cluster_arrive();
    cluster_wait();
#else
#if CLUSTER == 1
    cluster_wait(); /* of start(): the owners' barriers are ready */
#endif
    send_pieces(w, acc, thread);
#if CLUSTER > 1
    cluster_arrive_relaxed(); /* done with the peers' barriers; waited for at the end */
#endif
    barrier_wait_cluster(w.arrived, 0);
#endif
    store_owned(w, p, thread);
}

/* The barriers of store_tile(), by threads with nothing of their own to make visible. */
DEVICE void finish_producing()
{
#if REDUCE == 0
    cluster_arrive_relaxed();
    cluster_wait();
    cluster_arrive_relaxed();
    cluster_wait();
#elif CLUSTER == 1
    cluster_wait();
#else
    cluster_arrive_relaxed();
#endif
}
#elif EPILOGUE == 0
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &)
{
    const int thread = (int)threadIdx.x % 128, lane = thread % 32;
    const int top = p.row + (PINGPONG ? 0 : group * ROWS) + thread / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
            store_pair(w, top + i * 64, p.col + j * 8 + lane % 4 * 2, packed(acc[i], j, 0));
            store_pair(w, top + i * 64 + 8, p.col + j * 8 + lane % 4 * 2, packed(acc[i], j, 1));
        }
    }
}
#else
/* By one thread. */
DEVICE void store_box(const struct work &w, u32 buffer, int col, int row, int n8)
{
    if (n8 < BN / 64 * 8) {
        tensor_store<EVICT>(w.map_c, buffer, col + n8 * 8, row);
    } else {
#pragma unroll
        for (int j = 0; n8 + j < BN / 8; j += 2) {
            tensor_store<EVICT>(w.map_narrow, buffer + j / 2 * NARROW_BYTES, col + (n8 + j) * 8, row);
        }
    }
    tensor_store_commit();
}

/*
 * Boxes of 64 x 64 through two buffers of this warpgroup, swizzled as the tensor maps say. `box_count` runs on from
 * tile to tile: with an odd number of boxes a tile, counting afresh would reuse the buffer that is still being stored.
 */
DEVICE void store_tile(const struct work &w, const accumulator &acc, const struct place &p, int group, u32 &box_count)
{
    const int thread = (int)threadIdx.x % 128, top = p.row + (PINGPONG ? 0 : group * ROWS);
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
        for (int box = 0; box < BOXES; ++box) {
            const u32 buffer = w.stages_c + (group * 2 + box_count++ % 2) * BOX_BYTES;
            if (thread == 0) {
                tensor_store_wait<1>(); /* the store before the last has left this buffer */
            }
            group_barrier(group);
            fill_box(buffer, acc[i], box * 8, thread);
            proxy_fence();
            group_barrier(group);
            if (thread == 0) {
                store_box(w, buffer, p.col, top + i * 64, box * 8);
            }
        }
    }
}
#endif

DEVICE void consume(const struct work &w, int tiles, int group)
{
    const int step = gridDim.x / CLUSTER;
    struct ring r = {0, 0};
    accumulator acc;
    int t = blockIdx.x / CLUSTER;
    u32 box_count = 0;
#if PINGPONG
    const int length = w.k_end - w.k_begin, first = t;
    t += group * step;
    skip(r, group * length);
#endif
    for (; t < tiles; t += step * (PINGPONG ? 2 : 1)) {
#if PINGPONG
        if (t != first) {
            await_turn(group);
        }
#endif
        multiply_tile(w, acc, r, group, t + step >= tiles);
        store_tile(w, acc, place_tile(w, t), group, box_count);
#if PINGPONG
        skip(r, length);
#endif
    }
    if (threadIdx.x % 128 == 0) {
        tensor_store_wait<0>();
    }
    __syncwarp();
}

/* --- the kernel ------------------------------------------------------------------------------------------- */

DEVICE void start(const struct work &w)
{
    if (threadIdx.x == 0) {
        tensor_prefetch(w.map_a);
        tensor_prefetch(w.map_b);
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(w.full + s * 8, 1);
            barrier_init(w.empty + s * 8, USERS * 4 * CLUSTER);
        }
#if SPLIT_K > 1 && REDUCE == 1
        barrier_init(w.arrived, 1);
        barrier_expect(w.arrived, bytes_owned(w.rank));
#endif
        barrier_init_fence<(CLUSTER * CLUSTER_K > 1)>();
    }
    __syncthreads();
#if CLUSTER > 1 || SPLIT_K > 1 && REDUCE == 1
    cluster_arrive_relaxed(); /* the fence above has made the barriers visible */
#endif
#if CLUSTER > 1
    cluster_wait();
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_c, const __grid_constant__ TensorMap map_narrow, u16 *c, int m, int n,
         int k, float4 *workspace)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const u32 base = (shared_address(smem) + 1023) & ~1023u;
    const int stages = (k + BK - 1) / BK;
    struct work w;
    w.map_a = &map_a, w.map_b = &map_b, w.map_c = &map_c, w.map_narrow = &map_narrow;
    w.c = c, w.m = m, w.n = n;
    w.k_begin = SHARES == 1 ? 0 : stages * (int)blockIdx.z / SHARES;
    w.k_end = SHARES == 1 ? stages : stages * ((int)blockIdx.z + 1) / SHARES;
    w.stages_a = base, w.stages_b = base + STAGES * A_BYTES, w.stages_c = w.stages_b + STAGES * B_BYTES;
    w.slots = REDUCE == 1 ? w.stages_c : w.stages_a;
    w.full = w.stages_c + SLOT_BYTES + (SPLIT_K == 1 && EPILOGUE ? CONSUMERS * 2 * BOX_BYTES : 0);
    w.empty = w.full + STAGES * 8, w.arrived = w.empty + STAGES * 8;
    const u32 rank = CLUSTER * CLUSTER_K > 1 ? __shfl_sync(~0u, cluster_rank(), 0) : 0, peer = rank % CLUSTER;
    w.rank = REDUCE == 2 ? blockIdx.z : rank / CLUSTER, w.peers = rank / CLUSTER * CLUSTER;
    w.cm = CLUSTER > 1 ? (int)peer % CLUSTER_M : 0, w.cn = CLUSTER > 1 ? (int)peer / CLUSTER_M : 0;
    w.workspace = workspace;
    start(w);
    const int tiles = cluster_rows(w) * cluster_cols(w), group = __shfl_sync(~0u, (int)threadIdx.x / 128, 0);
    if (group == 0) {
#ifdef PRODUCER_REGISTERS
#if MIN_BLOCKS == 1
        registers_shrink<PRODUCER_REGISTERS>();
#endif
#endif
        if (__shfl_sync(~0u, threadIdx.x / 32, 0) == 0) {
            produce(w, tiles);
        }
        __syncwarp();
#if SPLIT_K > 1
        finish_producing();
#endif
    } else {
#ifdef PRODUCER_REGISTERS
#if MIN_BLOCKS == 1
        registers_grow<CONSUMER_REGISTERS>();
#endif
#endif
        w.left = wgmma_descriptor_low(w.stages_a + (PINGPONG ? 0 : (group - 1) * ROWS * BK * 2), 16);
        w.right = wgmma_descriptor_low(w.stages_b, LAYOUT_TN ? 16 : BOX_BYTES);
        consume(w, tiles, group - 1);
    }
#if CLUSTER > 1
    /* No CTA leaves while its peers may still signal its barriers. */
#if SPLIT_K == 1 || REDUCE != 1
    cluster_arrive_relaxed();
#endif
    cluster_wait();
#endif
}
