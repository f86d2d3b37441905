/* Where the time of a launch from idle goes: stamps TRIALS GAP_NS LIST. Stamps are clocks kept in registers. */
#include "start.h"
#define MAX 96
#define CTAS 160
struct kernel {
    char label[64], cubin[256], kind;
    int m, n, k, bm, bn, gx, gy, gz, cz, threads, shared, cm;
    CUmodule module; CUfunction f; CUtensorMap map[4]; CUdeviceptr a, b, c, ws, st; CUgraphExec x; CUevent e[2];
    float *held; double s[16], late, lates, xch; long long ns; double span, spans; int walk[7]; unsigned sum;
};
static struct kernel ks[MAX]; static int n_ks;
static unsigned long long seed = 88172645463325252ull;
static unsigned long long rnd(void) { seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; return seed; }
static void map(CUtensorMap *t, CUdeviceptr p, int cols, int rows, int bx, int by, CUtensorMapSwizzle sw)
{
    cuuint64_t dim[2] = {cols, rows}, stride[1] = {(cuuint64_t)cols * 2}; cuuint32_t box[2] = {bx, by}, es[2] = {1, 1};
    CK(cuTensorMapEncodeTiled(t, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, dim, stride, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, sw, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}
static CUdeviceptr halves(size_t n)
{
    CUdeviceptr p; unsigned short *h = malloc(n * 2);
    for (size_t i = 0; i < n; i++) h[i] = (unsigned short)(0x3000 + rnd() % 0xc00 + (rnd() % 2 << 15));
    CK(cuMemAlloc(&p, n * 2)); CK(cuMemcpyHtoD(p, h, n * 2)); free(h); return p;
}
static int by_value(const void *a, const void *b) { float x = *(const float *)a, y = *(const float *)b; return (x > y) - (x < y); }
static CUresult launch(struct kernel *k, CUstream s)
{
    void *o[] = {&k->map[0], &k->map[1], &k->map[2], &k->map[3], &k->c, &k->m, &k->n, &k->k, &k->ws, &k->walk[0], &k->walk[1], &k->walk[2], &k->walk[3], &k->walk[4], &k->walk[5], &k->walk[6]};
    void *n[] = {&k->walk[0], &k->walk[1], &k->walk[2], &k->walk[3], &k->walk[4], &k->walk[5], &k->walk[6], &k->m, &k->n, &k->k, &k->c, &k->ws, &k->map[0], &k->map[1], &k->map[2], &k->map[3]};
    CUlaunchAttribute at[1] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {k->cm, 1, k->cz}}};
    CUlaunchConfig c = {.gridDimX = k->gx, .gridDimY = k->gy, .gridDimZ = k->gz, .blockDimX = k->threads, .blockDimY = 1, .blockDimZ = 1, .sharedMemBytes = k->shared, .hStream = s, .attrs = at, .numAttrs = k->cz * k->cm > 1};
    return cuLaunchKernelEx(&c, k->f, k->kind == 'o' ? o : k->kind == 'n' ? n : NULL, NULL);
}
static int ceildiv(long long a, long long b) { return (int)((a + b - 1) / b); }
int main(int argc, char **argv)
{
    int trials = atoi(argv[1]); double gap = atof(argv[2]);
    CK(cuInit(0)); CUdevice dev; CK(cuDeviceGet(&dev, 0)); CUcontext ctx; CK(cuDevicePrimaryCtxRetain(&ctx, dev)); CK(cuCtxSetCurrent(ctx));
    CUstream s; CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    FILE *list = fopen(argv[3], "r"); CUdeviceptr a = halves(16 << 20), b = halves(16 << 20); char line[512];
    while (fgets(line, sizeof line, list)) {
        struct kernel *k = &ks[n_ks];
        if (sscanf(line, "%63s %255s %c %d %d %d %d %d %d %d %d %d %d %d %d", k->label, k->cubin, &k->kind, &k->m, &k->n, &k->k, &k->bm, &k->bn, &k->gx, &k->gy, &k->gz, &k->cz, &k->cm, &k->threads, &k->shared) != 15) continue;
        n_ks++;
        CK(cuModuleLoad(&k->module, k->cubin)); CK(cuModuleGetFunction(&k->f, k->module, "gemm"));
        if (k->shared) CK(cuFuncSetAttribute(k->f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->shared));
        k->a = a, k->b = b;
        int rows = ceildiv(k->m, k->bm * k->cm), cols = ceildiv(k->n, k->bn), wide = rows == 1 ? -1 : cols == 1 ? 1 : cols < 8 ? cols : 8, lanes = wide < 0 ? rows : cols, steps = wide < 0 ? cols : rows, w = abs(wide), band = w * steps, last = lanes % w ? lanes % w : w;
        int walk[7] = {wide, band, lanes, ceildiv(1 << 30, band), ceildiv(1 << 30, w), ceildiv(1 << 30, last), rows * cols}; memcpy(k->walk, walk, sizeof walk);
        CK(cuMemAlloc(&k->c, (size_t)k->m * k->n * 2 + (1 << 22))); CK(cuMemsetD8(k->c, 0xff, (size_t)k->m * k->n * 2)); CK(cuMemAlloc(&k->ws, 64 << 20)); CK(cuMemsetD8(k->ws, 0, 64 << 20));
        size_t bytes; k->st = 0; if (k->kind != 'e') CK(cuModuleGetGlobal(&k->st, &bytes, k->module, "stamps"));
        if (k->kind != 'e') {
            map(&k->map[0], a, k->k, k->m, 64, k->bm, CU_TENSOR_MAP_SWIZZLE_128B); map(&k->map[1], b, k->k, k->n, 64, k->bn / k->cm, CU_TENSOR_MAP_SWIZZLE_128B);
            map(&k->map[2], k->c, k->n, k->m, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B); map(&k->map[3], k->c, k->n, k->m, 16, 64, CU_TENSOR_MAP_SWIZZLE_32B);
        }
        CK(cuEventCreate(&k->e[0], 0)); CK(cuEventCreate(&k->e[1], 0)); k->held = calloc(trials, 4);
        CUgraph g; CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); CK(cuEventRecordWithFlags(k->e[0], s, CU_EVENT_RECORD_EXTERNAL)); CK(launch(k, s)); CK(cuEventRecordWithFlags(k->e[1], s, CU_EVENT_RECORD_EXTERNAL)); CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&k->x, g, 0)); CK(cuGraphUpload(k->x, s)); CK(cuGraphLaunch(k->x, s)); CK(cuStreamSynchronize(s));
        size_t n = (size_t)k->m * k->n; unsigned short *h = malloc(n * 2); CK(cuMemcpyDtoH(h, k->c, n * 2)); unsigned q = 2166136261u; for (size_t i = 0; i < n; i++) q = (q ^ h[i]) * 16777619u; k->sum = q; free(h);
    }
    volatile unsigned *flag; CUdeviceptr dflag; unsigned epoch = 0; CK(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)); *flag = 0; CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    static unsigned st[CTAS * 24];
    for (int t = 0; t < trials; t++) {
        int perm[MAX]; for (int i = 0; i < n_ks; i++) perm[i] = i;
        for (int i = n_ks - 1; i > 0; i--) { int j = (int)((rnd() >> 20) % (unsigned)(i + 1)), x = perm[i]; perm[i] = perm[j], perm[j] = x; }
        for (int i = 0; i < n_ks; i++) {
            struct kernel *k = &ks[perm[i]]; float ms;
            CK(cuGraphLaunch(k->x, s)); CK(cuStreamSynchronize(s));
            double from = now(); while (now() - from < gap) ;
            CK(cuStreamWaitValue32(s, dflag, ++epoch, CU_STREAM_WAIT_VALUE_GEQ)); CK(cuGraphLaunch(k->x, s)); *flag = epoch; CK(cuStreamSynchronize(s));
            CK(cuEventElapsedTime(&ms, k->e[0], k->e[1])); k->held[t] = ms * 1e6f;
            if (k->st && t % 4 == 0) {
                int ctas = k->gx * k->gy * k->gz; if (ctas > CTAS) ctas = CTAS;
                CK(cuMemcpyDtoH(st, k->st, sizeof st)); unsigned lo = ~0u, hi = 0;
                for (int c = 0; c < ctas; c++) { unsigned *u = st + c * 24; for (int j = 0; j < 14; j++) k->s[j] += u[j] ? (double)(unsigned)(u[j] - u[0]) : 0; k->ns++;
                    if (u[14] < lo) lo = u[14]; if (u[15] > hi) hi = u[15]; k->spans += (double)(u[15] - u[14]); }
                int per = ctas / k->gz, sp = k->gz; if (sp > 1) for (int x = 0; x < per; x++) { unsigned last = 0, first_ = ~0u; double mean = 0; for (int z = 0; z < sp; z++) { unsigned v = st[(z * per + x) * 24 + 16]; if (v > last) last = v; if (v < first_) first_ = v; mean += (double)v / sp; } double done = 0; for (int z = 0; z < sp; z++) done += (double)st[(z * per + x) * 24 + 17] / sp; k->late += last - mean; k->lates += last - first_; k->xch += done - last; }
                k->span += (hi - lo);
            }
        }
    }
    for (int i = 0; i < n_ks; i++) {
        struct kernel *k = &ks[i]; qsort(k->held, trials, 4, by_value); double mean = 0; int cut = trials / 10;
        for (int t = cut; t < trials - cut; t++) mean += k->held[t];
        printf("%-22s %dx%dx%d held %.0f trimmed %.0f sum %08x |", k->label, k->m, k->n, k->k, k->held[trials / 2], mean / (trials - 2 * cut), k->sum);
        if (k->ns) { for (int j = 0; j < 14; j++) printf(" %.0f", k->s[j] / k->ns); printf(" | cta ns %.0f, from first to last %.0f", k->spans / k->ns, k->span / (trials / 4.0)); if (k->gz > 1) { double q = (double)k->ns / k->gz; printf(" | last share after mean %.0f ns, after first %.0f, all there after last %.0f", k->late / q, k->lates / q, k->xch / q); } }
        printf("\n");
    }
    return 0;
}
