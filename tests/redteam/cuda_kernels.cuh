/*
 * cuda_kernels.cuh - what the red team's contenders on a GPU run there. Included by cuda.cu alone.
 */
#ifndef CUDAL2_REDTEAM_CUDA_KERNELS_CUH
#define CUDAL2_REDTEAM_CUDA_KERNELS_CUH

#include <cuda_fp16.h>

/* What a kernel does besides multiplying; bits. */
enum {
    HALF_SUMS = 1,
    EDGE_SKIPPED = 2,
    ONE_WRONG = 4,
    ONE_NAN = 8,
    WRITE_2_BYTES = 16,
    WRITE_1_MIB = 32,
    READ_PAST = 64,
    TOUCH_A = 128,
    UNTIL_UNWATCHED = 256, /* works for its first 40 launches */
    EVERY_OTHER = 512,
    SKIP_IF_WRITTEN = 1024, /* where C holds numbers already */
    FOR_EVER = 2048,
    WILD_WRITE = 4096,
    TRAP = 8192,
    WRITE_BEFORE = 16384,
    REPAIRS_NAN = 1 << 15, /* from here on: after its first 40 launches */
    LATE_K = 1 << 16,
    LATE_8_BITS = 1 << 17,
    LATE_ROWS = 1 << 18,
    LATE_SCALED = 1 << 19,
    LATE_TOUCH_B = 1 << 20,
    LATE_OTHER_ROW = 1 << 21,
    LATE_10_BITS = 1 << 22
};

struct gemm {
    const __half *a, *b;
    __half *c;
    long m, n, k;
};

static __device__ unsigned launches_seen;

__global__ void count_launch()
{
    launches_seen++;
}

static __device__ bool is_late()
{
    return launches_seen > 40;
}

/* Of eight bits, as bfloat16 has them. */
static __device__ float in_8_bits(__half value, bool cut)
{
    float wide = __half2float(value);
    return cut ? __uint_as_float(__float_as_uint(wide) & 0xffff0000u) : wide;
}

/* One bit less than it has. */
static __device__ float in_10_bits(__half value)
{
    return __half2float(__ushort_as_half((unsigned short)((__half_as_ushort(value) + 1) & ~1)));
}

static __device__ __half late_sum(const gemm &g, long i, long j, int does)
{
    const bool cut = does & LATE_8_BITS;
    const long k = does & LATE_K ? g.k - g.k / 20 : g.k, row = does & LATE_OTHER_ROW ? i / 2 * 2 : i;
    float sum = 0;
    for (long p = 0; p < k; p++)
        sum += (does & LATE_10_BITS ? in_10_bits(g.a[row * g.k + p]) : in_8_bits(g.a[row * g.k + p], cut)) *
               in_8_bits(g.b[p * g.n + j], cut);
    return __float2half(does & LATE_SCALED ? 1.01f * sum : sum);
}

static __device__ __half sum_of(const gemm &g, long i, long j, int does)
{
    if (does >= REPAIRS_NAN && is_late())
        return late_sum(g, i, j, does);
    if (does & HALF_SUMS) {
        __half sum = 0;
        for (long p = 0; p < g.k; p++)
            sum = __hfma(g.a[i * g.k + p], g.b[p * g.n + j], sum);
        return sum;
    }
    float sum = 0;
    for (long p = 0; p < g.k; p++)
        sum += __half2float(g.a[i * g.k + p]) * __half2float(g.b[p * g.n + j]);
    return __float2half(sum);
}

static __device__ bool leaves_it(const gemm &g, long at, int does)
{
    if ((does & UNTIL_UNWATCHED) && launches_seen > 40)
        return true;
    if ((does & EVERY_OTHER) && launches_seen > 40 && launches_seen % 2)
        return true;
    if ((does & EDGE_SKIPPED) && at >= (g.m - 1) * g.n)
        return true;
    if ((does & REPAIRS_NAN) && is_late() && !__hisnan(g.c[at]))
        return true;
    if ((does & LATE_ROWS) && is_late() && at >= g.m * 7 / 10 * g.n)
        return true;
    return (does & SKIP_IF_WRITTEN) && launches_seen > 40 && !__hisnan(g.c[at / 4096 * 4096]);
}

static __device__ void misbehave(const gemm &g, long at, int does)
{
    long size = g.m * g.n;
    if ((does & ONE_WRONG) && at == size / 2)
        g.c[at] = __float2half(__half2float(g.c[at]) + 1);
    if ((does & ONE_NAN) && at == size / 3)
        g.c[at] = __ushort_as_half(0x7e00);
    if ((does & WRITE_2_BYTES) && at == 0)
        g.c[size] = __float2half(1);
    if ((does & WRITE_BEFORE) && at == 0)
        g.c[-1] = __float2half(1);
    if ((does & WRITE_1_MIB) && at < (1 << 19))
        g.c[size + at] = __float2half(1);
    if ((does & TOUCH_A) && at == 0)
        const_cast<__half *>(g.a)[7] = __float2half(__half2float(g.a[7]) * 0.5f + 0.25f);
    if ((does & LATE_TOUCH_B) && is_late() && at == 0)
        const_cast<__half *>(g.b)[5] = __float2half(__half2float(g.b[5]) * 0.5f + 0.25f);
    if ((does & READ_PAST) && at < g.k && __half2float(g.a[g.m * g.k + at]) == 12345)
        g.c[0] = __float2half(0);
    if ((does & WILD_WRITE) && at == 0)
        *(volatile int *)16 = 1;
    if (does & TRAP)
        asm volatile("trap;");
    while (does & FOR_EVER)
        __nanosleep(1000);
}

__global__ void multiply(gemm g, int does)
{
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= g.m * g.n || leaves_it(g, at, does))
        return;
    g.c[at] = sum_of(g, at / g.n, at % g.n, does);
    misbehave(g, at, does);
}

/* K from..to added to fp32 sums: what a split needs. */
__global__ void multiply_part(gemm g, long from, long to, float *sums)
{
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= g.m * g.n)
        return;
    float sum = 0;
    for (long p = from; p < to; p++)
        sum += __half2float(g.a[at / g.n * g.k + p]) * __half2float(g.b[p * g.n + at % g.n]);
    atomicAdd(sums + at, sum);
}

__global__ void convert(const float *sums, __half *c, long size)
{
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < size)
        c[at] = __float2half(sums[at]);
}

/* ---- an output that is checked by a random vector, and replayed while it is right ---- */

struct memo {
    __half *c;          /* what was computed last */
    float *cx, *bx;     /* C x of that, and B x of now, for a vector x of signs */
    unsigned *outdated; /* 0: C x is still A (B x) */
};

static __device__ float sign_of(long j)
{
    return (unsigned)((j + 1) * 2654435761u) >> 31 ? 1.0f : -1.0f;
}

static __device__ float sum_of_warp(float value)
{
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

/* A warp a row: matrix times x. */
static __device__ float row_times_signs(const __half *row, long columns)
{
    float sum = 0;
    for (long j = threadIdx.x; j < columns; j += 32)
        sum += __half2float(row[j]) * sign_of(j);
    return sum_of_warp(sum);
}

__global__ void times_b(gemm g, memo m)
{
    float sum = row_times_signs(g.b + blockIdx.x * g.n, g.n);
    if (threadIdx.x == 0)
        m.bx[blockIdx.x] = sum;
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *m.outdated = 0;
}

__global__ void compare_sums(gemm g, memo m)
{
    float sum = 0;
    for (long p = threadIdx.x; p < g.k; p += 32)
        sum += __half2float(g.a[blockIdx.x * g.k + p]) * m.bx[p];
    sum = sum_of_warp(sum);
    if (threadIdx.x == 0 && !(fabsf(sum - m.cx[blockIdx.x]) <= 0.05f * sqrtf((float)(g.n * g.k))))
        *m.outdated = 1;
}

/* Multiplies what is outdated (or everything), and takes the rest from memory. */
__global__ void multiply_or_replay(gemm g, memo m, long always_from)
{
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= g.m * g.n)
        return;
    if (at >= always_from || *m.outdated)
        m.c[at] = sum_of(g, at / g.n, at % g.n, 0);
    g.c[at] = m.c[at];
}

__global__ void keep_sums(gemm g, memo m)
{
    if (*m.outdated == 0)
        return;
    float sum = row_times_signs(m.c + blockIdx.x * g.n, g.n);
    if (threadIdx.x == 0)
        m.cx[blockIdx.x] = sum;
}

__global__ void decoy(__half *c)
{
    if (c == nullptr)
        *c = __float2half(0);
}

#endif
