/* Launches from idle and by events, of kernels named in a list: cold TRIALS GAP_NS LIST [sleep|cublas]...
 * A line of LIST: label cubin entry kind m n k bm bn gx gy threads shared gz cz cm cn; kind p: persistent's arguments, t: tiny's, e: none.
 * gz: CTAs that share K; cz of them in a cluster; cm, cn: the cluster's tiles.
 * Prints label, how, n, median, 5th and 95th percentile in ns, and the medians over CTAs and launches of the stamps. */
#include "../2026-11-22b-studies/start.h"
#include <dlfcn.h>
#define MAX 512
#define CTAS 1024
struct kernel {
    char label[64], cubin[256], entry[16], kind;
    int m, n, k, bm, bn, gx, gy, threads, shared, gz, cz, cm, cn;
    CUmodule module;
    CUfunction f;
    CUtensorMap map[4];
    CUdeviceptr a, b, c, ws;
    CUgraphExec x, row;
    CUevent r[2];
    float *rows;
    CUevent e[2];
    float *held, *event;
    double stamp[8], fine[2][12];
    long long fined[2];
    long long stamped;
    int one;
    int walk[7];
};
static struct kernel ks[MAX];
static int n_ks;
static unsigned long long seed = 88172645463325252ull;
static unsigned long long rnd(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}
static void map(CUtensorMap *t, CUdeviceptr p, int cols, int rows, int bx, int by, CUtensorMapSwizzle sw)
{
    cuuint64_t dim[2] = {cols, rows}, stride[1] = {(cuuint64_t)cols * 2};
    cuuint32_t box[2] = {bx, by}, es[2] = {1, 1};
    CK(cuTensorMapEncodeTiled(t, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)p, dim, stride, box, es, CU_TENSOR_MAP_INTERLEAVE_NONE, sw,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}
static CUdeviceptr halves(size_t n)
{
    CUdeviceptr p;
    unsigned short *h = malloc(n * 2);
    for (size_t i = 0; i < n; i++)
        h[i] = (unsigned short)(0x3000 + rnd() % 0xc00 + (rnd() % 2 << 15));
    CK(cuMemAlloc(&p, n * 2));
    CK(cuMemcpyHtoD(p, h, n * 2));
    free(h);
    return p;
}
static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static CUresult launch(struct kernel *k, CUstream s, int early)
{
    void *p[] = {&k->walk[0], &k->walk[1], &k->walk[2], &k->walk[3], &k->walk[4], &k->walk[5], &k->walk[6], &k->m, &k->n, &k->k, &k->c, &k->ws, &k->map[0], &k->map[1], &k->map[2], &k->map[3]};
    void *d[] = {&k->map[0], &k->map[1], &k->a, &k->b, &k->c, &k->m, &k->n, &k->k};
    void *t[] = {&k->a, &k->b, &k->c, &k->m, &k->n, &k->k};
    CUlaunchAttribute at[2] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {k->cm * k->cn, 1, k->cz}}, {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmaticStreamSerializationAllowed = 1}};
    CUlaunchConfig c = {.gridDimX = k->gx, .gridDimY = k->gy, .gridDimZ = k->gz, .blockDimX = k->threads, .blockDimY = 1, .blockDimZ = 1, .sharedMemBytes = k->shared, .hStream = s, .attrs = at, .numAttrs = 1 + early};
    return cuLaunchKernelEx(&c, k->f, strchr("pPqQ", k->kind) ? p : k->kind == 'd' || k->kind == 'D' || k->kind == 'f' ? d : k->kind == 't' ? t : NULL, NULL);
}
static int ceildiv(long long a, long long b)
{
    return (int)((a + b - 1) / b);
}
/* Bands of 8. Kinds p, P: what says it in one number; q, Q: what the new kernels take. */
static void find_walk(struct kernel *k)
{
    int rows = ceildiv(k->m, k->bm * k->cm), cols = ceildiv(k->n, k->bn * k->cn);
    int wide = rows == 1 ? -1 : cols == 1 ? 1 : cols < 8 ? cols : 8;
    int lanes = wide < 0 ? rows : cols, steps = wide < 0 ? cols : rows, w = abs(wide), band = w * steps;
    int last = lanes % w ? lanes % w : w;
    k->walk[0] = wide, k->walk[1] = band, k->walk[2] = lanes, k->walk[3] = ceildiv(1 << 30, band), k->walk[4] = ceildiv(1 << 30, w);
    k->walk[5] = ceildiv(1 << 30, last), k->walk[6] = rows * cols;
}
static unsigned sum(struct kernel *k)
{
    size_t n = (size_t)k->m * k->n;
    unsigned short *h = malloc(n * 2);
    CK(cuMemcpyDtoH(h, k->c, n * 2));
    unsigned s = 2166136261u;
    for (size_t i = 0; i < n; i++)
        s = (s ^ h[i]) * 16777619u;
    free(h);
    return s;
}
int main(int argc, char **argv)
{
    int trials = atoi(argv[1]), sleepy = 0;
    double gap = atof(argv[2]);
    CK(cuInit(0));
    CUdevice dev;
    CK(cuDeviceGet(&dev, 0));
    CUcontext ctx;
    CK(cuDevicePrimaryCtxRetain(&ctx, dev));
    CK(cuCtxSetCurrent(ctx));
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "sleep"))
            sleepy = 1;
        if (!strcmp(argv[i], "cublas")) {
            void *l = dlopen("libcublas.so.13", RTLD_NOW);
            if (!l)
                l = dlopen("libcublas.so.12", RTLD_NOW);
            void *h = NULL;
            int (*create)(void **) = l ? (int (*)(void **))dlsym(l, "cublasCreate_v2") : NULL;
            fprintf(stderr, "cublas: %d\n", create ? create(&h) : -1);
        }
    }
    CUstream s;
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    FILE *list = fopen(argv[3], "r");
    CUdeviceptr a = halves(16 << 20), b = halves(16 << 20);
    char line[512];
    while (fgets(line, sizeof line, list)) {
        struct kernel *k = &ks[n_ks];
        if (sscanf(line, "%63s %255s %15s %c %d %d %d %d %d %d %d %d %d %d %d %d %d", k->label, k->cubin, k->entry, &k->kind, &k->m, &k->n, &k->k, &k->bm, &k->bn, &k->gx,
                   &k->gy, &k->threads, &k->shared, &k->gz, &k->cz, &k->cm, &k->cn) != 17)
            continue;
        n_ks++;
        CK(cuModuleLoad(&k->module, k->cubin));
        CK(cuModuleGetFunction(&k->f, k->module, k->entry));
        if (k->shared)
            CK(cuFuncSetAttribute(k->f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->shared));
        k->a = a, k->b = b;
        find_walk(k);
        CK(cuMemAlloc(&k->c, (size_t)k->m * k->n * 2 + (1 << 22)));
        CK(cuMemsetD8(k->c, 0xff, (size_t)k->m * k->n * 2));
        CK(cuMemAlloc(&k->ws, 64 << 20));
        CK(cuMemsetD8(k->ws, 0, 64 << 20));
        if (strchr("pPqQdDf", k->kind)) {
            size_t bytes;
            CUdeviceptr at;
            if (cuModuleGetGlobal(&at, &bytes, k->module, "stamps") == CUDA_SUCCESS)
                k->ws = at;
            map(&k->map[0], a, k->k, (16 << 20) / k->k, 64, k->bm / k->cn, CU_TENSOR_MAP_SWIZZLE_128B);
            if (k->kind == 'P' || k->kind == 'Q' || k->kind == 'D')
                map(&k->map[1], b, k->n, k->k, 64, 64 / k->cm, CU_TENSOR_MAP_SWIZZLE_128B);
            else
                map(&k->map[1], b, k->k, (16 << 20) / k->k, 64, k->bn / k->cm, CU_TENSOR_MAP_SWIZZLE_128B);
            map(&k->map[2], k->c, k->n, k->m, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B);
            map(&k->map[3], k->c, k->n, k->m, 16, 64, CU_TENSOR_MAP_SWIZZLE_32B);
        }
        CK(cuEventCreate(&k->e[0], 0));
        CK(cuEventCreate(&k->e[1], 0));
        k->held = calloc(trials, 4), k->event = calloc(trials, 4);
        CUgraph g;
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        CK(cuEventRecordWithFlags(k->e[0], s, CU_EVENT_RECORD_EXTERNAL));
        CK(launch(k, s, 0));
        CK(cuEventRecordWithFlags(k->e[1], s, CU_EVENT_RECORD_EXTERNAL));
        CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&k->x, g, 0));
        CK(cuGraphUpload(k->x, s));
        CK(cuGraphLaunch(k->x, s));
        CK(cuStreamSynchronize(s));
        k->one = (int)sum(k);
        CK(cuEventCreate(&k->r[0], 0));
        CK(cuEventCreate(&k->r[1], 0));
        k->rows = calloc(trials, 4);
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (int i = 0; i < 36; i++) {
            if (i == 4)
                CK(cuEventRecordWithFlags(k->r[0], s, CU_EVENT_RECORD_EXTERNAL));
            CK(launch(k, s, strchr("pPqQdDf", k->kind) != NULL));
        }
        CK(cuEventRecordWithFlags(k->r[1], s, CU_EVENT_RECORD_EXTERNAL));
        CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&k->row, g, 0));
        CK(cuGraphUpload(k->row, s));
        CK(cuGraphLaunch(k->row, s));
        CK(cuStreamSynchronize(s));
    }
    volatile unsigned *flag;
    CUdeviceptr dflag;
    unsigned epoch = 0;
    CK(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    static long long st[CTAS * 8];
    for (int t = 0; t < trials; t++) {
        int perm[MAX];
        for (int i = 0; i < n_ks; i++)
            perm[i] = i;
        for (int i = n_ks - 1; i > 0; i--) {
            int j = (int)(rnd() >> 40) % (i + 1);
            j = j < 0 ? -j : j;
            int x = perm[i];
            perm[i] = perm[j], perm[j] = x;
        }
        for (int i = 0; i < n_ks; i++) {
            struct kernel *k = &ks[perm[i]];
            float ms;
            CK(cuGraphLaunch(k->x, s));
            CK(cuStreamSynchronize(s));
            double from = now();
            if (sleepy) {
                struct timespec ts = {0, (long)(gap > 2e5 ? gap - 1.5e5 : 0)};
                nanosleep(&ts, NULL);
            }
            while (now() - from < gap)
                ;
            CK(cuStreamWaitValue32(s, dflag, ++epoch, CU_STREAM_WAIT_VALUE_GEQ));
            CK(cuGraphLaunch(k->x, s));
            *flag = epoch;
            CK(cuStreamSynchronize(s));
            CK(cuEventElapsedTime(&ms, k->e[0], k->e[1]));
            k->held[t] = ms * 1e6f;
            if (strchr("pPqQdDf", k->kind) && 0) {
                CK(cuMemcpyDtoH(st, k->ws, CTAS * 64));
                if (k->kind == 'f') {
                    unsigned *u = (unsigned *)st;
                    for (int c = 0; c < k->gx * k->gy && c < CTAS; c++) {
                        int g = c >= 132;
                        for (int j = 0; j < 11; j++)
                            k->fine[g][j] += u[c * 16 + j] ? (double)(unsigned)(u[c * 16 + j] - u[c * 16]) : 0;
                        k->fined[g]++;
                    }
                    goto done;
                }
                for (int c = 0; c < 0; c++) {
                    if (st[c * 8] == 0)
                        break;
                    for (int j = 0; j < 8; j++)
                        k->stamp[j] += st[c * 8 + j] ? (double)(st[c * 8 + j] - st[c * 8]) : 0;
                    k->stamped++;
                }
            }
        done:
            CK(launch(k, s, 0));
            CK(cuCtxSynchronize());
            CK(cuGraphLaunch(k->row, s));
            CK(cuCtxSynchronize());
            CK(cuEventElapsedTime(&ms, k->r[0], k->r[1]));
            k->rows[t] = ms * 1e6f / 32;
            CK(cuEventRecord(k->e[0], s));
            CK(launch(k, s, 0));
            CK(cuEventRecord(k->e[1], s));
            CK(cuCtxSynchronize());
            CK(cuEventElapsedTime(&ms, k->e[0], k->e[1]));
            k->event[t] = ms * 1e6f;
        }
    }
    for (int i = 0; i < n_ks; i++) {
        struct kernel *k = &ks[i];
        qsort(k->held, trials, 4, by_value), qsort(k->rows, trials, 4, by_value), qsort(k->event, trials, 4, by_value);
        double mean = 0;
        for (int t = trials / 10; t < trials - trials / 10; t++)
            mean += k->held[t];
        printf("%-28s %dx%dx%d held %.0f (%.0f-%.0f, trimmed %.0f) row %.0f event %.0f (%.0f-%.0f) sum %08x", k->label, k->m, k->n, k->k, k->held[trials / 2],
               k->held[trials / 20], k->held[trials - 1 - trials / 20], mean / (trials - 2 * (trials / 10)), k->rows[trials / 2], k->event[trials / 2], k->event[trials / 20],
               k->event[trials - 1 - trials / 20], (unsigned)k->one);
        for (int g = 0; g < 2; g++)
            if (k->fined[g]) {
                printf(g ? "\n     later" : "\n     first");
                for (int j = 0; j < 11; j++)
                    printf(" %.0f", k->fine[g][j] / k->fined[g]);
            }
        if (k->stamped) {
            printf(" cycles");
            for (int j = 0; j < 8; j++)
                printf(" %.0f", k->stamp[j] / k->stamped);
        }
        printf("\n");
    }
    return 0;
}
