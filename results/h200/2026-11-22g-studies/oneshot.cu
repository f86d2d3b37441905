/* A tile a CTA, K of at most STAGES * 64, TN: no roles, all copies at once. LOADS 0: TMA, 1: cp.async. */
#include "persistent.cuh"
#include "store.cuh"
#ifndef STAMPS
#define STAMPS 0
#endif
#define STAMP(i) if (STAMPS && threadIdx.x == 0) ((long long *)workspace)[(blockIdx.y * gridDim.x + blockIdx.x) * 8 + (i)] = clock64()
DEVICE void multiply_stage(const struct work &w, accumulator &acc, int stage, int accumulate)
{
    const u32 left = w.left + stage * (LEFT_BYTES >> 4), right = w.right + stage * (RIGHT_BYTES >> 4);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
        for (int i = 0; i < MI; ++i) {
            wgmma(acc[i], wgmma_descriptor(left + ((i * BOX_BYTES + k * 32) >> 4)),
                  wgmma_descriptor(right + (k * 32 >> 4)), accumulate || k);
        }
    }
    wgmma_commit();
}
extern "C" __global__ void __launch_bounds__(128, MIN_BLOCKS)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_c, const __grid_constant__ TensorMap map_narrow, u16 *c, int m, int n,
         int k, float4 *workspace, const u16 *a, const u16 *b)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    STAMP(0);
    const u32 base = (shared_address(smem) + 1023) & ~1023u;
    const int stages = (k + BK - 1) / BK;
    struct work w;
    w.map_a = &map_a, w.map_b = &map_b, w.map_c = &map_c, w.map_narrow = &map_narrow;
    w.c = c, w.m = m, w.n = n;
    w.stages_a = base, w.stages_b = base + STAGES * A_BYTES, w.stages_c = w.stages_b + STAGES * B_BYTES;
    w.full = w.stages_c + STAGING_BYTES;
    const struct place p = {(int)blockIdx.y * BM, (int)blockIdx.x * BN};
    const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0);
    accumulator acc;
#if LOADS == 0
    if (warp == 0 && elect_one()) {
#if PREFETCH
        tensor_prefetch(w.map_a);
        tensor_prefetch(w.map_b);
#endif
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(w.full + s * 8, 1);
        }
        barrier_init_fence<false>();
        for (int s = 0; s < stages; ++s) {
            barrier_expect(w.full + s * 8, A_BYTES + B_BYTES);
            tensor_load<0>(w.stages_a + s * A_BYTES, w.map_a, s * BK, p.row, w.full + s * 8);
            tensor_load<0>(w.stages_b + s * B_BYTES, w.map_b, s * BK, p.col, w.full + s * 8);
        }
    }
    STAMP(2);
    __syncthreads();
    STAMP(3);
    w.left = wgmma_descriptor_low(w.stages_a, 16), w.right = wgmma_descriptor_low(w.stages_b, 16);
    for (int s = 0; s < stages; ++s) {
        barrier_wait(w.full + s * 8, 0);
        if (s == 0) { STAMP(4); }
        multiply_stage(w, acc, s, s > 0);
    }
#else
    const int chunk = (int)threadIdx.x % 8, r0 = (int)threadIdx.x / 8;
    const u16 *fa = a + (i64)(p.row + r0) * k + chunk * 8, *fb = b + (i64)(p.col + r0) * k + chunk * 8;
    const u32 ta = w.stages_a + r0 * 128 + (chunk ^ (r0 & 7)) * 16, tb = w.stages_b + r0 * 128 + (chunk ^ (r0 & 7)) * 16;
#pragma unroll
    for (int s = 0; s < STAGES; ++s) {
        if (s < stages) {
#pragma unroll
            for (int i = 0; i < BM / 16; ++i) {
                copy_async16(ta + s * A_BYTES + i * 2048, fa + (i64)i * 16 * k + s * BK, 16);
            }
#pragma unroll
            for (int i = 0; i < BN / 16; ++i) {
                copy_async16(tb + s * B_BYTES + i * 2048, fb + (i64)i * 16 * k + s * BK, 16);
            }
        }
        copy_async_commit();
    }
    STAMP(2);
    w.left = wgmma_descriptor_low(w.stages_a, 16), w.right = wgmma_descriptor_low(w.stages_b, 16);
#pragma unroll
    for (int s = 0; s < STAGES; ++s) {
        if (s < stages) {
            if (s == 0) copy_async_wait<STAGES - 1>();
            else if (s == 1) copy_async_wait<STAGES - 2>();
            else if (s == 2) copy_async_wait<STAGES - 3>();
            else if (s == 3) copy_async_wait<STAGES - 4>();
            else if (s == 4) copy_async_wait<STAGES - 5>();
            else if (s == 5) copy_async_wait<STAGES - 6>();
            else if (s == 6) copy_async_wait<STAGES - 7>();
            else copy_async_wait<0>();
            proxy_fence();
            __syncthreads();
            if (s == 0) { STAMP(4); }
            multiply_stage(w, acc, s, s > 0);
        }
    }
#endif
    wgmma_wait<0>();
    STAMP(5);
    u32 boxes = 0;
    store_tile(w, acc, p, 0, boxes);
    if (EPILOGUE == 1 && threadIdx.x == 0) tensor_store_wait<0>();
    STAMP(6);
}
