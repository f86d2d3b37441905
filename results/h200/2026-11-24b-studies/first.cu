/* first TRIALS GAP_US LIST: launches from idle, each kernel's graph of event, kernel, event in random order, held until all of it is there:
 * median and trimmed mean of the events' difference in ns, a sum of C, and where the CTAs' clocks stood: cycles since a CTA began, means of CTAs
 * and launches ("worst": of the last CTA of each launch). LIST: label cubin m n k bm bn grid shares threads shared.
 * Cubins are persistent.cu compiled with nvcc -cubin -gencode arch=compute_90a,code=sm_90a -include kernels/harness/prelude.cuh and a -D for each
 * parameter, layout TN, fp32, all with EARLY=1 and the manifest's defaults but for
 *   S BM=64,BN=32,STAGES=6,CONSUMERS=1,EPILOGUE=2          T BM=64,BN=64,STAGES=8,CONSUMERS=1,EPILOGUE=2
 *   U BM=128,BN=64,STAGES=8,CONSUMERS=1,EPILOGUE=2         M BM=128,BN=128,STAGES=6,CONSUMERS=2,TAIL=3
 *   R BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=4,REDUCE=1  Q the same with REDUCE=2
 * stamps1: kernels of 268d03e (old) and 8f7e8a9 (new) with stamps1.diff.gz. -DV of old: 1 knows where shared memory begins, 2 tells of barriers behind
 *   the copies; of new: 2 keeps the first tile's place, 4 and 16 always ask for four stages and one ahead, 8 tells the warp by its threads alone.
 * stamps2: kernels of aa2ba8e with stamps2.diff.gz. -DW: 1 the second warp makes the first barriers, 2 clusters that share K begin as all others,
 *   4 tiles of over 4096 elements ask for two stages ahead, 32 those below for two, 16 tells of barriers behind the copies.
 * launches: the same driver without stamps, kernels of 268d03e and 8f7e8a9 with launches.diff.gz. -DTRY: 1 nothing, 2 as far as the first data, 3 as
 *   far as the products, 4 nobody fetches the tensor maps, 5 the first warp does. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda.h>
#define CK(x) do { CUresult r_ = (x); if (r_) { const char *s_; cuGetErrorString(r_, &s_); fprintf(stderr, "%d: %s: %s\n", __LINE__, #x, s_); exit(1); } } while (0)
struct K { char label[64]; CUfunction f; CUtensorMap map[4]; CUdeviceptr c, ws; CUgraphExec x; CUevent e[2]; int m, n, k, bm, bn, grid, shares, threads, shared, walk[7]; std::vector<float> t; unsigned sum; CUdeviceptr st; double s[16], worst; long n_st; };
static unsigned long long seed = 88172645463325252ull;
static unsigned long long rnd() { seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; return seed; }
static void map(CUtensorMap *t, CUdeviceptr p, int cols, int rows, int bx, int by, CUtensorMapSwizzle sw)
{
    cuuint64_t dim[2] = {(cuuint64_t)cols, (cuuint64_t)rows}, stride[1] = {(cuuint64_t)cols * 2}; cuuint32_t box[2] = {(cuuint32_t)bx, (cuuint32_t)by}, es[2] = {1, 1};
    CK(cuTensorMapEncodeTiled(t, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, dim, stride, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, sw, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}
static CUdeviceptr halves(size_t n)
{
    CUdeviceptr p; std::vector<unsigned short> h(n);
    for (auto &v : h) v = (unsigned short)(0x3000 + rnd() % 0xc00 + (rnd() % 2 << 15));
    CK(cuMemAlloc(&p, n * 2)); CK(cuMemcpyHtoD(p, h.data(), n * 2)); return p;
}
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static int cd(long long a, long long b) { return (int)((a + b - 1) / b); }
int main(int argc, char **argv)
{
    int trials = atoi(argv[1]); double gap = atof(argv[2]);
    CK(cuInit(0)); CUdevice dev; CK(cuDeviceGet(&dev, 0)); CUcontext ctx; CK(cuDevicePrimaryCtxRetain(&ctx, dev)); CK(cuCtxSetCurrent(ctx));
    CUstream s; CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    std::vector<K> ks; CUdeviceptr a = halves(16 << 20), b = halves(16 << 20); char line[512], cubin[256];
    FILE *list = fopen(argv[3], "r");
    while (fgets(line, sizeof line, list)) {
        K k = {}; int early = 0;
        if (sscanf(line, "%63s %255s %d %d %d %d %d %d %d %d %d", k.label, cubin, &k.m, &k.n, &k.k, &k.bm, &k.bn, &k.grid, &k.shares, &k.threads, &k.shared) != 11) continue;
        (void)early;
        CUmodule mod; CK(cuModuleLoad(&mod, cubin)); CK(cuModuleGetFunction(&k.f, mod, "gemm")); size_t nb; CK(cuModuleGetGlobal(&k.st, &nb, mod, "stamps")); CK(cuMemsetD8(k.st, 0, nb));
        CK(cuFuncSetAttribute(k.f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k.shared));
        int rows = cd(k.m, k.bm), cols = cd(k.n, k.bn), wide = rows == 1 ? -1 : cols == 1 ? 1 : cols < 8 ? cols : 8, lanes = wide < 0 ? rows : cols, steps = wide < 0 ? cols : rows, w = abs(wide), band = w * steps, last = lanes % w ? lanes % w : w;
        int walk[7] = {wide, band, lanes, cd(1 << 30, band), cd(1 << 30, w), cd(1 << 30, last), rows * cols}; memcpy(k.walk, walk, sizeof walk);
        CK(cuMemAlloc(&k.c, (size_t)k.m * k.n * 2 + (1 << 22))); CK(cuMemsetD8(k.c, 0xff, (size_t)k.m * k.n * 2)); CK(cuMemAlloc(&k.ws, 16 << 20)); CK(cuMemsetD8(k.ws, 0, 16 << 20));
        map(&k.map[0], a, k.k, k.m, 64, k.bm, CU_TENSOR_MAP_SWIZZLE_128B); map(&k.map[1], b, k.k, k.n, 64, k.bn, CU_TENSOR_MAP_SWIZZLE_128B);
        map(&k.map[2], k.c, k.n, k.m, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B); map(&k.map[3], k.c, k.n, k.m, 16, 64, CU_TENSOR_MAP_SWIZZLE_32B);
        CK(cuEventCreate(&k.e[0], 0)); CK(cuEventCreate(&k.e[1], 0));
        CUgraph g; CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); CK(cuEventRecordWithFlags(k.e[0], s, CU_EVENT_RECORD_EXTERNAL));
        void *p[] = {&k.walk[0], &k.walk[1], &k.walk[2], &k.walk[3], &k.walk[4], &k.walk[5], &k.walk[6], &k.m, &k.n, &k.k, &k.c, &k.ws, &k.map[0], &k.map[1], &k.map[2], &k.map[3]};
        CUlaunchAttribute at[1]; at[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION; at[0].value.clusterDim.x = 1, at[0].value.clusterDim.y = 1, at[0].value.clusterDim.z = k.shares;
        CUlaunchConfig c = {}; c.gridDimX = k.grid, c.gridDimY = 1, c.gridDimZ = k.shares, c.blockDimX = k.threads, c.blockDimY = c.blockDimZ = 1, c.sharedMemBytes = k.shared, c.hStream = s, c.attrs = at, c.numAttrs = k.shares > 1 && k.label[0] != 'Q';
        CK(cuLaunchKernelEx(&c, k.f, p, NULL)); CK(cuEventRecordWithFlags(k.e[1], s, CU_EVENT_RECORD_EXTERNAL)); CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&k.x, g, 0)); CK(cuGraphUpload(k.x, s)); CK(cuGraphLaunch(k.x, s)); CK(cuStreamSynchronize(s));
        size_t n = (size_t)k.m * k.n; std::vector<unsigned short> h(n); CK(cuMemcpyDtoH(h.data(), k.c, n * 2)); k.sum = 2166136261u; for (auto v : h) k.sum = (k.sum ^ v) * 16777619u;
        ks.push_back(k);
    }
    volatile unsigned *flag; CUdeviceptr dflag; unsigned epoch = 0; CK(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)); *flag = 0; CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    std::vector<int> perm(ks.size()); for (size_t i = 0; i < ks.size(); i++) perm[i] = (int)i;
    for (int t = 0; t < trials; t++) {
        for (int i = (int)ks.size() - 1; i > 0; i--) std::swap(perm[i], perm[(rnd() >> 20) % (unsigned)(i + 1)]);
        for (int i : perm) {
            K &k = ks[i]; float ms;
            CK(cuGraphLaunch(k.x, s)); CK(cuStreamSynchronize(s));
            double from = now(); while (now() - from < gap) ;
            CK(cuStreamWaitValue32(s, dflag, ++epoch, CU_STREAM_WAIT_VALUE_GEQ)); CK(cuGraphLaunch(k.x, s)); double h = now(); while (now() - h < 20) ; *flag = epoch; CK(cuStreamSynchronize(s));
            CK(cuEventElapsedTime(&ms, k.e[0], k.e[1])); k.t.push_back(ms * 1e6f);
            static unsigned st[160 * 16]; CK(cuMemcpyDtoH(st, k.st, sizeof st)); unsigned worst = 0; int n = k.grid * k.shares;
            for (int c = 0; c < n; c++) { unsigned *u = st + c * 16, t0 = u[0]; int g = k.threads == 384 ? 2 : 1;
                for (int j = 0; j < g; j++) if ((int)(u[4 + 4 * j] - t0) < 0) t0 = u[4 + 4 * j];
                for (int j = 0; j < 12; j++) if (u[j]) k.s[j] += (double)(int)(u[j] - t0);
                for (int j = 0; j < g; j++) { unsigned e = u[7 + 4 * j] - t0; if (e > worst) worst = e; if (j == 0 || (int)(u[7 + 4 * j] - u[3 + 4 * j]) > 0) k.s[12] += j == 0 ? e : (double)(int)(u[7 + 4] - u[7]); } }
            k.worst += worst; k.n_st++;
        }
    }
    for (auto &k : ks) {
        std::sort(k.t.begin(), k.t.end()); double mean = 0; int cut = trials / 8;
        for (int t = cut; t < trials - cut; t++) mean += k.t[t];
        { double n = (double)k.n_st * k.grid * k.shares; printf("%-10s held %6.0f %7.1f sum %08x | issued %4.0f last %5.0f | entry %3.0f data %5.0f products %5.0f stored %5.0f | second %5.0f %5.0f %5.0f | worst %5.0f\n", k.label, k.t[trials / 2], mean / (trials - 2 * cut), k.sum, k.s[1] / n, k.s[2] / n, k.s[4] / n, k.s[5] / n, k.s[6] / n, k.s[7] / n, k.s[9] / n, k.s[10] / n, k.s[11] / n, k.worst / k.n_st); continue; }
        printf("%-12s %5dx%dx%d  median %6.0f  trimmed %7.1f  sum %08x\n", k.label, k.m, k.n, k.k, k.t[trials / 2], mean / (trials - 2 * cut), k.sum);
    }
}
