/* flow [GAP_US]: what the copies of a GEMM do to its stores, without products. A CTA a multiprocessor, tiles of 128 x BN of C, every gridDim-th of
 * the walk along N: one thread asks for each tile's stages of A and B (64 of K, a ring of four), one waits for them and hands them
 * back, and asks for the tile's boxes of 64 x 64 when the last has come, with at most `deep` of them unread. By tensor maps, the operands lying along K.
 * Medians of TRIALS launches from idle in us, the graph's event records around each: both, copies alone, stores alone.
 * nvcc -std=c++17 -O2 -arch=sm_90a flow.cu -o flow */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                                                                        \
    do {                                                                                                                                             \
        cudaError_t failed = (x);                                                                                                                    \
        if (failed != cudaSuccess) {                                                                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(failed));                                                  \
            exit(1);                                                                                                                                 \
        }                                                                                                                                            \
    } while (0)
#define TRIALS 33
#define STAGES 4
#define STAGE ((128 + 256) * 128)
#define SHARED (STAGES * STAGE + 16384 + 1024)
typedef unsigned u32;
typedef unsigned long long u64;
struct job {
    int m, n, k, bn, loads, stores, deep, rest; /* rest: cycles a tile waits for before its stores */
};

__device__ __forceinline__ void barrier_wait(u32 at, u32 parity)
{
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(at), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(u32 to, const CUtensorMap *map, int x, int y, u32 barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(x), "r"(y),
                 "r"(barrier)
                 : "memory");
}
__device__ __forceinline__ void store(const CUtensorMap *map, u32 from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(from) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__global__ void __launch_bounds__(96) flow(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c,
                                           const __grid_constant__ job j)
{
    extern __shared__ __align__(1024) char raw[];
    __shared__ u64 barriers[2 * STAGES];
    const u32 base = (u32)__cvta_generic_to_shared(raw), boxes = base + STAGES * STAGE, full = (u32)__cvta_generic_to_shared(barriers), empty = full + STAGES * 8;
    const int across = j.n / j.bn, tiles = across * (j.m / 128), steps = j.k / 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2 * STAGES; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + i * 8));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (u32 i = threadIdx.x; i < 1024; i += 96) {
        const u32 v = (blockIdx.x * 1024 + i) * 2654435761u;
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(boxes + i * 16), "r"(v), "r"(v * 3), "r"(v * 5), "r"(v * 7));
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 32 && j.loads) {
        int s = 0;
        u32 parity = 1;
        for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
            for (int k = 0; k < steps; k++) {
                barrier_wait(empty + s * 8, parity);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full + s * 8), "r"((128 + j.bn) * 128) : "memory");
                load(base + s * STAGE, &a, k * 64, t / across * 128, full + s * 8);
                load(base + s * STAGE + 16384, &b, k * 64, t % across * j.bn, full + s * 8);
                if (++s == STAGES)
                    s = 0, parity ^= 1;
            }
        }
    }
    if (threadIdx.x == 64) {
        int s = 0, box = 0;
        u32 parity = 0;
        for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
            for (int k = 0; k < steps && j.loads; k++) {
                barrier_wait(full + s * 8, parity);
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + s * 8) : "memory");
                if (++s == STAGES)
                    s = 0, parity ^= 1;
            }
            for (const long long until = clock64() + j.rest; clock64() < until;)
                ;
            for (int i = 0; i < j.bn / 32 && j.stores; i++) {
                if (j.deep == 2)
                    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                else if (j.deep == 4)
                    asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
                store(&c, boxes + box++ % 2 * 8192, t % across * j.bn + i / 2 * 64, t / across * 128 + i % 2 * 64);
            }
        }
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
static CUtensorMap describe(void *p, int rows, int columns, int high, CUtensorMapL2promotion fetch)
{
    static PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap map;
    cuuint64_t size[] = {(cuuint64_t)columns, (cuuint64_t)rows}, pitch[] = {(cuuint64_t)columns * 2};
    cuuint32_t box[] = {64, (cuuint32_t)high}, step[] = {1, 1};
    if (!encode)
        CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, fetch,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        exit(fprintf(stderr, "tensor map\n"));
    return map;
}
static double measure(char *p, struct job j, double gap, cudaStream_t s)
{
    cudaEvent_t e[2];
    cudaGraph_t g;
    cudaGraphExec_t x;
    std::vector<float> us;
    const CUtensorMap a = describe(p, j.m, j.k, 128, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    const CUtensorMap b = describe(p + (64 << 20), j.n, j.k, j.bn, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    const CUtensorMap c = describe(p + (128 << 20), j.m, j.n, 64, CU_TENSOR_MAP_L2_PROMOTION_NONE);
    CK(cudaEventCreate(&e[0]));
    CK(cudaEventCreate(&e[1]));
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CK(cudaEventRecordWithFlags(e[0], s, cudaEventRecordExternal));
    flow<<<132, 96, SHARED, s>>>(a, b, c, j);
    CK(cudaEventRecordWithFlags(e[1], s, cudaEventRecordExternal));
    CK(cudaStreamEndCapture(s, &g));
    CK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < TRIALS; i++) {
        auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds((long)(gap * 1e3 * (0.5 + rand() % 1024 / 1024.0)));
        while (std::chrono::steady_clock::now() < until)
            ;
        float ms;
        CK(cudaGraphLaunch(x, s));
        CK(cudaStreamSynchronize(s));
        CK(cudaEventElapsedTime(&ms, e[0], e[1]));
        if (i > 2)
            us.push_back(ms * 1e3f);
    }
    CK(cudaGraphExecDestroy(x));
    CK(cudaGraphDestroy(g));
    CK(cudaEventDestroy(e[0]));
    CK(cudaEventDestroy(e[1]));
    std::nth_element(us.begin(), us.begin() + us.size() / 2, us.end());
    return us[us.size() / 2];
}
int main(int argc, char **argv)
{
    static const int shapes[][2] = {{2048, 2048}, {2048, 4096}, {4096, 4096}, {4096, 8192}, {8192, 8192}, {8192, 16384}};
    const double gap = argc > 1 ? atof(argv[1]) : 300;
    char *p;
    cudaStream_t s;
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CK(cudaFuncSetAttribute(flow, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    CK(cudaMalloc(&p, (size_t)1 << 29));
    std::vector<u32> noise(64 << 20);
    for (auto &v : noise)
        v = (u32)rand() * 2654435761u & 0xbfffbfff;
    CK(cudaMemcpy(p, noise.data(), (size_t)256 << 20, cudaMemcpyHostToDevice));
    printf("nothing: %.2f us\n", measure(p, {2048, 2048, 64, 128, 0, 0, 4, 0}, gap, s));
    printf("%-24s %-20s %s\n", "m x n, k, bn", "both, by deep 2, 4, all", "copies; stores by deep 2, 4, all; both and products' cycles, by deep 4");
    for (const auto &x : shapes) {
        for (int bn : {128, 256}) {
            for (int k : {64, 128, 256}) {
                struct job j = {x[0], x[1], k, bn, 1, 1, 2, 0};
                printf("%5d x %5d, %3d, %3d ", x[0], x[1], k, bn);
                for (int deep : {2, 4, 0})
                    j.deep = deep, printf(" %6.2f", measure(p, j, gap, s));
                j.stores = 0, printf("  %6.2f", measure(p, j, gap, s));
                j.loads = 0, j.stores = 1;
                for (int deep : {2, 4, 0})
                    j.deep = deep, printf(" %6.2f", measure(p, j, gap, s));
                j.loads = 1, j.deep = 4, j.rest = 128 * bn * k / 2048;
                printf("  %6.2f\n", measure(p, j, gap, s));
                fflush(stdout);
            }
        }
    }
    return 0;
}
