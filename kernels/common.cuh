/*
 * common.cuh - what the kernels share: types, conversions, and one inline wrapper per PTX instruction.
 *
 * Compiled by NVRTC without any system header, so everything is spelled out here. The compile-time macros DTYPE
 * (0 f16, 1 bf16), ACC_F32 and LAYOUT_TN are given with -D beside the parameters of the manifest.
 */
#ifndef CUDAL2_COMMON_CUH
#define CUDAL2_COMMON_CUH

typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__
#define CUDAL2_STRING_(x) #x
#define CUDAL2_STRING(x) CUDAL2_STRING_(x)

/* The PTX name of the element type. */
#if DTYPE == 1
#define ELEMENT "bf16"
#else
#define ELEMENT "f16"
#endif

/* bf16 products are only accumulated in f32 by the tensor cores. */
#define WIDE_ACCUMULATOR (ACC_F32 || DTYPE == 1)

#ifndef CUDAL2_TENSOR_MAP
#define CUDAL2_TENSOR_MAP
/* The driver's CUtensorMap, opaque here. */
struct __align__(64) TensorMap
{
    u64 opaque[16];
};
#endif

template <class T> DEVICE T larger(T a, T b)
{
    return a > b ? a : b;
}

template <class T> DEVICE T smaller(T a, T b)
{
    return a < b ? a : b;
}

/* --- conversions ------------------------------------------------------------------------------------------ */

/* Two floats rounded to nearest and packed: `low` in the low half. */
DEVICE u32 pack2(float low, float high)
{
    u32 r;
    asm("cvt.rn." ELEMENT "x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

DEVICE u16 pack1(float v)
{
    u16 r;
    asm("cvt.rn." ELEMENT ".f32 %0, %1;" : "=h"(r) : "f"(v));
    return r;
}

/* A pair of f16 accumulators as floats. */
DEVICE void unpack_f16x2(u32 v, float &low, float &high)
{
    asm("{.reg .b16 l, h;\n mov.b32 {l, h}, %2;\n cvt.f32.f16 %0, l;\n cvt.f32.f16 %1, h;}"
        : "=f"(low), "=f"(high)
        : "r"(v));
}

/* --- global memory ---------------------------------------------------------------------------------------- */

DEVICE uint4 load_global16(const void *p)
{
    uint4 v;
    asm volatile("ld.global.nc.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p));
    return v;
}

DEVICE uint2 load_global8(const void *p)
{
    uint2 v;
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
    return v;
}

DEVICE u32 load_global4(const void *p)
{
    u32 v;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

DEVICE void store_global16(void *p, uint4 v)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
}

DEVICE void store_global8(void *p, uint2 v)
{
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}

DEVICE void store_global4(void *p, u32 v)
{
    asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

DEVICE void store_global2(void *p, u32 v)
{
    asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"((u16)v) : "memory");
}

/* What this thread stored, or has seen stored, is visible to whoever sees what it stores from now on. */
DEVICE void fence_gpu()
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

DEVICE u32 load_relaxed4(const u32 *p)
{
    u32 v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

DEVICE u32 load_acquire4(const u32 *p)
{
    u32 v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* Whoever acquires the sum sees what this thread has stored or seen. */
DEVICE void add_release(u32 *p, u32 v)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

DEVICE void store_global(float4 *p, float4 v)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

DEVICE void store_global(uint2 *p, uint2 v)
{
    store_global8(p, v);
}

/* The value is made here and not where it is used. */
DEVICE void stay(float4 &v)
{
    asm volatile("" : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w));
}

DEVICE void stay(uint2 &v)
{
    asm volatile("" : "+r"(v.x), "+r"(v.y));
}

/* The value is there before what comes next. The compiler puts off what is needed late, and products would wait for it;
 * so it must take a launch of one thread for possible, which would store the value. */
DEVICE void settle(u32 v)
{
    asm volatile("{.reg .pred p;\n setp.eq.u32 p, %1, 1;\n @p st.shared.u32 [%0], %0;}" ::"r"(v), "r"(blockDim.x)
                 : "memory");
}

DEVICE void settle(const void *p)
{
    asm volatile("{.reg .pred p;\n setp.eq.u32 p, %1, 1;\n @p st.global.u64 [%0], %0;}" ::"l"(p), "r"(blockDim.x)
                 : "memory");
}

/* Past L1; where not `wanted`, `v` stays. */
DEVICE void load_if(bool wanted, const float4 *p, float4 &v)
{
    asm volatile("{.reg .pred p;\n setp.ne.u32 p, %5, 0;\n @p ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];}"
                 : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
                 : "l"(p), "r"((u32)wanted)
                 : "memory");
}

DEVICE void load_if(bool wanted, const uint2 *p, uint2 &v)
{
    asm volatile("{.reg .pred p;\n setp.ne.u32 p, %3, 0;\n @p ld.global.cg.v2.u32 {%0, %1}, [%2];}"
                 : "+r"(v.x), "+r"(v.y)
                 : "l"(p), "r"((u32)wanted)
                 : "memory");
}

/* Where `wanted`, `before` is what *p was, and *p one more, or 0 after `last`. */
DEVICE void count_if(bool wanted, u32 *p, u32 last, u32 &before)
{
    asm volatile("{.reg .pred p;\n setp.ne.u32 p, %3, 0;\n @p atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;}"
                 : "+r"(before)
                 : "l"(p), "r"(last), "r"((u32)wanted)
                 : "memory");
}

/* --- launches --------------------------------------------------------------------------------------------- */

/* blockIdx, asked for here: the compiler asks where it needs it, and the answer takes some twenty cycles. */
DEVICE u32 ask_block_x()
{
    u32 x;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
    return x;
}

DEVICE u32 ask_block_z()
{
    u32 z;
    asm volatile("mov.u32 %0, %%ctaid.z;" : "=r"(z));
    return z;
}

/*
 * Launched with EARLY 1 this grid may begin before the one ahead of it in the stream has ended. What comes before this
 * call touches no matrix, workspace or memory of the module; what comes after finds everything done that the grid ahead
 * does. Launched with EARLY 0 it waits for nothing. By every thread that touches any.
 */
DEVICE void await_end_ahead()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The same, and lets the grid behind begin likewise. */
DEVICE void await_grid_ahead()
{
#if __CUDA_ARCH__ >= 900
    await_end_ahead();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* --- shared memory ---------------------------------------------------------------------------------------- */

DEVICE u32 shared_address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}

DEVICE float4 load_shared16f(u32 address)
{
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

DEVICE uint4 load_shared16(u32 address)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

DEVICE uint2 load_shared8(u32 address)
{
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
    return v;
}

DEVICE u32 load_shared4(u32 address)
{
    u32 v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}

DEVICE void store_shared16f(u32 address, float4 v)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
                 : "memory");
}

DEVICE void store_shared8(u32 address, uint2 v)
{
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v.x), "r"(v.y) : "memory");
}

DEVICE void store_shared4(u32 address, u32 v)
{
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(v) : "memory");
}

DEVICE void ldmatrix4(u32 (&r)[4], u32 address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

DEVICE void ldmatrix4_transposed(u32 (&r)[4], u32 address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

#if __CUDA_ARCH__ >= 900
DEVICE void stmatrix4(u32 address, u32 r0, u32 r1, u32 r2, u32 r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0), "r"(r1),
                 "r"(r2), "r"(r3)
                 : "memory");
}

/* The same, each 8 x 8 turned: what a lane holds of a row lies in a column. */
DEVICE void stmatrix4_transposed(u32 address, u32 r0, u32 r1, u32 r2, u32 r3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(r0),
                 "r"(r1), "r"(r2), "r"(r3)
                 : "memory");
}
#endif

/* 16 bytes from global to shared memory past L1; `bytes` of them are read, the rest are zero. */
DEVICE void copy_async16(u32 to, const void *from, u32 bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

DEVICE void copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int PENDING> DEVICE void copy_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* --- tensor cores, mma.sync ------------------------------------------------------------------------------- */

/* One warp: C (16x8, fp32) += A (16x16) * B (16x8). */
DEVICE void mma_wide(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." ELEMENT "." ELEMENT
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if DTYPE == 0
/* The same with fp16 accumulators. */
DEVICE void mma_narrow(u32 (&c)[2], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

#if __CUDA_ARCH__ >= 900
/* Whether this is the one thread that the warp elects; all 32 ask. */
DEVICE bool elect_one()
{
    u32 r;
    asm volatile("{.reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.u32 %0, 1, 0, p;}" : "=r"(r));
    return r;
}
#endif

/* --- clusters --------------------------------------------------------------------------------------------- */

#if __CUDA_ARCH__ >= 900
DEVICE u32 cluster_rank()
{
    u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

DEVICE void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

DEVICE void cluster_arrive_relaxed()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* The address of this CTA's shared `address` in the CTA `rank` of the cluster. */
DEVICE u32 cluster_address(u32 address, u32 rank)
{
    u32 r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}

DEVICE void store_cluster16f(u32 address, float4 v)
{
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(v.x), "f"(v.y), "f"(v.z),
                 "f"(v.w)
                 : "memory");
}
#endif

#endif
