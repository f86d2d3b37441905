/*
 * decode.cu - F5: few tokens and many weights, and sizes that no copy engine takes.
 *
 * The roles are turned: the product's 16 rows are columns of C (weights of B), its 8 columns are rows of C (tokens, M).
 * So 16 tokens waste nothing, and each weight is read once by a CTA that has all tokens of a tile.
 *
 *   copies   --> ring of STAGES in shared memory (weights BN x BK, tokens BM x BK) --> ldmatrix --> mma.sync m16n8k16
 *   SPLIT_K CTAs of a cluster share K; each leaves its sums in its shared memory, and adds and stores a part of the
 * tile from all of them, in the order of K. One launch, no workspace, no counters.
 *
 * Parameters: BM tokens, BN weights, BK, STAGES, WARPS (side by side over the weights), SPLIT_K, MIN_BLOCKS;
 *   ALIGN  elements that one copy brings: 8, 4, 2 by cp.async; 1: through registers, two elements a load where the row
 *          begins at an odd one as well (any K, and any N)
 *   EARLY  1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here)
 *
 * Sums are fp32. Rows past the end of a matrix and k past its end are zero and not read. Without clusters (before
 * sm_90) SPLIT_K is 1.
 */
#include "common.cuh"
#include "decode.cuh"

#define THREADS (WARPS * 32)
#define MT (BM / 8)            /* m8 tiles of tokens */
#define NT (BN / (16 * WARPS)) /* m16 tiles of weights a warp */
#define K_CHUNKS (BK / 8)

/* Rows of the tile of weights in shared memory: n for TN, k for NN. */
#if LAYOUT_TN
#define W_ROWS BN
#define W_CHUNKS K_CHUNKS
#else
#define W_ROWS BK
#define W_CHUNKS (BN / 8)
#endif

#define W_BYTES (W_ROWS * W_CHUNKS * 16)
#define STAGE_BYTES (W_BYTES + BM * K_CHUNKS * 16)
#define W_ROUNDS (W_ROWS * W_CHUNKS / THREADS)
#define A_TOTAL (BM * K_CHUNKS)
#define A_ROUNDS ((A_TOTAL + THREADS - 1) / THREADS)

struct work {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int row0, col0; /* of the tile */
    u32 shared;
    int tid, lane, warp;
};

/* --- global to shared memory ------------------------------------------------------------------------------ */

/* Where chunk `at` of a stage comes from and goes to: a row of a matrix from element `from` on, of which `inside` are
 * there. */
struct chunk {
    const u16 *from;
    int inside;
    u32 to;
};

DEVICE struct chunk weights_chunk(const struct work &w, int round, int stage, int k)
{
    const int at = w.tid + round * THREADS, row = at / W_CHUNKS, part = at % W_CHUNKS;
    struct chunk c;
#if LAYOUT_TN
    const int col = w.col0 + row, first = k + part * 8;
    c.inside = col < w.n ? decode_inside(first, w.k) : 0;
    c.from = w.b + (c.inside ? (i64)col * w.k + first : 0);
#else
    const int kk = k + row, first = w.col0 + part * 8;
    c.inside = kk < w.k ? decode_inside(first, w.n) : 0;
    c.from = w.b + (c.inside ? (i64)kk * w.n + first : 0);
#endif
    c.to = w.shared + (u32)(stage * STAGE_BYTES + decode_place(row, part, W_CHUNKS));
    return c;
}

DEVICE struct chunk tokens_chunk(const struct work &w, int round, int stage, int k)
{
    const int at = w.tid + round * THREADS, row = at / K_CHUNKS, part = at % K_CHUNKS;
    const int token = w.row0 + row, first = k + part * 8;
    struct chunk c;
    c.inside = token < w.m ? decode_inside(first, w.k) : 0;
    c.from = w.a + (c.inside ? (i64)token * w.k + first : 0);
    c.to = w.shared + (u32)(stage * STAGE_BYTES + W_BYTES + decode_place(row, part, K_CHUNKS));
    return c;
}

DEVICE bool has_tokens_chunk(const struct work &w, int round)
{
    return A_TOTAL % THREADS == 0 || w.tid + round * THREADS < A_TOTAL;
}

#if ALIGN > 1
DEVICE void bring(const struct chunk &c)
{
#if ALIGN == 8
    copy_async16(c.to, c.from, c.inside ? 16 : 0);
#else
#pragma unroll
    for (int i = 0; i < 8; i += ALIGN) {
        const u32 bytes = i < c.inside ? ALIGN * 2 : 0;
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(c.to + i * 2), "l"(c.from + (bytes ? i : 0)),
                     "n"(ALIGN * 2), "r"(bytes)
                     : "memory");
    }
#endif
}

DEVICE void copy_stage(const struct work &w, int stage, int k)
{
#pragma unroll
    for (int i = 0; i < W_ROUNDS; ++i) {
        bring(weights_chunk(w, i, stage, k));
    }
#pragma unroll
    for (int i = 0; i < A_ROUNDS; ++i) {
        if (has_tokens_chunk(w, i)) {
            bring(tokens_chunk(w, i, stage, k));
        }
    }
}
#else
DEVICE u32 load_global2(const u16 *p)
{
    u16 v;
    asm volatile("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(p));
    return v;
}

/* Eight elements, whatever the first one's address: two at a time from even ones, shifted where it is an odd one. What
 * is read are elements of the matrix alone: the one ahead of an odd first one is. */
DEVICE uint4 load_any8(const u16 *from, int inside)
{
    u32 e[4] = {0, 0, 0, 0};
    if (inside == 8) {
        const int odd = (int)((u64)from >> 1 & 1);
        u32 v[5];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            v[i] = load_global4(from - odd + 2 * i);
        }
        v[4] = odd ? load_global2(from + 7) : 0u;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            e[i] = odd ? __funnelshift_r(v[i], v[i + 1], 16) : v[i];
        }
    } else {
#pragma unroll
        for (int i = 0; i < 7; ++i) {
            if (i < inside) {
                e[i / 2] |= load_global2(from + i) << (i % 2 * 16);
            }
        }
    }
    return make_uint4(e[0], e[1], e[2], e[3]);
}

DEVICE void store_shared16(u32 address, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

/* A stage on its way through registers. */
struct flight {
    uint4 w[W_ROUNDS], a[A_ROUNDS];
};

DEVICE void take_off(struct flight &f, const struct work &w, int k)
{
#pragma unroll
    for (int i = 0; i < W_ROUNDS; ++i) {
        const struct chunk c = weights_chunk(w, i, 0, k);
        f.w[i] = load_any8(c.from, c.inside);
    }
#pragma unroll
    for (int i = 0; i < A_ROUNDS; ++i) {
        if (has_tokens_chunk(w, i)) {
            const struct chunk c = tokens_chunk(w, i, 0, k);
            f.a[i] = load_any8(c.from, c.inside);
        }
    }
}

DEVICE void land(const struct flight &f, const struct work &w, int stage)
{
#pragma unroll
    for (int i = 0; i < W_ROUNDS; ++i) {
        store_shared16(weights_chunk(w, i, stage, 0).to, f.w[i]);
    }
#pragma unroll
    for (int i = 0; i < A_ROUNDS; ++i) {
        if (has_tokens_chunk(w, i)) {
            store_shared16(tokens_chunk(w, i, stage, 0).to, f.a[i]);
        }
    }
}
#endif

/* --- products --------------------------------------------------------------------------------------------- */

/* The m16 x k16 fragment of weights of the warp's tile j, step s of 16 k. */
DEVICE void load_weights(u32 (&r)[4], const struct work &w, u32 stage, int j, int s)
{
    const int n = (w.warp * NT + j) * 16;
#if LAYOUT_TN
    ldmatrix4(r, stage + (u32)decode_place(n + decode_tall_row(w.lane), s * 2 + decode_tall_chunk(w.lane), W_CHUNKS));
#else
    ldmatrix4_transposed(
        r, stage + (u32)decode_place(s * 16 + decode_wide_row(w.lane), n / 8 + decode_wide_chunk(w.lane), W_CHUNKS));
#endif
}

DEVICE void multiply_stage(float (&acc)[NT][MT][4], const struct work &w, int at)
{
    const u32 stage = w.shared + (u32)(at * STAGE_BYTES);
#pragma unroll
    for (int s = 0; s < BK / 16; ++s) {
        u32 weights[NT][4];
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            load_weights(weights[j], w, stage, j, s);
        }
#pragma unroll
        for (int i = 0; i < MT; i += 2) {
            u32 tokens[4]; /* two m8 tiles, the halves of k16 of each */
            ldmatrix4(tokens, stage + W_BYTES +
                                  (u32)decode_place(i * 8 + decode_wide_row(w.lane), s * 2 + decode_wide_chunk(w.lane),
                                                    K_CHUNKS));
#pragma unroll
            for (int j = 0; j < NT; ++j) {
                mma_wide(acc[j][i], weights[j], tokens[0], tokens[1]);
                mma_wide(acc[j][i + 1], weights[j], tokens[2], tokens[3]);
            }
        }
    }
}

/* --- sums and C ------------------------------------------------------------------------------------------- */

DEVICE void leave_sums(const float (&acc)[NT][MT][4], const struct work &w)
{
#pragma unroll
    for (int j = 0; j < NT; ++j) {
#pragma unroll
        for (int i = 0; i < MT; ++i) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int weight = (w.warp * NT + j) * 16 + decode_weight_of(w.lane, e);
                const int token = i * 8 + decode_token_of(w.lane, e);
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(w.shared + (u32)decode_sum_at(token, weight, BN) * 4),
                             "f"(acc[j][i][e])
                             : "memory");
            }
        }
    }
}

#if SPLIT_K > 1
DEVICE float4 load_cluster16f(u32 address)
{
    float4 v;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}
#endif

/* Four weights of a token, over all shares of K in their order. */
DEVICE float4 sum_of(const struct work &w, int token, int weight)
{
    const u32 at = w.shared + (u32)decode_sum_at(token, weight, BN) * 4;
#if SPLIT_K > 1
    float4 part[SPLIT_K];
#pragma unroll
    for (int r = 0; r < SPLIT_K; ++r) {
        part[r] = load_cluster16f(cluster_address(at, r));
    }
    float4 sum = part[0];
#pragma unroll
    for (int r = 1; r < SPLIT_K; ++r) {
        sum.x += part[r].x, sum.y += part[r].y, sum.z += part[r].z, sum.w += part[r].w;
    }
    return sum;
#else
    return load_shared16f(at);
#endif
}

DEVICE void store_four(const struct work &w, int row, int col, float4 v)
{
    u16 *to = w.c + (i64)row * w.n + col;
    if (w.n % 4 == 0) {
        store_global8(to, make_uint2(pack2(v.x, v.y), pack2(v.z, v.w)));
        return;
    }
    const float e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (col + i < w.n) {
            to[i] = pack1(e[i]);
        }
    }
}

/* The CTA's part of the tile: every SPLIT_K-th run of THREADS quads. */
DEVICE void store_tile(const struct work &w, int rank)
{
    for (int u = rank * THREADS + w.tid; u < BM * BN / 4; u += SPLIT_K * THREADS) {
        const int token = u / (BN / 4), weight = u % (BN / 4) * 4;
        if (w.row0 + token < w.m && w.col0 + weight < w.n) {
            store_four(w, w.row0 + token, w.col0 + weight, sum_of(w, token, weight));
        }
    }
}

/* --- the kernel ------------------------------------------------------------------------------------------- */

#if ALIGN > 1
DEVICE void run_share(float (&acc)[NT][MT][4], const struct work &w, int begin, int end)
{
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (begin + s < end) {
            copy_stage(w, s, (begin + s) * BK);
        }
        copy_async_commit();
    }
    int stage = 0, next = STAGES - 1;
    for (int step = begin; step < end; ++step) {
        copy_async_wait<STAGES - 2>();
        __syncthreads(); /* the stage is there, and everybody has read the one that is filled next */
        if (step + STAGES - 1 < end) {
            copy_stage(w, next, (step + STAGES - 1) * BK);
        }
        copy_async_commit();
        multiply_stage(acc, w, stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        next = next + 1 == STAGES ? 0 : next + 1;
    }
    copy_async_wait<0>();
}
#else
/* Two stages: one is multiplied while the next is in registers. */
DEVICE void run_share(float (&acc)[NT][MT][4], const struct work &w, int begin, int end)
{
    struct flight f;
    if (begin < end) {
        take_off(f, w, begin * BK);
    }
    for (int step = begin; step < end; ++step) {
        const int stage = (step - begin) % 2;
        land(f, w, stage);
        __syncthreads();
        if (step + 1 < end) {
            take_off(f, w, (step + 1) * BK);
        }
        multiply_stage(acc, w, stage);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    extern __shared__ __align__(128) unsigned char smem[];
    const int tid = (int)threadIdx.x, rank = (int)blockIdx.z;
    const struct work w = {
        a, b, c, m, n, k, (int)blockIdx.x * BM, (int)blockIdx.y * BN, shared_address(smem), tid, tid % 32, tid / 32};
    const int steps = (k + BK - 1) / BK;
    float acc[NT][MT][4] = {};
    await_grid_ahead();
    run_share(acc, w, decode_share(rank, SPLIT_K, steps), decode_share(rank + 1, SPLIT_K, steps));
    __syncthreads(); /* sums lie over the ring */
    leave_sums(acc, w);
#if SPLIT_K > 1
    cluster_arrive();
    cluster_wait();
    store_tile(w, rank);
    cluster_arrive(); /* nobody leaves while others read his sums */
    cluster_wait();
#else
    __syncthreads();
    store_tile(w, 0);
#endif
}
