/*
 * skeleton.cu - a device-only module to start from: the smallest honest kernel. skeleton.json beside it says how it is
 * launched; together they are the whole candidate. No host code of yours runs: the harness compiles this file with
 * NVRTC, loads it and launches it, so there is nothing to link, no stream to get wrong and no launch cost of your own.
 *
 * What you may count on:
 *   - harness/prelude.cuh stands in front: u16, u32, i64, conversions, tensor_map. There are no system headers.
 *   - Every parameter of the manifest is a macro (TILE here), and so are DTYPE (0 f16, 1 bf16), ACC_F32 (0 or 1) and
 *     LAYOUT_TN (1: B is stored column-major, that is as N rows of K elements).
 *   - Operands are 256-byte aligned and densely packed; C holds garbage before each launch. M, N, K may be anything
 *     that the manifest's problem_constraints let through.
 *   - extern "C" keeps the entry's name as the manifest spells it.
 *
 * Try it on a GPU:  cudal2-bench verify kernels/skeleton.json, then
 * cudal2-bench run --shape 1024x1024x1024 --candidate kernels/skeleton.json. docs/faq.md goes through it step by step.
 */
#include "harness/prelude.cuh"

static __device__ float load(const u16 *matrix, i64 index)
{
#if DTYPE == 1
    return bf16_to_float(matrix[index]);
#else
    return f16_to_float(matrix[index]);
#endif
}

static __device__ u16 rounded(float value)
{
#if DTYPE == 1
    return float_to_bf16(value);
#else
    return float_to_f16(value);
#endif
}

/* One thread computes one element of C; a block stages TILE x TILE pieces of A and B in shared memory. The arguments come
 * in the order of the manifest's "arguments". */
extern "C" __global__ void __launch_bounds__(TILE *TILE)
    skeleton(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const i64 row = (i64)blockIdx.y * TILE + y, column = (i64)blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (i64 k0 = 0; k0 < k; k0 += TILE) {
        left[y][x] = row < m && k0 + x < k ? load(a, row * k + k0 + x) : 0.0f;
#if LAYOUT_TN
        /* B is read along k, so neighbouring threads take neighbouring k. */
        const i64 b_column = (i64)blockIdx.x * TILE + y;
        right[x][y] = b_column < n && k0 + x < k ? load(b, b_column * k + k0 + x) : 0.0f;
#else
        right[y][x] = column < n && k0 + y < k ? load(b, (k0 + y) * n + column) : 0.0f;
#endif
        __syncthreads();
        for (int p = 0; p < TILE; p++)
            sum += left[y][p] * right[p][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = rounded(sum);
}
