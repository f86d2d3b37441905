/*
 * maps.cu - C = A * B with fp32 sums, whose blocks of A come through a tensor map of rank 1, 2, 3, 4 or 5: the same 32
 * rows of 64 elements each time, so that a map that is described wrongly gives a wrong C. A is contiguous for rank 1;
 * M is a multiple of 32 and K of 64. Compiled by the harness; gpu_maps.sh writes the manifests.
 */
#include "harness/prelude.cuh"

#define ROWS 32
#define STEP 64
#define BYTES (ROWS * STEP * 2)

__device__ static unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void expect(unsigned barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(BYTES) : "memory");
}

__device__ static void await(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

#define COPY(rank, at) "cp.async.bulk.tensor." rank "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" at "}], [%2];"

template <int rank> __device__ static void copy(unsigned to, const tensor_map *map, unsigned barrier, int row, int column, int k)
{
    if (rank == 1)
        for (int i = 0; i < ROWS; i++)
            asm volatile(COPY("1", "%3") ::"r"(to + i * STEP * 2), "l"(map), "r"(barrier), "r"((row + i) * k + column) : "memory");
    if (rank == 2)
        asm volatile(COPY("2", "%3, %4") ::"r"(to), "l"(map), "r"(barrier), "r"(column), "r"(row) : "memory");
    if (rank == 3)
        asm volatile(COPY("3", "%3, %4, %5") ::"r"(to), "l"(map), "r"(barrier), "r"(0), "r"(row), "r"(column / STEP) : "memory");
    if (rank == 4)
        asm volatile(COPY("4", "%3, %3, %4, %5") ::"r"(to), "l"(map), "r"(barrier), "r"(0), "r"(row / 8), "r"(column / STEP) : "memory");
    if (rank == 5)
        asm volatile(COPY("5", "%3, %3, %3, %4, %5") ::"r"(to), "l"(map), "r"(barrier), "r"(0), "r"(row / 8), "r"(column / STEP) : "memory");
}

/* A block: 32 rows by 128 columns. */
template <int rank> __device__ static void multiply(const tensor_map *map, const u16 *b, u16 *c, int n, int k)
{
    __shared__ __align__(128) u16 a[ROWS * STEP];
    __shared__ __align__(8) u64 barrier;
    int row = blockIdx.y * ROWS, column = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = shared_address(&barrier);
    float sums[ROWS] = {};
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    __syncthreads();
    for (int step = 0; step < k / STEP; step++) {
        if (threadIdx.x == 0) {
            expect(at);
            copy<rank>(shared_address(a), map, at, row, step * STEP, k);
        }
        await(at, step & 1);
        for (int i = 0; i < STEP && column < n; i++) {
            float factor = f16_to_float(b[(i64)(step * STEP + i) * n + column]);
            for (int r = 0; r < ROWS; r++)
                sums[r] += f16_to_float(a[r * STEP + i]) * factor;
        }
        __syncthreads();
    }
    for (int r = 0; r < ROWS && column < n; r++)
        c[(i64)(row + r) * n + column] = float_to_f16(sums[r]);
}

#define ENTRY(rank)                                                                                                             \
    extern "C" __global__ void gemm_##rank(const __grid_constant__ tensor_map map, const u16 *b, u16 *c, int n, int k)       \
    {                                                                                                                           \
        multiply<rank>(&map, b, c, n, k);                                                                                       \
    }

ENTRY(1)
ENTRY(2)
ENTRY(3)
ENTRY(4)
ENTRY(5)
