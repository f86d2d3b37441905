/*
 * random.cuh - values that are a function of a key and an index alone: splitmix64's finalizer over a counter, as
 * harness/device/fill.h and harness/device/probe.h have it for the host, and N(0,1) made of its bits. The host's
 * test_fill_kernel compiles it as C.
 */
#ifndef CUDAL2_HARNESS_RANDOM_CUH
#define CUDAL2_HARNESS_RANDOM_CUH

#define GOLDEN 0x9e3779b97f4a7c15ull

static __device__ u64 mix(u64 z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static __device__ u64 random_bits(u64 key, u64 index)
{
    return mix(key + (index + 1) * GOLDEN);
}

#ifdef __CUDACC__
static __device__ float unit_log2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ float unit_sqrt(float x)
{
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

static __device__ float unit_cos(float x)
{
    float y;
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

/* N(0,1) by Box and Muller, by the special function units: exact functions took most of a fill's time. Their errors are
 * below 4e-6, a hundredth of what fp16 rounds at 1; below 6e-4 for the one value of 200 whose radius is under 0.1. The
 * cosine is taken between -pi and pi, where it is best, and has the other sign there. */
static __device__ float normal_of(u64 bits)
{
    float uniform = (float)((u32)(bits >> 40) + 1) * 0x1p-24f;
    float angle = fmaf((float)((u32)bits & 0xffffffu), 3.74507028e-7f, -3.14159265f);
    float radius = unit_sqrt(fmaxf(unit_log2(uniform) * -1.38629436f, 0.0f));
    return radius * -unit_cos(angle);
}

#endif
