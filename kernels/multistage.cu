/*
 * multistage.cu - F2: the sm_80 kernel: cp.async stages in shared memory, ldmatrix, mma.sync.
 *
 * Every technique of the paper's section 5 is a parameter:
 *   BM, BN, BK        tile; BM and BN any multiple of the warps' share (96, 160, 192 too), BK 16 .. 128
 *   WARPS_M, WARPS_N  the CTA's warps over the tile
 *   STAGES, PREFETCH  shared-memory stages, and how many of them are loaded ahead (0: STAGES - 1)
 *   SWIZZLE           1: 16-byte chunks of a row XORed so that eight rows of a fragment touch all banks;
 *                     0: rows padded by PAD elements instead (8: without bank conflicts)
 *   RASTER            tiles are walked in columns RASTER tiles wide (block swizzle), 1: row by row
 *   REGISTERS         1 or 2 fragment buffers: with 2 the next k16 step is read while this one multiplies
 *   STAGGER           1: the copies of A are issued at the first k16 step of a stage, those of B halfway through
 *   EPILOGUE          0: 4-byte stores from the fragments; 1: through shared memory, 16-byte stores;
 *                     2: the same written by stmatrix
 *   SPLIT_K, REDUCE   CTAs sharing a tile; REDUCE 0: partial sums in the workspace, the last CTA to arrive adds them
 *                     in a fixed order; 1: the CTAs are a cluster and add through distributed shared memory
 *   EARLY             1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here)
 *
 * Rows past the end of a matrix are read as its last row and never stored; k past the end is zero-filled by the copy.
 */
#include "common.cuh"

#define WARPS (WARPS_M * WARPS_N)
#define THREADS (WARPS * 32)
#define WM (BM / WARPS_M)
#define WN (BN / WARPS_N)
#define MT (WM / 16)
#define NT (WN / 8)
#define KS (BK / 16)
#define AHEAD (PREFETCH ? PREFETCH : STAGES - 1)

/* Rows of the B tile in shared memory: n for TN, k for NN. */
#if LAYOUT_TN
#define B_ROWS BN
#define B_ELEMENTS BK
#else
#define B_ROWS BK
#define B_ELEMENTS BN
#endif

/* The tile of ROWS x ELEMENTS in shared memory, in 16-byte chunks. */
template <int ROWS, int ELEMENTS> struct tile {
    static constexpr int chunks = ELEMENTS / 8;
    static constexpr int stride = chunks * 16 + (SWIZZLE ? 0 : PAD * 2);
    static constexpr int bytes = ROWS * stride;
    /* The largest power of two in `chunks`, at most 8: so many chunks of a row can trade places. */
    static constexpr int group = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
    static constexpr int total = ROWS * chunks;
    static constexpr int rounds = (total + THREADS - 1) / THREADS;

    static __device__ __forceinline__ u32 offset(int row, int chunk)
    {
        const int place = SWIZZLE ? chunk ^ (row / (8 / group) & (group - 1)) : chunk;
        return (u32)(row * stride + place * 16);
    }
};

typedef tile<BM, BK> tile_a;
typedef tile<B_ROWS, B_ELEMENTS> tile_b;
#define STAGE_BYTES (tile_a::bytes + tile_b::bytes)

#if WIDE_ACCUMULATOR
typedef float accumulator[4];
#define MMA mma_wide
#else
typedef u32 accumulator[2];
#define MMA mma_narrow
#endif

struct work {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int row0, col0;     /* of the tile */
    int k_begin, k_end; /* this CTA's share of k */
    int tile;
    u32 shared;
    int tid, lane, warp_row, warp_col; /* warp's corner inside the tile */
};

/* --- global to shared ------------------------------------------------------------------------------------- */

DEVICE void copy_a(const struct work &w, int stage, int k)
{
    const u32 to = w.shared + stage * STAGE_BYTES;
#pragma unroll
    for (int i = 0; i < tile_a::rounds; ++i) {
        const int at = w.tid + i * THREADS, row = at / tile_a::chunks, chunk = at % tile_a::chunks;
        if (tile_a::total % THREADS == 0 || at < tile_a::total) {
            const int kk = k + chunk * 8;
            const u16 *from = w.a + (i64)smaller(w.row0 + row, w.m - 1) * w.k;
            copy_async16(to + tile_a::offset(row, chunk), from + (kk < w.k_end ? kk : 0), kk < w.k_end ? 16 : 0);
        }
    }
}

DEVICE void copy_b(const struct work &w, int stage, int k)
{
    const u32 to = w.shared + stage * STAGE_BYTES + tile_a::bytes;
#pragma unroll
    for (int i = 0; i < tile_b::rounds; ++i) {
        const int at = w.tid + i * THREADS, row = at / tile_b::chunks, chunk = at % tile_b::chunks;
        if (tile_b::total % THREADS == 0 || at < tile_b::total) {
#if LAYOUT_TN
            const int kk = k + chunk * 8;
            const u16 *from = w.b + (i64)smaller(w.col0 + row, w.n - 1) * w.k;
            copy_async16(to + tile_b::offset(row, chunk), from + (kk < w.k_end ? kk : 0), kk < w.k_end ? 16 : 0);
#else
            const int kk = k + row, col = w.col0 + chunk * 8;
            const bool inside = kk < w.k_end && col < w.n;
            copy_async16(to + tile_b::offset(row, chunk), w.b + (inside ? (i64)kk * w.n + col : 0), inside ? 16 : 0);
#endif
        }
    }
}

/* --- shared memory to registers --------------------------------------------------------------------------- */

struct fragments {
    u32 a[MT][4];
    u32 b[(NT + 1) / 2][4]; /* two n8 tiles each */
};

DEVICE void read_fragments(struct fragments &f, const struct work &w, int stage, int ks)
{
    const u32 a = w.shared + stage * STAGE_BYTES, b = a + tile_a::bytes;
    const int lane = w.lane;
#pragma unroll
    for (int i = 0; i < MT; ++i) {
        ldmatrix4(f.a[i], a + tile_a::offset(w.warp_row + i * 16 + lane % 16, ks * 2 + lane / 16));
    }
#pragma unroll
    for (int j = 0; j < NT / 2; ++j) {
#if LAYOUT_TN
        const int row = w.warp_col + j * 16 + lane % 8 + lane / 16 * 8;
        ldmatrix4(f.b[j], b + tile_b::offset(row, ks * 2 + lane / 8 % 2));
#else
        const int chunk = w.warp_col / 8 + j * 2 + lane / 16;
        ldmatrix4_transposed(f.b[j], b + tile_b::offset(ks * 16 + lane % 16, chunk));
#endif
    }
}

DEVICE void multiply(accumulator (&acc)[MT][NT], const struct fragments &f)
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int jj = 0; jj < NT; ++jj) {
            const int j = i % 2 ? NT - 1 - jj : jj; /* back and forth: the B fragment at the turn is still at hand */
            MMA(acc[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
        }
    }
}

/* --- the main loop ---------------------------------------------------------------------------------------- */

struct pipeline {
    int k, write, read; /* k of the next copy; stage it goes to; stage being multiplied */
};

DEVICE int next_stage(int stage)
{
    return stage + 1 == STAGES ? 0 : stage + 1;
}

/* The copies due at k16 step ks of a stage: all at step 0, or B's halfway through. */
DEVICE void copy_step(const struct work &w, struct pipeline &p, int ks)
{
    const int b_step = STAGGER ? KS / 2 : 0;
    if (ks == 0 && p.k < w.k_end) {
        copy_a(w, p.write, p.k);
    }
    if (ks == b_step) {
        if (p.k < w.k_end) {
            copy_b(w, p.write, p.k);
        }
        copy_async_commit();
        p.k += BK;
        p.write = next_stage(p.write);
    }
}

DEVICE void main_loop(const struct work &w, accumulator (&acc)[MT][NT])
{
    struct pipeline p = {w.k_begin, 0, 0};
    struct fragments f[REGISTERS];
#pragma unroll
    for (int s = 0; s < AHEAD; ++s) {
        if (p.k < w.k_end) {
            copy_a(w, s, p.k);
            copy_b(w, s, p.k);
        }
        copy_async_commit();
        p.k += BK;
    }
    p.write = AHEAD;
    copy_async_wait<AHEAD - 1>();
    __syncthreads();
#if REGISTERS == 2
    read_fragments(f[0], w, 0, 0);
#endif
    for (int k = w.k_begin; k < w.k_end; k += BK) {
#pragma unroll
        for (int ks = 0; ks < KS; ++ks) {
#if REGISTERS == 2
            if (ks == KS - 1) {
                /* Once this stage's copies are all committed, the next stage may be waited for. */
                copy_step(w, p, ks);
                copy_async_wait<AHEAD - 1>();
                __syncthreads();
                p.read = next_stage(p.read);
                read_fragments(f[(ks + 1) % 2], w, p.read, 0);
            } else {
                read_fragments(f[(ks + 1) % 2], w, p.read, ks + 1);
                copy_step(w, p, ks);
            }
#else
            read_fragments(f[0], w, p.read, ks);
            copy_step(w, p, ks);
#endif
            multiply(acc, f[REGISTERS == 2 ? ks % 2 : 0]);
        }
#if REGISTERS == 1
        copy_async_wait<AHEAD - 1>();
        __syncthreads();
        p.read = next_stage(p.read);
#endif
    }
    copy_async_wait<0>();
    __syncthreads();
}

/* --- results ---------------------------------------------------------------------------------------------- */

/* The packed pair of row half h. */
DEVICE u32 packed(const accumulator &acc, int h)
{
#if WIDE_ACCUMULATOR
    return pack2(acc[2 * h], acc[2 * h + 1]);
#else
    return acc[h];
#endif
}

DEVICE float4 widened(const accumulator &acc)
{
    float4 v;
#if WIDE_ACCUMULATOR
    v = make_float4(acc[0], acc[1], acc[2], acc[3]);
#else
    unpack_f16x2(acc[0], v.x, v.y);
    unpack_f16x2(acc[1], v.z, v.w);
#endif
    return v;
}

DEVICE void store_pair(const struct work &w, int i, int j, int h, u32 pair)
{
    const int row = w.row0 + w.warp_row + i * 16 + h * 8 + w.lane / 4;
    const int col = w.col0 + w.warp_col + j * 8 + w.lane % 4 * 2;
    if (row < w.m && col < w.n) {
        store_global4(w.c + (i64)row * w.n + col, pair);
    }
}

#define STAGED (BN + 8) /* elements of a row of C in shared memory: an odd number of 16-byte chunks */

DEVICE void stage_tile(const struct work &w, const accumulator (&acc)[MT][NT])
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#if EPILOGUE == 2
#pragma unroll
        for (int j = 0; j < NT; j += 2) {
            const int row = w.warp_row + i * 16 + w.lane % 16, col = w.warp_col + j * 8 + w.lane / 16 * 8;
            stmatrix4(w.shared + (u32)(row * STAGED + col) * 2, packed(acc[i][j], 0), packed(acc[i][j], 1),
                      packed(acc[i][j + 1], 0), packed(acc[i][j + 1], 1));
        }
#else
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            const int row = w.warp_row + i * 16 + w.lane / 4, col = w.warp_col + j * 8 + w.lane % 4 * 2;
            store_shared4(w.shared + (u32)(row * STAGED + col) * 2, packed(acc[i][j], 0));
            store_shared4(w.shared + (u32)((row + 8) * STAGED + col) * 2, packed(acc[i][j], 1));
        }
#endif
    }
}

DEVICE void store_tile(const struct work &w, const accumulator (&acc)[MT][NT])
{
#if EPILOGUE == 0
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            store_pair(w, i, j, 0, packed(acc[i][j], 0));
            store_pair(w, i, j, 1, packed(acc[i][j], 1));
        }
    }
#else
    const int chunks = BN / 8;
    stage_tile(w, acc);
    __syncthreads();
#pragma unroll 4
    for (int at = w.tid; at < BM * chunks; at += THREADS) {
        const int row = at / chunks, col = at % chunks * 8;
        if (w.row0 + row < w.m && w.col0 + col < w.n) {
            store_global16(w.c + (i64)(w.row0 + row) * w.n + w.col0 + col,
                           load_shared16(w.shared + (u32)(row * STAGED + col) * 2));
        }
    }
#endif
}

/* --- split K ---------------------------------------------------------------------------------------------- */

#define FRAGMENTS (MT * NT)

DEVICE void add(float4 &to, float4 v)
{
    to.x += v.x, to.y += v.y, to.z += v.z, to.w += v.w;
}

DEVICE void store_fragment(const struct work &w, int f, float4 v)
{
    store_pair(w, f / NT, f % NT, 0, pack2(v.x, v.y));
    store_pair(w, f / NT, f % NT, 1, pack2(v.z, v.w));
}

#if SPLIT_K > 1 && REDUCE == 1
/* Fragment f belongs to CTA f % SPLIT_K of the cluster; the piece from CTA r lands in slot r of its owner. */
DEVICE void reduce(const struct work &w, const accumulator (&acc)[MT][NT])
{
    const int owned = (FRAGMENTS + SPLIT_K - 1) / SPLIT_K;
    const u32 rank = cluster_rank(), lane_at = w.shared + w.tid * 16;
    cluster_arrive(); /* no CTA of the cluster reads its stages any more */
    cluster_wait();
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        const u32 slot = lane_at + (rank * owned + f / SPLIT_K) * (THREADS * 16);
        store_cluster16f(cluster_address(slot, f % SPLIT_K), widened(acc[f / NT][f % NT]));
    }
    cluster_arrive();
    cluster_wait();
    for (int f = (int)rank; f < FRAGMENTS; f += SPLIT_K) {
        float4 part[SPLIT_K];
#pragma unroll
        for (int r = 0; r < SPLIT_K; ++r) {
            part[r] = load_shared16f(lane_at + (r * owned + f / SPLIT_K) * (THREADS * 16));
        }
#pragma unroll
        for (int r = 1; r < SPLIT_K; ++r) {
            add(part[0], part[r]);
        }
        store_fragment(w, f, part[0]);
    }
}
#elif SPLIT_K > 1
#define MAX_TILES 8192 /* the manifest refuses more */

/* How many CTAs of a tile have left their partial sums; zero again when the tile is done. */
__device__ u32 arrivals[MAX_TILES];

DEVICE void reduce(const struct work &w, const accumulator (&acc)[MT][NT], float4 *workspace)
{
    float4 *mine = workspace + ((i64)w.tile * SPLIT_K + blockIdx.z) * (FRAGMENTS * THREADS) + w.tid;
    __shared__ bool last;
#pragma unroll
    for (int f = 0; f < FRAGMENTS; ++f) {
        mine[f * THREADS] = widened(acc[f / NT][f % NT]);
    }
    __threadfence();
    __syncthreads();
    if (w.tid == 0) {
        last = atomicAdd(&arrivals[w.tile], 1u) == SPLIT_K - 1;
    }
    __syncthreads();
    if (!last) {
        return;
    }
    if (w.tid == 0) {
        arrivals[w.tile] = 0;
    }
    __threadfence();
    const float4 *all = workspace + (i64)w.tile * SPLIT_K * (FRAGMENTS * THREADS) + w.tid;
    for (int f = 0; f < FRAGMENTS; ++f) {
        float4 part[SPLIT_K];
#pragma unroll
        for (int r = 0; r < SPLIT_K; ++r) {
            part[r] = __ldcg(&all[(r * FRAGMENTS + f) * THREADS]);
        }
#pragma unroll
        for (int r = 1; r < SPLIT_K; ++r) {
            add(part[0], part[r]);
        }
        store_fragment(w, f, part[0]);
    }
}
#endif

/* Tiles are walked row by row inside columns RASTER tiles wide. */
DEVICE void place_tile(struct work &w)
{
    const int rows = (w.m + BM - 1) / BM, cols = (w.n + BN - 1) / BN;
    const int first = w.tile / (RASTER * rows) * RASTER, within = w.tile % (RASTER * rows);
    const int width = smaller(RASTER, cols - first);
    w.row0 = within / width * BM;
    w.col0 = (first + within % width) * BN;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k, float4 *workspace)
{
    extern __shared__ __align__(128) unsigned char smem[];
    struct work w;
    accumulator acc[MT][NT] = {};
    w.a = a, w.b = b, w.c = c, w.m = m, w.n = n, w.k = k;
    w.shared = shared_address(smem);
    w.tid = (int)threadIdx.x, w.lane = w.tid % 32;
    w.warp_row = w.tid / 32 / WARPS_N * WM, w.warp_col = w.tid / 32 % WARPS_N * WN;
    w.tile = (int)blockIdx.x;
    place_tile(w);
    const int steps = (k + BK - 1) / BK;
    w.k_begin = steps * (int)blockIdx.z / SPLIT_K * BK;
    w.k_end = smaller(steps * ((int)blockIdx.z + 1) / SPLIT_K * BK, k);
    await_grid_ahead();
    main_loop(w, acc);
#if SPLIT_K == 1
    (void)workspace;
    store_tile(w, acc);
#elif REDUCE == 1
    (void)workspace;
    reduce(w, acc);
#else
    reduce(w, acc, workspace);
#endif
}
