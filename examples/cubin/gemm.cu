/*
 * gemm.cu - a plain kernel, C = A * B in row-major order with fp32 sums, as somebody would send it compiled. Read by no
 * one but nvcc: README.md of this directory makes gemm.cubin of it.
 */
#include <cuda_fp16.h>

extern "C" __global__ void gemm(const half *a, const half *b, half *c, int m, int n, int k)
{
    int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (row >= m || column >= n)
        return;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[(long)row * k + i]) * __half2float(b[(long)i * n + column]);
    c[(long)row * n + column] = __float2half(sum);
}
