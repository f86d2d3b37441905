/* stores [GAP_US]: how fast an H200 writes C from idle, by how it is stored. A graph of event, kernel, event per way and size, launched TRIALS
 * times after GAP_US without work each, into the same C; medians in us, an empty kernel's off. Nothing is read or multiplied.
 * nvcc -std=c++17 -O2 -arch=sm_90a stores.cu -o stores */
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
        cudaError_t failed = (x);                                                                                                                         \
        if (failed != cudaSuccess) {                                                                                                                      \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(failed));                                                       \
            exit(1);                                                                                                                                 \
        }                                                                                                                                            \
    } while (0)
#define TRIALS 41
typedef unsigned long long u64;
enum { EMPTY, WORDS, ROWS, BOXES, WIDE, BULK, SET, WAYS };
static const char *const names[] = {"empty", "words", "rows", "boxes", "wide", "bulk", "memset"};

__device__ __forceinline__ u64 policy(int first)
{
    u64 p;
    if (first)
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
    else
        asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(p));
    return p;
}
__device__ __forceinline__ unsigned noise(unsigned x)
{
    x = (x ^ 61 ^ x >> 16) * 9;
    return (x ^ x >> 4) * 0x27d4eb2d;
}
__device__ __forceinline__ void put16(char *to, u64 p)
{
    const unsigned v = noise((unsigned)(u64)to);
    asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "r"(v), "r"(v * 3), "r"(v * 5), "r"(v * 7), "l"(p) : "memory");
}
/* Tiles of 128 x 256 of C (128 x 128 for boxes), every gridDim-th of the walk: along N, or with `down` along M. */
template <int WAY> __global__ void __launch_bounds__(256) fill(char *c, int m, int n, int down, int first, const __grid_constant__ CUtensorMap map)
{
    extern __shared__ __align__(1024) char tile[];
    const u64 p = policy(first);
    const unsigned from = (unsigned)__cvta_generic_to_shared(tile);
    if (WAY == EMPTY)
        return;
    if (WAY >= BOXES) {
        for (int i = threadIdx.x; i < 16384; i += 256)
            ((unsigned *)tile)[i] = noise(blockIdx.x * 16384 + i);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
    }
    if (WAY == WORDS || WAY == BULK) { /* 32 KB pieces of C as it lies */
        const size_t pieces = (size_t)m * n * 2 / 32768;
        for (size_t i = blockIdx.x; i < pieces; i += gridDim.x) {
            if (WAY == WORDS)
                for (int j = threadIdx.x * 16; j < 32768; j += 256 * 16)
                    put16(c + i * 32768 + j, p);
            else if (threadIdx.x < 2)
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], 16384, %2;" ::"l"(c + i * 32768 +
                                                                                                                        threadIdx.x * 16384),
                             "r"(from + threadIdx.x * 16384), "l"(p)
                             : "memory");
        }
    } else {
        const int bn = WAY == BOXES ? 128 : 256, across = n / bn, along = m / 128;
        for (int t = blockIdx.x; t < across * along; t += gridDim.x) {
            const int row = (down ? t % along : t / across) * 128, col = (down ? t / along : t % across) * bn;
            if (WAY == ROWS)
                for (int j = threadIdx.x; j < 128 * 32; j += 256)
                    put16(c + ((size_t)(row + j / 32) * n + col) * 2 + j % 32 * 16, p);
            else if (WAY == BOXES && threadIdx.x < 4)
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
                             "r"(col + (int)threadIdx.x % 2 * 64), "r"(row + (int)threadIdx.x / 2 * 64), "r"(from + threadIdx.x * 8192), "l"(p)
                             : "memory");
            else if (WAY == WIDE && threadIdx.x < 4)
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
                             "r"(col), "r"(row + (int)threadIdx.x * 32), "r"(from + threadIdx.x * 16384), "l"(p)
                             : "memory");
        }
    }
    if (WAY >= BOXES) {
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
static CUtensorMap describe(char *c, int m, int n, int wide)
{
    static PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap map;
    cuuint64_t size[] = {(cuuint64_t)n, (cuuint64_t)m}, pitch[] = {(cuuint64_t)n * 2};
    cuuint32_t box[] = {wide ? 256u : 64u, wide ? 32u : 64u}, step[] = {1, 1};
    if (!encode)
        CK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found));
    if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, c, size, pitch, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
               wide ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        exit(fprintf(stderr, "tensor map\n"));
    return map;
}
template <int WAY> static void put(char *c, int m, int n, int how, int ctas, cudaStream_t s)
{
    CK(cudaFuncSetAttribute(fill<WAY>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    fill<WAY><<<ctas, 256, 65536, s>>>(c, m, n, how / 2, how % 2, describe(c, m, n, WAY == WIDE));
}
static void enqueue(int way, char *c, int m, int n, int how, int ctas, cudaStream_t s)
{
    switch (way) {
    case EMPTY: put<EMPTY>(c, m, n, how, ctas, s); break;
    case WORDS: put<WORDS>(c, m, n, how, ctas, s); break;
    case ROWS: put<ROWS>(c, m, n, how, ctas, s); break;
    case BOXES: put<BOXES>(c, m, n, how, ctas, s); break;
    case WIDE: put<WIDE>(c, m, n, how, ctas, s); break;
    case BULK: put<BULK>(c, m, n, how, ctas, s); break;
    default: CK(cudaMemsetAsync(c, 1, (size_t)m * n * 2, s));
    }
}
static double measure(int way, char *c, int m, int n, int how, int ctas, double gap, cudaStream_t s)
{
    cudaEvent_t e[2];
    cudaGraph_t g;
    cudaGraphExec_t x;
    std::vector<float> us;
    CK(cudaEventCreate(&e[0]));
    CK(cudaEventCreate(&e[1]));
    CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CK(cudaEventRecordWithFlags(e[0], s, cudaEventRecordExternal));
    enqueue(way, c, m, n, how, ctas, s);
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
    static const int shapes[][2] = {{1024, 1024}, {1024, 2048}, {2048, 2048}, {2048, 4096}, {4096, 4096}, {4096, 8192}, {8192, 8192}, {8192, 16384}};
    const double gap = argc > 1 ? atof(argv[1]) : 300;
    char *c;
    cudaStream_t s;
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CK(cudaMalloc(&c, (size_t)1 << 29));
    CK(cudaMemset(c, 0, (size_t)1 << 29));
    for (int i = 0; i < 3; i++) {
        printf("empty %.2f us, 132 CTAs; memset of 1 MB %.2f\n", measure(EMPTY, c, 1024, 1024, 0, 132, gap, s), measure(SET, c, 512, 1024, 0, 1, gap, s));
    }
    for (int how = 0; how < 4; how++) {
        printf("%s, %s: us (TB/s over an empty kernel)\n", how / 2 ? "down M" : "along N", how % 2 ? "leaving the L2 first" : "as usual");
        for (int way = WORDS; way < WAYS; way++) {
            if (how && way == SET)
                continue;
            printf("%-7s", names[way]);
            for (const auto &x : shapes) {
                const double none = measure(EMPTY, c, x[0], x[1], how, 132, gap, s), us = measure(way, c, x[0], x[1], how, 132, gap, s);
                printf("  %4.0f MB %6.2f (%4.2f)", x[0] * 2e-6 * x[1], us, x[0] * 2e-6 * x[1] / (us - none));
                fflush(stdout);
            }
            printf("\n");
        }
    }
    printf("boxes along N of 4096x4096 by CTAs:");
    for (int ctas : {8, 16, 33, 66, 99, 132, 264})
        printf("  %d %.2f", ctas, measure(BOXES, c, 4096, 4096, 0, ctas, gap, s));
    printf("\nboxes along N of 1024x1024 by CTAs:");
    for (int ctas : {1, 2, 4, 8, 16, 33, 64})
        printf("  %d %.2f", ctas, measure(BOXES, c, 1024, 1024, 0, ctas, gap, s));
    printf("\n");
    return 0;
}
