/*
 * 1024_1024_1024.cu - a torch extension as the published CUDA-L2 sets have them: one function for one shape, which its
 * file is named after (M_N_K.cu). Built by scripts/import/import.py (README.md of this directory).
 */
#include <cuda_fp16.h>
#include <torch/extension.h>

static __global__ void gemm(const half *a, const half *b, half *c, int n, int k)
{
    int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += __half2float(a[row * k + i]) * __half2float(b[i * n + column]);
    c[row * n + column] = __float2half(sum);
}

void plain(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c)
{
    int m = a.size(0), k = a.size(1), n = b.size(1);
    gemm<<<dim3(n / 128, m), 128>>>((const half *)a.data_ptr(), (const half *)b.data_ptr(), (half *)c.data_ptr(), n, k);
}
