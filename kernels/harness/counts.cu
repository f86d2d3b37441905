/*
 * counts.cu - C = A * B for matrices of zeros and ones, any M, N and K up to 2^24: a sum of such products counts the places
 * where a row of A and a column of B both have a one, so it is the population count of their bits' intersection. Exact
 * by construction, and several times as fast as multiplying (reference.cu). Writes fp32. -D DTYPE, -D LAYOUT_TN.
 * 128 x 128 of C per block, 8 x 8 per thread; 128 of K at a time, as four words of 32 bits.
 */
#include "harness/element.cuh"

#define BM 128
#define BN 128
#define WORDS 4
#define PAD 4

static __device__ __forceinline__ u32 is_one(element_t value)
{
    return value != 0;
}

/* matrix[row][column .. column+31] of a rows x columns matrix as bits; zero outside. Two elements of 16 bits at a time, one
 * bit of which tells one from zero: those at even places become the lower half of the word, those at odd ones the upper. */
static __device__ __forceinline__ u32 bits_of_row(const element_t *matrix, i64 row, i64 column, i64 rows, i64 columns,
                                                  bool aligned)
{
    const element_t *from = matrix + row * columns + column;
    u32 word = 0;
    if (row >= rows)
        return 0;
#if DTYPE != 2
    if (aligned && column + 32 <= columns) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const uint4 eight = ((const uint4 *)from)[i];
            word |= ((eight.x >> 13 & 0x10001u) | (eight.y >> 13 & 0x10001u) << 1 | (eight.z >> 13 & 0x10001u) << 2 |
                     (eight.w >> 13 & 0x10001u) << 3)
                    << (4 * i);
        }
        return word;
    }
#endif
    for (int i = 0; i < 32; i++)
        if (column + i < columns)
            word |= is_one(from[i]) << (i / 2 + i % 2 * 16);
    return word;
}

#if !LAYOUT_TN
/* matrix[row .. row+31][column] in the same order of bits. */
static __device__ __forceinline__ u32 bits_of_column(const element_t *matrix, i64 row, i64 column, i64 rows,
                                                     i64 columns)
{
    const element_t *from = matrix + row * columns + column;
    u32 word = 0;
    if (column >= columns)
        return 0;
    if (row + 32 <= rows) {
#pragma unroll
        for (int i = 0; i < 32; i++)
            word |= is_one(from[i * columns]) << (i / 2 + i % 2 * 16);
        return word;
    }
    for (int i = 0; i < 32; i++)
        if (row + i < rows)
            word |= is_one(from[i * columns]) << (i / 2 + i % 2 * 16);
    return word;
}
#endif

/* 512 words of each tile, two of each per thread. */
static __device__ __forceinline__ void load_tiles(u32 (*as)[BM + PAD], u32 (*bs)[BN + PAD], const element_t *a,
                                                  const element_t *b, i64 m, i64 n, i64 k, i64 row0, i64 column0,
                                                  i64 k0, bool a_aligned, bool b_aligned)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int t = threadIdx.x + 256 * half;
        as[t % WORDS][t / WORDS] = bits_of_row(a, row0 + t / WORDS, k0 + t % WORDS * 32, m, k, a_aligned);
#if LAYOUT_TN
        bs[t % WORDS][t / WORDS] = bits_of_row(b, column0 + t / WORDS, k0 + t % WORDS * 32, n, k, b_aligned);
#else
        bs[t / BN][t % BN] = bits_of_column(b, k0 + t / BN * 32, column0 + t % BN, k, n);
#endif
    }
}

static __device__ __forceinline__ void load8(const u32 *from, u32 to[8])
{
    const uint4 low = *(const uint4 *)from, high = *(const uint4 *)(from + 64);
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

/* A thread owns rows {4y..4y+3, 64+4y..} and columns {4x..4x+3, 64+4x..}: conflict-free 16-byte reads. */
static __device__ __forceinline__ void count(const u32 (*as)[BM + PAD], const u32 (*bs)[BN + PAD], u32 sum[8][8])
{
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        u32 a[8], b[8];
        load8(&as[w][y], a);
        load8(&bs[w][x], b);
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                sum[i][j] += __popc(a[i] & b[j]);
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    counts(const element_t *a, const element_t *b, float *c, i64 m, i64 n, i64 k)
{
    __shared__ __align__(16) u32 as[WORDS][BM + PAD];
    __shared__ __align__(16) u32 bs[WORDS][BN + PAD];
    i64 tiles_n = (n + BN - 1) / BN;
    i64 row0 = blockIdx.x / tiles_n * BM, column0 = blockIdx.x % tiles_n * BN;
    bool a_aligned = ((u64)a & 15) == 0 && k % 8 == 0;
    bool b_aligned = ((u64)b & 15) == 0 && k % 8 == 0;
    u32 sum[8][8] = {};
    for (i64 k0 = 0; k0 < k; k0 += 32 * WORDS) {
        load_tiles(as, bs, a, b, m, n, k, row0, column0, k0, a_aligned, b_aligned);
        __syncthreads();
        count(as, bs, sum);
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
                c[row * n + column] = (float)sum[i][j];
        }
    }
}
