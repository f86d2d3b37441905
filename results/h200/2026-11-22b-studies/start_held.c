/* The same launch from idle as it is (A), behind a wait for a word in host memory that is written when all of it has
 * been launched (W), put there before the gap (P), with the wait inside the graph (M), without a graph (S); an empty
 * kernel with (N) and without the wait (NA); and a kernel that reads 16 MB, as A, W and P (R, RW, RP).
 * start_held TRIALS MEAN_GAP_NS KERNELS.cubin. */
#include "start.h"
enum { A, W, P, M, S, N, NA, R, RW, RP, NV };
static const char *names[] = {"A", "W", "P", "M", "S", "N", "NA", "R", "RW", "RP"};
struct var {
    CUgraphExec x;
    CUevent e[2];
    CUdeviceptr st;
    int ctas, reps, n;
    CUdeviceptr a;
    int ok;
};
static unsigned long long seed = 88172645463325252ull;
static unsigned long long rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
int main(int argc, char **argv)
{
    int trials = argc > 1 ? atoi(argv[1]) : 400;
    double mean = argc > 2 ? atof(argv[2]) : 2e6;
    CK(cuInit(0));
    CUdevice dev;
    CK(cuDeviceGet(&dev, 0));
    CUcontext ctx;
    CK(cuDevicePrimaryCtxRetain(&ctx, dev));
    CK(cuCtxSetCurrent(ctx));
    CUmodule m;
    CK(cuModuleLoad(&m, argc > 3 ? argv[3] : "wake.cubin"));
    CUfunction work, empty;
    CK(cuModuleGetFunction(&work, m, "work"));
    CK(cuModuleGetFunction(&empty, m, "empty"));
    CUdeviceptr out;
    CK(cuMemAlloc(&out, 64));
    CUdeviceptr small, big;
    CK(cuMemAlloc(&small, 16 << 16));
    CK(cuMemsetD8(small, 0, 16 << 16));
    CK(cuMemAlloc(&big, 16 << 20));
    CK(cuMemsetD8(big, 0, 16 << 20));
    volatile unsigned *flag;
    CUdeviceptr dflag;
    CK(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    unsigned epoch = 0;
    unsigned *mflag;
    CUdeviceptr dm;
    CK(cuMemHostAlloc((void **)&mflag, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    *mflag = 0;
    CK(cuMemHostGetDevicePointer(&dm, mflag, 0));
    CUstream s;
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    struct var v[NV];
    memset(v, 0, sizeof v);
    for (int k = 0; k < NV; k++) {
        int isbig = k >= R;
        v[k].ctas = isbig ? 1024 : 128;
        v[k].reps = isbig ? 8 : 5;
        v[k].n = isbig ? 1 << 20 : 1 << 16;
        v[k].a = isbig ? big : small;
        v[k].ok = 1;
        CK(cuMemAlloc(&v[k].st, 1024 * 16));
        CK(cuMemsetD8(v[k].st, 0, 1024 * 16));
        for (int i = 0; i < 2; i++)
            CK(cuEventCreate(&v[k].e[i], 0));
        void *p1[] = {&v[k].a, &out, &v[k].st, &v[k].n, &v[k].reps};
        if (k == S)
            continue;
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        if (k == M) {
            CUresult r = cuStreamWaitValue32(s, dm, 1, CU_STREAM_WAIT_VALUE_GEQ);
            if (r) {
                const char *q;
                cuGetErrorString(r, &q);
                fprintf(stderr, "M: %s\n", q);
                v[k].ok = 0;
            }
        }
        CUresult r = cuEventRecordWithFlags(v[k].e[0], s, CU_EVENT_RECORD_EXTERNAL);
        if (!r) {
            if (k == N || k == NA)
                CK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, s, 0, 0));
            else
                CK(cuLaunchKernel(work, v[k].ctas, 1, 1, 128, 1, 1, 0, s, p1, 0));
            CK(cuEventRecordWithFlags(v[k].e[1], s, CU_EVENT_RECORD_EXTERNAL));
        }
        CUgraph g;
        r = cuStreamEndCapture(s, &g);
        if (r) {
            fprintf(stderr, "capture %s failed %d\n", names[k], r);
            v[k].ok = 0;
            continue;
        }
        r = cuGraphInstantiate(&v[k].x, g, 0);
        if (r) {
            fprintf(stderr, "inst %s failed %d\n", names[k], r);
            v[k].ok = 0;
            continue;
        }
        CK(cuGraphUpload(v[k].x, s));
        if (k == M)
            *mflag = 1;
        CK(cuGraphLaunch(v[k].x, s));
        CK(cuStreamSynchronize(s));
        if (k == M)
            *mflag = 0;
    }
    CUevent prev;
    CK(cuEventCreate(&prev, 0));
    printf("trial,var,gap,launch_ns,sync_ns,base,y,k0min,k0max,k1max,x0,rel\n");
    double absprev = 0;
    CK(cuEventRecord(prev, s));
    CK(cuEventSynchronize(prev));
    double h0 = now();
    unsigned long long g0 = 0;
    for (int t = 0; t < trials; t++) {
        double u = ((rnd() >> 11) + .5) / 9007199254740992.0, gap = -mean * log(u);
        int perm[NV];
        for (int i = 0; i < NV; i++)
            perm[i] = i;
        for (int i = NV - 1; i > 0; i--) {
            int j = (rnd() >> 20) % (i + 1), x = perm[i];
            perm[i] = perm[j];
            perm[j] = x;
        }
        for (int i = 0; i < NV; i++) {
            int k = perm[i];
            struct var *w = &v[k];
            float ms;
            if (!w->ok)
                continue;
            void *p1[] = {&w->a, &out, &w->st, &w->n, &w->reps};
            if (k == M)
                *mflag = 1;
            if (k == S)
                CK(cuLaunchKernel(work, w->ctas, 1, 1, 128, 1, 1, 0, s, p1, 0));
            else
                CK(cuGraphLaunch(w->x, s));
            CK(cuStreamSynchronize(s));
            if (k == M)
                *mflag = 0;
            double l0 = 0, l1 = 0, b;
            int held = k == W || k == P || k == S || k == N || k == RW || k == RP;
            if (k == P || k == RP) {
                epoch++;
                CK(cuStreamWaitValue32(s, dflag, epoch, CU_STREAM_WAIT_VALUE_GEQ));
                CK(cuGraphLaunch(w->x, s));
            }
            b = now();
            while ((l0 = now()) - b < gap)
                ;
            if (k == P || k == RP) {
                *flag = epoch;
                l1 = now();
            } else {
                if (held) {
                    epoch++;
                    CK(cuStreamWaitValue32(s, dflag, epoch, CU_STREAM_WAIT_VALUE_GEQ));
                }
                if (k == S) {
                    CK(cuEventRecord(w->e[0], s));
                    CK(cuLaunchKernel(work, w->ctas, 1, 1, 128, 1, 1, 0, s, p1, 0));
                    CK(cuEventRecord(w->e[1], s));
                } else
                    CK(cuGraphLaunch(w->x, s));
                l1 = now();
                if (held)
                    *flag = epoch;
                if (k == M) {
                    __atomic_store_n(mflag, 1, __ATOMIC_RELEASE);
                }
            }
            CK(cuEventSynchronize(w->e[1]));
            double l2 = now();
            CK(cuEventElapsedTime(&ms, prev, w->e[0]));
            double ab = absprev + ms * 1e6;
            CK(cuEventElapsedTime(&ms, w->e[0], w->e[1]));
            double y = ms * 1e6;
            static unsigned long long st[2048];
            CK(cuMemcpyDtoH(st, w->st, w->ctas * 16));
            unsigned long long a0 = ~0ull, a1 = 0, b1 = 0;
            for (int c = 0; c < w->ctas; c++) {
                if (st[2 * c] < a0)
                    a0 = st[2 * c];
                if (st[2 * c] > a1)
                    a1 = st[2 * c];
                if (st[2 * c + 1] > b1)
                    b1 = st[2 * c + 1];
            }
            if (!g0)
                g0 = a0;
            printf("%d,%s,%.0f,%.0f,%.0f,%.1f,%.1f,%lld,%lld,%lld,%.0f,%.0f\n", t, names[k], l0 - b, l1 - l0, l2 - l0,
                   ab, y, (long long)(a0 - g0), (long long)(a1 - g0), (long long)(b1 - g0), l0 - h0, l1 - h0);
            CK(cuEventRecord(prev, s));
            CK(cuEventSynchronize(prev));
            CK(cuEventElapsedTime(&ms, w->e[0], prev));
            absprev = ab + ms * 1e6;
        }
    }
    return 0;
}
