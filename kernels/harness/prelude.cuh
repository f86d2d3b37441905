/*
 * prelude.cuh - what every kernel here may use without a CUDA toolkit's headers. The harness includes it in front of
 * each source it compiles; an explicit #include "harness/prelude.cuh" (for nvcc, for editors) does no harm.
 * half and bfloat16 values are raw 16-bit patterns: convert with the instructions below or with PTX of your own.
 */
#ifndef CUDAL2_PRELUDE_CUH
#define CUDAL2_PRELUDE_CUH

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

/* DTYPE of a kernel module. */
enum { DTYPE_F16 = 0, DTYPE_BF16 = 1, DTYPE_F32 = 2 };

/* A TMA descriptor, as a `const __grid_constant__ tensor_map` parameter. The harness encodes it. */
struct __align__(64) tensor_map {
    u64 opaque[16];
};

static __device__ __forceinline__ float f16_to_float(u16 bits)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

static __device__ __forceinline__ u16 float_to_f16(float value)
{
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

static __device__ __forceinline__ float bf16_to_float(u16 bits)
{
    return __uint_as_float((u32)bits << 16);
}

static __device__ __forceinline__ u16 float_to_bf16(float value)
{
    u16 bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

#endif
