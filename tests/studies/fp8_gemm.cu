/*
 * fp8_gemm.cu - persistent.cu (F3, TN) for e4m3 operands and fp32 sums, C in fp16: what fp8.c has NVRTC compile. Two
 * e4m3 stand where the kernel sees one fp16: 64 fp16 of k and 128 e4m3 are the same 128 bytes, so tensor maps,
 * swizzle, stages and descriptors stay, `k` and the maps count pairs, and only the product differs. `workspace` is no
 * workspace but the two scales that C is multiplied with, as they were quantised with.
 *   BM, BN, STAGES, PINGPONG  as in persistent.cu
 *   PROMOTE                   1: the tensor cores' own sums end with each stage, 128 of K, and are added up in fp32
 */
#define SCALE_STEP 64 // FP8_SCALE_STEP of fp8_fixture.h
#define DTYPE 0
#define LAYOUT_TN 1
#define ACC_F32 1
#define CONSUMERS 2
#define CLUSTER_M 1
#define CLUSTER_N 1
#define SPLIT_K 1
#define ABREAST 1
#define REDUCE 0
#define PARTS 1
#define ONE_TILE 0
#define QUEUE 0
#define STREAM_K 0
#define KEEP 0
#define HOLD 0
#define PEEK 0
#define TAIL 0
#define ACROSS 0
#define EPILOGUE 1
#define EVICT 0
#define STREAM 0
#define MIN_BLOCKS 1

#define wgmma wgmma_f16
#include "wgmma.cuh"
#undef wgmma

/* D (64 x WG_N) = left (64 x 32) * right (32 x WG_N), plus D unless `accumulate` is 0. Both lie along k: this product
 * has no operands that say otherwise. */
DEVICE void wgmma(wgmma_register (&d)[WG_REGISTERS], u64 left, u64 right, int accumulate)
{
    asm volatile("{\n.reg .pred p;\n setp.ne.b32 p, " WG_SCALE ", 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n" CUDAL2_STRING(WG_N) "k32.f32.e4m3.e4m3 {" WG_PLACES
                                                                         "}, " WG_DESCRIPTORS ", p, 1, 1;\n}"
                 : WG_OPERANDS
                 : "l"(left), "l"(right), "r"(accumulate));
}

#if PROMOTE
#define multiply_tile multiply_tile_unpromoted
#endif
#include "products.cuh"
#undef multiply_tile
#define store_tile store_tile_unscaled
#include "store.cuh"
#undef store_tile

#if PROMOTE
/* The sums are there after wgmma_wait(), of which the compiler does not know that it writes them. */
DEVICE void settle(accumulator &sums)
{
#pragma unroll
    for (int i = 0; i < MI * WG_REGISTERS; ++i) {
        asm volatile("" : "+f"(sums[i / WG_REGISTERS][i % WG_REGISTERS])::"memory");
    }
}

/* As that of products.cuh, but when it returns no product is under way. While one consumer adds, the other multiplies.
 */
DEVICE int multiply_tile(const struct work &w, accumulator &acc, struct ring &r, int)
{
    accumulator sums;
    int last = r.stage;
    for (int k = w.k_begin; k < w.k_end; ++k) {
        barrier_wait(w.full + r.stage * 8, r.parity);
        multiply_stage(w, sums, r.stage, k, 0);
        wgmma_wait<0>();
        settle(sums);
        last = r.stage;
        if (k + 1 < w.k_end) {
            release(w, last);
        }
        advance(r);
#pragma unroll
        for (int i = 0; i < MI * WG_REGISTERS; ++i) {
            float &sum = acc[i / WG_REGISTERS][i % WG_REGISTERS];
            sum = (k > w.k_begin ? sum : 0) + sums[i / WG_REGISTERS][i % WG_REGISTERS];
        }
    }
    return last;
}
#endif

DEVICE void store_tile(const struct work &w, accumulator &acc, const outlet &o, int group, u32 &box_count)
{
    const float *scales = (const float *)w.workspace;
    const float scale = scales[0] * scales[SCALE_STEP];
#pragma unroll
    for (int i = 0; i < MI * WG_REGISTERS; ++i) {
        acc[i / WG_REGISTERS][i % WG_REGISTERS] *= scale;
    }
    store_tile_unscaled(w, acc, o, group, box_count);
}

#include "persistent.cu"
