/*
 * bulk.cu - F8: few tokens and many weights, which a thread block asks for by whole rows.
 *
 * As in decode.cu the roles are turned: the product's 16 rows are columns of C (weights of B), its 8 columns are rows
 * of C (tokens, M). One warp, the last, issues bulk copies, a row of a stage each: of TN's weights BK elements that lie
 * in one piece, of NN's BN. No thread holds an address or waits for what another one copies, the ring may be as deep as
 * shared memory is, and it is being filled before anybody else knows what to do.
 *
 *   producer warp:  wait empty[s]; expect; a bulk copy for each row of weights and tokens --> full[s]
 *                   SHARE: the CTAs of a cluster have different weights, and each copies a part of the tokens for all
 *   other warps:    WARPS_N side by side over the weights, SLICES over a stage's k: wait full[s]; ldmatrix, mma.sync
 *   behind a tile:  sums to shared memory; SPLIT_K 1: added and stored while the next tile's copies run
 *                   else each CTA of the cluster sends every other one its part (st.async) and stores its own
 *
 * Parameters: BM tokens (all of M), BN weights, BK, STAGES, WARPS_N, SLICES, SPLIT_K, SHARE, MIN_BLOCKS;
 *   EVICT  1: weights are the first to leave the L2 cache
 *   EARLY  1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here)
 *
 * Sums are fp32, added in the order of slices, then of shares: the same every time. K is a multiple of 16; NN: N of 8.
 * Tokens and weights that are not there are not copied: what lies in their place reaches no element of C that is.
 */
#include "common.cuh"
#include "decode.cuh"
#include "bulk.cuh"

#define CONSUMERS (WARPS_N * SLICES)
#define CONSUMER_THREADS (CONSUMERS * 32)
#define THREADS (CONSUMER_THREADS + 32)
#define CLUSTER (SPLIT_K * SHARE) /* one of them is 1 */
#define MT ((BM + 7) / 8)         /* m8 tiles of tokens */
#define NT (BN / (16 * WARPS_N))  /* m16 tiles of weights a warp */

/* Rows of the tile of weights in shared memory: n for TN, k for NN, and elements of one. */
#if LAYOUT_TN
#define W_ROWS BN
#define W_ELEMENTS BK
#else
#define W_ROWS BK
#define W_ELEMENTS BN
#endif

#define W_BYTES (W_ROWS * (W_ELEMENTS * 2 + 16))
#define STAGE_BYTES (W_BYTES + BM * (BK * 2 + 16))
#define SLICE_FLOATS (BM * (BN + 4))
#define QUADS (BM * BN / 4)

/* From the beginning of shared memory: barriers, the sums of each slice, what the cluster sends, the ring. */
#define BARRIER_BYTES 512
#define SUM_BYTES (SLICES * SLICE_FLOATS * 4)
#define PLACES (((QUADS / 8 + SPLIT_K - 1) / SPLIT_K) * 8) /* quads of a CTA at most */
#define SENT_BYTES (SPLIT_K > 1 ? SPLIT_K * PLACES * 16 : 0)

struct work {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int first, last; /* steps of BK, of this CTA's share */
    u32 full, empty, arrived, sums, sent, ring;
    int rank, lane, warp;
};

/* A step of a tile. The CTAs of a cluster that share tokens go through as many, with tiles next to each other; the last
 * ones may have no weights. */
struct place {
    int col, step;
};

DEVICE struct place first_place(const struct work &w)
{
    struct place p = {(int)blockIdx.y * BN, w.first};
    return p;
}

/* Whether any CTA of the cluster has weights from there on. */
DEVICE bool is_tile(const struct work &w, int col)
{
    return col - (SHARE > 1 ? (int)blockIdx.y % SHARE * BN : 0) < w.n;
}

DEVICE bool is_there(const struct work &w, const struct place &p)
{
    return is_tile(w, p.col) && p.step < w.last;
}

DEVICE void next_step(const struct work &w, struct place &p)
{
    if (++p.step == w.last) {
        p.step = w.first;
        p.col += (int)gridDim.y * BN;
    }
}

struct ring {
    int stage;
    u32 parity;
};

DEVICE void advance(struct ring &r)
{
    if (++r.stage == STAGES) {
        r.stage = 0, r.parity ^= 1;
    }
}

/* --- barriers and copies ---------------------------------------------------------------------------------- */

DEVICE void barrier_init(u32 barrier, u32 arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

DEVICE void barrier_expect(u32 barrier, u32 bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/* In the CTA `rank` of the cluster; orders no ordinary stores between CTAs. */
DEVICE void barrier_arrive_at(u32 barrier, u32 rank)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_address(barrier, rank)) : "memory");
}

DEVICE void barrier_arrive(u32 barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

DEVICE void barrier_wait(u32 barrier, u32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra DONE;\n "
                 "bra AGAIN;\nDONE:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* Sees what the cluster has sent here. */
DEVICE void barrier_wait_cluster(u32 barrier, u32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 " @p bra DONE;\n bra AGAIN;\nDONE:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* The consumers alone. */
DEVICE void consumers_meet()
{
    asm volatile("barrier.sync 2, %0;" ::"n"(CONSUMER_THREADS) : "memory");
}

/* `policy` 0: none. */
DEVICE void bulk_copy(u32 to, const u16 *from, u32 bytes, u32 barrier, u64 policy)
{
    if (policy) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
                     "[%3], %4;" ::"r"(to),
                     "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
                     : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
            "l"(from), "r"(bytes), "r"(barrier)
            : "memory");
    }
}

DEVICE u64 weights_policy()
{
    u64 policy = 0;
#if EVICT
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

/* The same place and barrier of every CTA of the cluster. */
DEVICE void bulk_copy_to_all(u32 to, const u16 *from, u32 bytes, u32 barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
                 "[%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "h"((u16)((1 << SHARE) - 1))
                 : "memory");
}

/* --- producer --------------------------------------------------------------------------------------------- */

/* Weights of a place, and what the stage waits for. By one whole warp. */
DEVICE void copy_weights(const struct work &w, int stage, const struct place &p)
{
    const u32 to = w.ring + (u32)(stage * STAGE_BYTES), full = w.full + stage * 8;
    const int k = p.step * BK, length = bulk_inside(k, BK, w.k), columns = larger(bulk_inside(p.col, BN, w.n), 0);
    const int rows = LAYOUT_TN || columns == 0 ? columns : length, elements = LAYOUT_TN ? length : columns;
    const u64 policy = weights_policy();
    if (w.lane == 0) {
        barrier_expect(full, (u32)(rows * elements + w.m * length) * 2);
    }
    __syncwarp();
#pragma unroll 1
    for (int row = w.lane; row < rows; row += 32) {
        const u16 *from = LAYOUT_TN ? w.b + (i64)(p.col + row) * w.k + k : w.b + (i64)(k + row) * w.n + p.col;
        bulk_copy(to + (u32)bulk_place(row, 0, W_ELEMENTS), from, (u32)elements * 2, full, policy);
    }
    __syncwarp();
}

/* Tokens of a place: with SHARE every SHARE-th row, for all CTAs of the cluster. By one whole warp. */
DEVICE void copy_tokens(const struct work &w, int stage, const struct place &p)
{
    const u32 to = w.ring + (u32)(stage * STAGE_BYTES + W_BYTES), full = w.full + stage * 8;
    const int k = p.step * BK, rank = SHARE > 1 ? (int)blockIdx.y % SHARE : 0;
    const u32 bytes = (u32)bulk_inside(k, BK, w.k) * 2;
#pragma unroll 1
    for (int row = rank + w.lane * SHARE; row < w.m; row += 32 * SHARE) {
        const u16 *from = w.a + (i64)row * w.k + k;
#if SHARE > 1
        bulk_copy_to_all(to + (u32)bulk_place(row, 0, BK), from, bytes, full);
#else
        bulk_copy(to + (u32)bulk_place(row, 0, BK), from, bytes, full, 0);
#endif
    }
    __syncwarp();
}

#if SHARE > 1
/* Weights of the first stages, which need this CTA alone, while its peers' barriers may be missing; then tokens for
 * all. Returns how many stages. */
DEVICE int fill_ahead(const struct work &w, struct place &p)
{
    struct place tokens = p;
    int filled = 0;
#pragma unroll 1
    for (; filled < 2 && is_there(w, p); ++filled, next_step(w, p)) {
        copy_weights(w, filled, p);
    }
    cluster_wait();
#pragma unroll 1
    for (int s = 0; s < filled; ++s, next_step(w, tokens)) {
        copy_tokens(w, s, tokens);
    }
    return filled;
}
#else
DEVICE int fill_ahead(const struct work &, struct place &)
{
    return 0;
}
#endif

/* Empty stages first, then each as it is handed back. */
DEVICE void produce(const struct work &w)
{
    struct place p = first_place(w);
#pragma unroll 1
    for (int s = fill_ahead(w, p); s < STAGES && is_there(w, p); ++s, next_step(w, p)) {
        copy_weights(w, s, p);
        copy_tokens(w, s, p);
    }
    struct ring r = {0, 0};
#pragma unroll 1
    for (; is_there(w, p); next_step(w, p), advance(r)) {
        barrier_wait(w.empty + r.stage * 8, r.parity);
        copy_weights(w, r.stage, p);
        copy_tokens(w, r.stage, p);
    }
}

/* --- products --------------------------------------------------------------------------------------------- */

DEVICE void ldmatrix2(u32 (&r)[2], u32 address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(address)
                 : "memory");
}

/* The m16 x k16 fragment of weights from `n` of the tile on, step s of 16 k. */
DEVICE void load_weights(u32 (&r)[4], u32 stage, int lane, int n, int s)
{
#if LAYOUT_TN
    ldmatrix4(r, stage + (u32)bulk_place(n + decode_tall_row(lane), s * 2 + decode_tall_chunk(lane), W_ELEMENTS));
#else
    ldmatrix4_transposed(
        r, stage + (u32)bulk_place(s * 16 + decode_wide_row(lane), n / 8 + decode_wide_chunk(lane), W_ELEMENTS));
#endif
}

/* Step s of 16 k of a stage. */
DEVICE void multiply_step(float (&acc)[NT][MT][4], const struct work &w, u32 stage, int n, int s)
{
    u32 weights[NT][4];
#pragma unroll
    for (int j = 0; j < NT; ++j) {
        load_weights(weights[j], stage, w.lane, n + j * 16, s);
    }
#pragma unroll
    for (int i = 0; i + 1 < MT; i += 2) {
        u32 tokens[4]; /* two m8 tiles, the halves of k16 of each */
        ldmatrix4(tokens, stage + W_BYTES +
                              (u32)bulk_place(i * 8 + decode_wide_row(w.lane), s * 2 + decode_wide_chunk(w.lane), BK));
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            mma_wide(acc[j][i], weights[j], tokens[0], tokens[1]);
            mma_wide(acc[j][i + 1], weights[j], tokens[2], tokens[3]);
        }
    }
#if MT % 2
    u32 last[2];
    ldmatrix2(last, stage + W_BYTES + (u32)bulk_place((MT - 1) * 8 + w.lane % 8, s * 2 + w.lane / 8 % 2, BK));
#pragma unroll
    for (int j = 0; j < NT; ++j) {
        mma_wide(acc[j][MT - 1], weights[j], last[0], last[1]);
    }
#endif
}

/* A stage may be filled again when this warp, and all others that have its tokens, are done with it. */
DEVICE void release(const struct work &w, int stage)
{
#if SHARE > 1
    if (w.lane < SHARE) {
        barrier_arrive_at(w.empty + stage * 8, (u32)w.lane);
    }
#else
    if (w.lane == 0) {
        barrier_arrive(w.empty + stage * 8);
    }
#endif
}

DEVICE void multiply_share(float (&acc)[NT][MT][4], const struct work &w, struct ring &r)
{
    const int slice = w.warp / WARPS_N, n = w.warp % WARPS_N * NT * 16;
#pragma unroll 1
    for (int step = w.first; step < w.last; ++step) {
        const int length = bulk_inside(step * BK, BK, w.k);
        const u32 stage = w.ring + (u32)(r.stage * STAGE_BYTES);
        barrier_wait(w.full + r.stage * 8, r.parity);
#pragma unroll
        for (int s = 0; s < BK / 16; s += SLICES) {
            if ((s + slice) * 16 < length) {
                multiply_step(acc, w, stage, n, s + slice);
            }
        }
        __syncwarp();
        release(w, r.stage);
        advance(r);
    }
}

/* --- sums and C ------------------------------------------------------------------------------------------- */

DEVICE void leave_sums(const float (&acc)[NT][MT][4], const struct work &w)
{
    const u32 sums = w.sums + (u32)(w.warp / WARPS_N * SLICE_FLOATS * 4);
    const int n = w.warp % WARPS_N * NT * 16;
#pragma unroll
    for (int j = 0; j < NT; ++j) {
#pragma unroll
        for (int i = 0; i < MT; ++i) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int weight = n + j * 16 + decode_weight_of(w.lane, e);
                const int token = i * 8 + decode_token_of(w.lane, e);
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(sums + (u32)decode_sum_at(token, weight, BN) * 4),
                             "f"(acc[j][i][e])
                             : "memory");
            }
        }
    }
}

DEVICE void add(float4 &sum, float4 v)
{
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}

/* Quad u of the tile over the CTA's slices, in their order. */
DEVICE float4 sum_of_slices(const struct work &w, int u)
{
    const u32 at = w.sums + (u32)decode_sum_at(u / (BN / 4), u % (BN / 4) * 4, BN) * 4;
    float4 sum = load_shared16f(at);
#pragma unroll
    for (int s = 1; s < SLICES; ++s) {
        add(sum, load_shared16f(at + s * SLICE_FLOATS * 4));
    }
    return sum;
}

DEVICE void store_quad(const struct work &w, int col, int u, float4 v)
{
    const int at = col + u % (BN / 4) * 4;
    u16 *to = w.c + (i64)(u / (BN / 4)) * w.n + at;
    if (w.n % 4 == 0) {
        if (at < w.n) {
            store_global8(to, make_uint2(pack2(v.x, v.y), pack2(v.z, v.w)));
        }
        return;
    }
    const float e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (at + i < w.n) {
            to[i] = pack1(e[i]);
        }
    }
}

#if SPLIT_K > 1
/* To where quad u is stored; the bytes count there. */
DEVICE void send_quad(const struct work &w, int u, float4 v)
{
    const u32 owner = (u32)bulk_owner(u, SPLIT_K);
    const u32 to = w.sent + (u32)(w.rank * PLACES + bulk_own_place(u, SPLIT_K)) * 16;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
                     cluster_address(to, owner)),
                 "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(cluster_address(w.arrived, owner))
                 : "memory");
}

/* The CTA's own quads, when all shares of K have come, in their order. Nobody waits for whoever sent them, and a CTA is
 * there until all that is sent to it has come. */
DEVICE void store_own(const struct work &w, int col, int tid)
{
    const int own = bulk_own_quads(w.rank, SPLIT_K, w.m * (BN / 4));
    barrier_wait_cluster(w.arrived, 0);
    for (int place = tid; place < own; place += CONSUMER_THREADS) {
        const u32 at = w.sent + (u32)place * 16;
        float4 sum = load_shared16f(at);
#pragma unroll
        for (int r = 1; r < SPLIT_K; ++r) {
            add(sum, load_shared16f(at + r * PLACES * 16));
        }
        store_quad(w, col, bulk_quad(place, w.rank, SPLIT_K), sum);
    }
}
#endif

DEVICE void finish_tile(const struct work &w, int col, int tid)
{
    const int quads = w.m * (BN / 4);
#if SPLIT_K > 1
    cluster_wait(); /* everybody's barrier is there */
    for (int u = tid; u < quads; u += CONSUMER_THREADS) {
        send_quad(w, u, sum_of_slices(w, u));
    }
    store_own(w, col, tid);
#else
    for (int u = tid; u < quads; u += CONSUMER_THREADS) {
        store_quad(w, col, u, sum_of_slices(w, u));
    }
#endif
}

DEVICE void consume(const struct work &w, int tid)
{
    struct ring r = {0, 0};
#if SHARE > 1
    cluster_wait();
#endif
    for (int col = first_place(w).col; is_tile(w, col); col += (int)gridDim.y * BN) {
        float acc[NT][MT][4] = {};
        multiply_share(acc, w, r);
        leave_sums(acc, w);
        consumers_meet();
        finish_tile(w, col, tid);
        consumers_meet(); /* the next tile's sums lie where these do */
    }
}

/* --- the kernel ------------------------------------------------------------------------------------------- */

/* By one thread. What the cluster sends is known beforehand. */
DEVICE void make_barriers(const struct work &w)
{
    for (int s = 0; s < STAGES; ++s) {
        barrier_init(w.full + s * 8, 1);
        barrier_init(w.empty + s * 8, CONSUMERS * SHARE);
    }
#if SPLIT_K > 1
    barrier_init(w.arrived, 1);
#endif
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#if SPLIT_K > 1
    barrier_expect(w.arrived, (u32)(bulk_own_quads(w.rank, SPLIT_K, w.m * (BN / 4)) * SPLIT_K * 16));
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    extern __shared__ __align__(128) unsigned char smem[];
    const int tid = (int)threadIdx.x, rank = (int)blockIdx.z, steps = (k + BK - 1) / BK;
    const u32 base = shared_address(smem), sums = base + BARRIER_BYTES, sent = sums + SUM_BYTES;
    const struct work w = {a,
                           b,
                           c,
                           m,
                           n,
                           k,
                           decode_share(rank, SPLIT_K, steps),
                           decode_share(rank + 1, SPLIT_K, steps),
                           base,
                           base + STAGES * 8,
                           base + STAGES * 16,
                           sums,
                           sent,
                           sent + SENT_BYTES,
                           rank,
                           tid % 32,
                           __shfl_sync(~0u, tid / 32, 0)};
    if (w.warp == CONSUMERS) {
        if (w.lane == 0) {
            make_barriers(w);
        }
        __syncwarp();
        asm volatile("barrier.arrive 1, %0;" ::"n"(THREADS) : "memory");
#if CLUSTER > 1
        cluster_arrive();
#endif
        await_grid_ahead();
        produce(w);
#if SPLIT_K > 1
        cluster_wait();
#endif
    } else {
        asm volatile("barrier.sync 1, %0;" ::"n"(THREADS) : "memory");
#if CLUSTER > 1
        cluster_arrive();
#endif
        await_grid_ahead();
        consume(w, tid);
    }
#if SHARE > 1
    __syncwarp();
    cluster_arrive(); /* a CTA is there until its peers have copied to it and handed back all that they share */
    cluster_wait();
#endif
}
