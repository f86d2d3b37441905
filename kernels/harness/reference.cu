/*
 * reference.cu - C = A * B with sums in order of k, for any M, N, K: in fp32, or with -D WIDE in fp64. Plain on purpose:
 * it is what every contender is held against. -D DTYPE, -D LAYOUT_TN. 128 x 128 of C per block, 8 x 8 per thread.
 */
#include "harness/element.cuh"

#define BM 128
#define BN 128
#define BK 16
#define PAD 4
#ifndef WIDE
#define WIDE 0
#endif

/* What is summed and stored. A product of two fp16, bf16 or fp32 values is exact in fp64. */
#if WIDE
typedef double sum_t;
struct __align__(16) pair_t {
    double x, y;
};
#else
typedef float sum_t;
#endif

/* matrix[row][column .. column+7] of a rows x columns matrix; zero outside. `aligned`: 16-byte loads are allowed. */
static __device__ __forceinline__ void load8(const element_t *matrix, i64 row, i64 column, i64 rows, i64 columns,
                                             bool aligned, float out[8])
{
    const element_t *from = matrix + row * columns + column;
    if (aligned && row < rows && column + 8 <= columns) {
        union {
            element_t one[8];
            uint4 part[sizeof(element_t) * 8 / 16];
        } got;
#pragma unroll
        for (int i = 0; i < (int)(sizeof(element_t) * 8 / 16); i++)
            got.part[i] = ((const uint4 *)from)[i];
#pragma unroll
        for (int i = 0; i < 8; i++)
            out[i] = to_float(got.one[i]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] = row < rows && column + i < columns ? to_float(from[i]) : 0.0f;
}

/* What a thread carries from global memory: 8 elements of A's tile and 8 of B's. */
struct fragment {
    float a[8], b[8];
};

static __device__ __forceinline__ void load_tiles(const element_t *a, const element_t *b, i64 m, i64 n, i64 k, i64 row0,
                                                  i64 column0, i64 k0, bool a_aligned, bool b_aligned, fragment &f)
{
    int t = threadIdx.x;
    load8(a, row0 + t / 2, k0 + t % 2 * 8, m, k, a_aligned, f.a);
#if LAYOUT_TN
    load8(b, column0 + t / 2, k0 + t % 2 * 8, n, k, b_aligned, f.b);
#else
    load8(b, k0 + t / 16, column0 + t % 16 * 8, k, n, b_aligned, f.b);
#endif
}

static __device__ __forceinline__ void store_tiles(sum_t (*as)[BM + PAD], sum_t (*bs)[BN + PAD], const fragment &f)
{
    int t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        as[t % 2 * 8 + i][t / 2] = f.a[i];
#if LAYOUT_TN
        bs[t % 2 * 8 + i][t / 2] = f.b[i];
#else
        bs[t / 16][t % 16 * 8 + i] = f.b[i];
#endif
    }
}

/* Four neighbours, 16 bytes at a time. */
static __device__ __forceinline__ void load4(const sum_t *from, sum_t to[4])
{
#if WIDE
    const pair_t low = ((const pair_t *)from)[0], high = ((const pair_t *)from)[1];
    to[0] = low.x, to[1] = low.y, to[2] = high.x, to[3] = high.y;
#else
    const float4 all = *(const float4 *)from;
    to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
#endif
}

/* A thread owns rows {4y..4y+3, 64+4y..} and columns {4x..4x+3, 64+4x..}: conflict-free 16-byte reads. */
static __device__ __forceinline__ void multiply(const sum_t (*as)[BM + PAD], const sum_t (*bs)[BN + PAD],
                                                sum_t sum[8][8])
{
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int k = 0; k < BK; k++) {
        sum_t a[8], b[8];
        load4(&as[k][y], a);
        load4(&as[k][64 + y], a + 4);
        load4(&bs[k][x], b);
        load4(&bs[k][64 + x], b + 4);
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i][j] = fma(a[i], b[j], sum[i][j]);
    }
}

extern "C" __global__ void __launch_bounds__(256, WIDE ? 1 : 2)
    reference(const element_t *a, const element_t *b, sum_t *c, i64 m, i64 n, i64 k)
{
    __shared__ __align__(16) sum_t as[BK][BM + PAD];
    __shared__ __align__(16) sum_t bs[BK][BN + PAD];
    i64 tiles_n = (n + BN - 1) / BN;
    i64 row0 = blockIdx.x / tiles_n * BM, column0 = blockIdx.x % tiles_n * BN;
    bool a_aligned = ((u64)a & 15) == 0 && k % 8 == 0;
    bool b_aligned = ((u64)b & 15) == 0 && (LAYOUT_TN ? k : n) % 8 == 0;
    sum_t sum[8][8] = {};
    fragment f;
    load_tiles(a, b, m, n, k, row0, column0, 0, a_aligned, b_aligned, f);
    for (i64 k0 = 0; k0 < k; k0 += BK) {
        store_tiles(as, bs, f);
        __syncthreads();
        if (k0 + BK < k)
            load_tiles(a, b, m, n, k, row0, column0, k0 + BK, a_aligned, b_aligned, f);
        multiply(as, bs, sum);
        __syncthreads();
    }
    i64 x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        i64 row = row0 + i / 4 * 64 + y + i % 4;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            i64 column = column0 + j / 4 * 64 + x + j % 4;
            if (row < m && column < n)
                c[row * n + column] = sum[i][j];
        }
    }
}
