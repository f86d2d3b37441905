/*
 * plain.cu - the plain kernel of a chain (harness/device/device.h, struct device_plain): bias and clamp, one 16-byte
 * piece of the output for each thread, as an elementwise kernel of a library does it. No programmatic launch: what is
 * behind it begins when it has ended. -D DTYPE.
 */
#include "harness/element.cuh"

#define THREADS 256
#define GAIN_OF_BIAS 0.1f /* PLAIN_BIAS and PLAIN_CLAMP of device.h */
#define CLAMP 1.667f
#define LANE (16 / (int)sizeof(element_t))

/* harness/device/cuda_plain.c has the same layout. */
struct step {
    const element_t *c, *bias;
    element_t *out;
    u64 m, n, k;
    u64 *differing;
    float scale;
};

static __device__ __forceinline__ element_t from_float(float value)
{
#if DTYPE == 0
    return float_to_f16(value);
#elif DTYPE == 1
    return float_to_bf16(value);
#else
    return value;
#endif
}

/* Rounded step by step, so that both kernels come to the same bits. NaN passes both comparisons. */
static __device__ __forceinline__ element_t settle(const step &s, float sum, element_t bias)
{
    float value = __fadd_rn(__fmul_rn(sum, s.scale), __fmul_rn(GAIN_OF_BIAS, to_float(bias)));
    return from_float(value > CLAMP ? CLAMP : value < -CLAMP ? -CLAMP : value);
}

static __device__ __forceinline__ element_t value_of(const step &s, u64 row, u64 j)
{
    const element_t *c = s.c + row * s.n;
    u64 column = s.k > s.n ? j % s.n : j;
    float sum = to_float(c[column]);
    for (column += s.k; column < s.n; column += s.k)
        sum = __fadd_rn(sum, to_float(c[column]));
    return settle(s, sum, s.bias[j]);
}

struct __align__(16) piece
{
    element_t value[LANE];
};

/* LANE columns from j on, which lie together in C, in the bias and in the output. */
static __device__ __forceinline__ piece piece_of(const step &s, u64 row, u64 j)
{
    const element_t *c = s.c + row * s.n;
    u64 column = s.k > s.n ? j % s.n : j;
    piece part = *(const piece *)(c + column), bias = *(const piece *)(s.bias + j), out;
    float sum[LANE];
#pragma unroll
    for (int i = 0; i < LANE; i++)
        sum[i] = to_float(part.value[i]);
    for (column += s.k; column < s.n; column += s.k) {
        part = *(const piece *)(c + column);
#pragma unroll
        for (int i = 0; i < LANE; i++)
            sum[i] = __fadd_rn(sum[i], to_float(part.value[i]));
    }
#pragma unroll
    for (int i = 0; i < LANE; i++)
        out.value[i] = settle(s, sum[i], bias.value[i]);
    return out;
}

/* A whole piece never crosses the end of a row then. Division by 32 bits where they do. */
static __device__ __forceinline__ bool in_pieces(const step &s)
{
    return s.n % LANE == 0 && s.k % LANE == 0 && s.m * s.k <= 0xffffffffu;
}

extern "C" __global__ void __launch_bounds__(THREADS) plain(step s)
{
    u64 first = (u64)blockIdx.x * THREADS + threadIdx.x, stride = (u64)gridDim.x * THREADS;
    if (in_pieces(s)) {
        u32 across = (u32)s.k / LANE, all = (u32)s.m * across;
        for (u64 i = first; i < all; i += stride) {
            u32 row = (u32)i / across, at = ((u32)i - row * across) * LANE;
            *(piece *)(s.out + row * s.k + at) = piece_of(s, row, at);
        }
        return;
    }
    for (u64 i = first; i < s.m * s.k; i += stride)
        s.out[i] = value_of(s, i / s.k, i % s.k);
}

static __device__ __forceinline__ bool is_same(element_t a, element_t b)
{
#if DTYPE == 2
    return __float_as_uint(a) == __float_as_uint(b);
#else
    return a == b;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) plain_differs(step s)
{
    u64 stride = (u64)gridDim.x * THREADS, differing = 0;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < s.m * s.k; i += stride)
        differing += !is_same(s.out[i], value_of(s, i / s.k, i % s.k));
    if (differing > 0)
        atomicAdd(s.differing, differing);
}
