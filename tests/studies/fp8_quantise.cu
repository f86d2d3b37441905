/*
 * fp8_quantise.cu - fp16 to e4m3 with one scale for the matrix, and back: what fp8.c has NVRTC compile. Two passes: the
 * largest magnitude, then each element times 448 / that, rounded to nearest. Counts are of eight elements.
 */
#include "harness/prelude.cuh"

#define LARGEST 448.0f /* of e4m3 */
#define EACH(i, count)                                                                                                 \
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (u64)blockDim.x)

static __device__ __forceinline__ u32 larger_pair(u32 a, u32 b)
{
    u32 r;
    asm("max.u16x2 %0, %1, %2;" : "=r"(r) : "r"(a & 0x7fff7fffu), "r"(b & 0x7fff7fffu));
    return r;
}

/* Bits of magnitudes are ordered as their values are. *bits, 0 before, is the largest's. */
extern "C" __global__ void amax(const uint4 *from, u64 count, u32 *bits)
{
    u32 pair = 0;
    EACH(i, count)
    {
        const uint4 v = from[i];
        pair = larger_pair(pair, larger_pair(larger_pair(v.x, v.y), larger_pair(v.z, v.w)));
    }
    u32 most = max(pair & 0xffff, pair >> 16);
    for (int distance = 16; distance > 0; distance /= 2) {
        most = max(most, __shfl_xor_sync(~0u, most, distance));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(bits, most);
    }
}

static __device__ __forceinline__ u32 quantise_pair(u32 pair, float scale)
{
    u16 r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(r)
        : "f"(f16_to_float((u16)(pair >> 16)) * scale), "f"(f16_to_float((u16)pair) * scale));
    return r;
}

/* *scale is what an element of `to` is multiplied with to be one of `from` again. */
extern "C" __global__ void quantise(const uint4 *from, u64 count, const u32 *bits, uint2 *to, float *scale)
{
    const float most = f16_to_float((u16)*bits), up = most > 0 ? LARGEST / most : 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *scale = most > 0 ? most / LARGEST : 1;
    }
    EACH(i, count)
    {
        const uint4 v = from[i];
        to[i] = make_uint2(quantise_pair(v.x, up) | quantise_pair(v.y, up) << 16,
                           quantise_pair(v.z, up) | quantise_pair(v.w, up) << 16);
    }
}

static __device__ __forceinline__ u32 widen_pair(u32 pair)
{
    u32 r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((u16)pair));
    return r;
}

/* Every e4m3 is an fp16; the scale is not applied. */
extern "C" __global__ void widen(const uint2 *from, u64 count, uint4 *to)
{
    EACH(i, count)
    {
        const uint2 v = from[i];
        to[i] = make_uint4(widen_pair(v.x), widen_pair(v.x >> 16), widen_pair(v.y), widen_pair(v.y >> 16));
    }
}
