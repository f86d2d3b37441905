/*
 * direct.cu - F5: a tile a CTA and no roles; for launches that stand alone, where what takes the time is code that no
 * cache of the multiprocessor holds yet.
 *
 * Every warpgroup multiplies, and all of its threads bring what it multiplies. A launch from idle waits for each line of
 * its own code (128 bytes, eight instructions) as for data, so the way to the first copy is short, loops are not
 * unrolled, and while the copies are under way the code that comes after them is run once for nothing.
 *
 *   BM, BN       tile; GROUPS warpgroups share its rows
 *   STAGES       shared-memory stages of 64 k; while K is no longer than these, all copies are asked for at once
 *   COPIES       0: TMA, each warp brings other stages; 1: 16 bytes a thread (cp.async), which need no tensor map
 *   REHEARSE     0: nothing is run twice; 1: the stores are run once beforehand, with no row inside C; 2: products and
 *                stores are, with whatever lies in shared memory
 *   FETCH, EARLY as persistent.cu's
 */
#define ACROSS 0
#define CONSUMERS GROUPS
#define PINGPONG 0
#define CLUSTER_M 1
#define CLUSTER_N 1
#define SPLIT_K 1
#define REDUCE 0
#define PARTS 1
#define RASTER 1
#define DOWN 0
#define EVICT 0
#define STREAM 0
#define EPILOGUE 2
#include "persistent.cuh"
#include "store.cuh"

#define WARPS (GROUPS * 4)
#define STEP_THREADS (GROUPS * 128)
#define B_ROWS (LAYOUT_TN ? BN : BK)           /* of 64 elements, in a box of B */
#define B_BOXES (LAYOUT_TN ? 1 : BOXES)

struct matrices {
    const u16 *a, *b;
    int k;
};

#if COPIES == 0
/* By one thread: a stage's boxes. */
DEVICE void load_stage(const struct work &w, const struct matrices &, const struct place &p, int stage, int k)
{
    const u32 full = w.full + stage * 8;
    const u32 a = w.stages_a + stage * A_BYTES, b = w.stages_b + stage * B_BYTES;
    barrier_expect(full, A_BYTES + B_BYTES);
    tensor_load<0>(a, w.map_a, k, p.row, full);
#if LAYOUT_TN
    tensor_load<0>(b, w.map_b, k, p.col, full);
#else
#pragma unroll
    for (int j = 0; j < BOXES; ++j) {
        tensor_load<0>(b + j * BOX_BYTES, w.map_b, p.col + j * 64, k, full);
    }
#endif
}
#else
/* ROWS rows of 128 bytes into a swizzled box, by all threads; what lies outside of rows x cols is zero. */
template <int COUNT> DEVICE void load_rows(u32 to, const u16 *from, int row, int col, int rows, int cols)
{
    const int chunk = (int)threadIdx.x % 8, first = (int)threadIdx.x / 8;
    const bool inside = col + chunk * 8 < cols;
    const u16 *at = from + (i64)(row + first) * cols + col + chunk * 8;
    const u32 place = to + first * 128 + (chunk ^ (first & 7)) * 16;
#pragma unroll
    for (int i = 0; i < COUNT / (STEP_THREADS / 8); ++i) {
        const int down = i * (STEP_THREADS / 8);
        const bool is = inside && row + first + down < rows;
        copy_async16(place + down * 128, is ? at + (i64)down * cols : from, is ? 16 : 0);
    }
}

/* By all threads: each has a share of a stage, and counts towards its barrier when that has come. */
DEVICE void load_stage(const struct work &w, const struct matrices &x, const struct place &p, int stage, int k)
{
    const u32 a = w.stages_a + stage * A_BYTES, b = w.stages_b + stage * B_BYTES;
    load_rows<BM>(a, x.a, p.row, k, w.m, x.k);
#if LAYOUT_TN
    load_rows<BN>(b, x.b, p.col, k, w.n, x.k);
#else
#pragma unroll
    for (int j = 0; j < BOXES; ++j) {
        load_rows<BK>(b + j * BOX_BYTES, x.b, k, p.col + j * 64, x.k, w.n);
    }
#endif
    copy_async_arrive(w.full + stage * 8);
}
#endif

/* The barriers, and the first copies. */
DEVICE void begin(const struct work &w, const struct matrices &x, const struct place &p, int warp, int steps)
{
#if COPIES == 0
    if (elect_one()) {
        tensor_prefetch(warp % 2 ? w.map_a : w.map_b);
#pragma unroll 1
        for (int s = warp; s < STAGES; s += WARPS) {
            barrier_init(w.full + s * 8, 1);
        }
        barrier_init_fence<false>();
        await_grid_ahead();
#pragma unroll 1
        for (int s = warp; s < smaller(steps, STAGES); s += WARPS) {
            load_stage(w, x, p, s, s * BK);
        }
    }
    __syncthreads();
    await_grid_ahead(); /* by every thread */
#else
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(w.full + s * 8, STEP_THREADS);
        }
    }
    __syncthreads();
    await_grid_ahead();
#pragma unroll 1
    for (int s = 0; s < smaller(steps, STAGES); ++s) {
        load_stage(w, x, p, s, s * BK);
    }
#endif
}

DEVICE void multiply_stage(const struct work &w, accumulator &acc, int stage, int accumulate)
{
    const u32 left = w.left + stage * (LEFT_BYTES >> 4), right = w.right + stage * (RIGHT_BYTES >> 4);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
        for (int i = 0; i < MI; ++i) {
            wgmma(acc[i], wgmma_descriptor(left + ((i * BOX_BYTES + k * 32) >> 4)),
                  wgmma_descriptor(right + (k * (WG_RIGHT_TRANSPOSED ? 2048 : 32) >> 4)), accumulate || k);
        }
    }
    wgmma_commit();
}

/* When everyone is done with the step before, its stage takes what comes STAGES steps later. */
DEVICE void load_next(const struct work &w, const struct matrices &x, const struct place &p, int warp, int step)
{
    wgmma_wait<1>();
    __syncthreads();
#if COPIES == 0
    if (warp == step % WARPS && elect_one())
#endif
    {
        load_stage(w, x, p, (step - 1) % STAGES, (step - 1 + STAGES) * BK);
    }
    __syncwarp();
}

/* `real` false: for nothing. */
DEVICE void multiply(const struct work &w, const struct matrices &x, accumulator &acc, const struct place &p, bool real)
{
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    const int steps = real ? w.k_end : REHEARSE - 1;
    struct ring r = {0, 0};
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
        if (real) {
            barrier_wait(w.full + r.stage * 8, r.parity);
        }
#if COPIES == 1
        proxy_fence();
#endif
        multiply_stage(w, acc, r.stage, s);
        if (s > 0 && s - 1 + STAGES < steps) {
            load_next(w, x, p, warp, s);
        }
        advance(r);
    }
    wgmma_wait<0>();
}

extern "C" __global__ void __launch_bounds__(STEP_THREADS, MIN_BLOCKS)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b, const u16 *a, const u16 *b,
         u16 *c, int m, int n, int k)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const u32 base = (shared_address(smem) + 1023) & ~1023u;
    const struct place p = {(int)blockIdx.y * BM, (int)blockIdx.x * BN};
    const struct matrices x = {a, b, k};
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    struct work w;
    w.map_a = &map_a, w.map_b = &map_b, w.c = c, w.m = m, w.n = n;
    w.k_begin = 0, w.k_end = (k + BK - 1) / BK;
    w.stages_a = base, w.stages_b = base + STAGES * A_BYTES, w.stages_c = w.stages_b + STAGES * B_BYTES;
    w.full = w.stages_c + STAGING_BYTES;
    begin(w, x, p, warp, w.k_end);
    w.left = wgmma_descriptor_low(w.stages_a + warp / 4 * ROWS * BK * 2, 16);
    w.right = wgmma_descriptor_low(w.stages_b, WG_RIGHT_TRANSPOSED ? BOX_BYTES : 16);
    accumulator acc;
    u32 boxes = 0;
#pragma unroll 1
    for (int pass = REHEARSE ? 0 : 1; pass < 2; ++pass) {
        multiply(w, x, acc, p, pass);
        w.m = pass ? m : 0;
        store_tile(w, acc, p, warp / 4, boxes);
    }
}
