/* What a graph launched from idle spends where: [event, kernel, event] (A) and with a second event (B), an empty kernel
 * (C), a stamp (D) or the kernel again (F) in it. The kernel stamps the GPU's clock at the start and end of each CTA.
 * start_stamps TRIALS MEAN_GAP_NS REPS WARM KERNELS.cubin; CSV with times in ns: base the start event on a timeline of
 * events, ev1.. later events from it, k0min k0max the first and last CTA's start, k1min k1max their ends. */
#include "start.h"
#define CTAS 128
#define NEV 4
enum { A, B, C, D, F, NV };
static const char *names[] = {"A", "B", "C", "D", "F"};
struct var {
    CUgraphExec x;
    CUevent e[NEV];
    int n;
    CUdeviceptr st, st2;
};
int main(int argc, char **argv)
{
    int trials = argc > 1 ? atoi(argv[1]) : 400;
    double mean = argc > 2 ? atof(argv[2]) : 2e6;
    int reps = argc > 3 ? atoi(argv[3]) : 5;
    int warm = argc > 4 ? atoi(argv[4]) : 1;
    CK(cuInit(0));
    CUdevice dev;
    CK(cuDeviceGet(&dev, 0));
    CUcontext ctx;
    CK(cuDevicePrimaryCtxRetain(&ctx, dev));
    CK(cuCtxSetCurrent(ctx));
    CUmodule m;
    CK(cuModuleLoad(&m, argc > 5 ? argv[5] : "wake.cubin"));
    CUfunction work, empty, stamp;
    CK(cuModuleGetFunction(&work, m, "work"));
    CK(cuModuleGetFunction(&empty, m, "empty"));
    CK(cuModuleGetFunction(&stamp, m, "stamp"));
    CUdeviceptr a, out;
    int n = 1 << 16;
    CK(cuMemAlloc(&a, n * 16));
    CK(cuMemsetD8(a, 0, n * 16));
    CK(cuMemAlloc(&out, 64));
    CUstream s;
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    struct var v[NV];
    for (int k = 0; k < NV; k++) {
        CK(cuMemAlloc(&v[k].st, CTAS * 16));
        CK(cuMemAlloc(&v[k].st2, CTAS * 16));
        for (int i = 0; i < NEV; i++)
            CK(cuEventCreate(&v[k].e[i], 0));
        void *p1[] = {&a, &out, &v[k].st, &n, &reps}, *p2[] = {&a, &out, &v[k].st2, &n, &reps}, *p3[] = {&v[k].st2};
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        int j = 0;
#define EV CK(cuEventRecordWithFlags(v[k].e[j++], s, CU_EVENT_RECORD_EXTERNAL))
#define WK(p) CK(cuLaunchKernel(work, CTAS, 1, 1, 128, 1, 1, 0, s, p, 0))
        switch (k) {
        case A:
            EV;
            WK(p1);
            EV;
            break;
        case B:
            EV;
            EV;
            WK(p1);
            EV;
            break;
        case C:
            EV;
            CK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, s, 0, 0));
            EV;
            WK(p1);
            EV;
            break;
        case D:
            EV;
            CK(cuLaunchKernel(stamp, 1, 1, 1, 1, 1, 1, 0, s, p3, 0));
            WK(p1);
            EV;
            break;
        case F:
            EV;
            WK(p1);
            EV;
            WK(p2);
            EV;
            break;
        }
        v[k].n = j;
        CUgraph g;
        CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&v[k].x, g, 0));
        CK(cuGraphUpload(v[k].x, s));
        CK(cuGraphLaunch(v[k].x, s));
        CK(cuStreamSynchronize(s));
    }
    CUevent prev;
    CK(cuEventCreate(&prev, 0));
    printf("trial,var,gap,launch_ns,sync_ns,base,ev0,ev1,ev2,ev3,k0min,k0max,k1min,k1max,x0,x1\n");
    double absprev = 0;
    CK(cuEventRecord(prev, s));
    CK(cuEventSynchronize(prev));
    double h0 = now();
    unsigned long long seed = 88172645463325252ull;
    for (int t = 0; t < trials; t++) {
        double u;
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        u = ((seed >> 11) + .5) / 9007199254740992.0;
        double gap = -mean * log(u);
        int perm[NV];
        for (int i = 0; i < NV; i++)
            perm[i] = i;
        for (int i = NV - 1; i > 0; i--) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            int j = (seed >> 20) % (i + 1), x = perm[i];
            perm[i] = perm[j];
            perm[j] = x;
        }
        for (int i = 0; i < NV; i++) {
            struct var *w = &v[perm[i]];
            float ms;
            if (warm) {
                CK(cuGraphLaunch(w->x, s));
                CK(cuStreamSynchronize(s));
            }
            double b = now(), l0;
            while ((l0 = now()) - b < gap)
                ;
            CK(cuGraphLaunch(w->x, s));
            double l1 = now();
            CK(cuEventSynchronize(w->e[w->n - 1]));
            double l2 = now();
            CK(cuEventElapsedTime(&ms, prev, w->e[0]));
            double ab = absprev + ms * 1e6;
            double e[NEV] = {0};
            for (int j = 1; j < w->n; j++) {
                CK(cuEventElapsedTime(&ms, w->e[0], w->e[j]));
                e[j] = ms * 1e6;
            }
            unsigned long long st[CTAS * 2], st2[CTAS * 2];
            CK(cuMemcpyDtoH(st, w->st, CTAS * 16));
            CK(cuMemcpyDtoH(st2, w->st2, CTAS * 16));
            unsigned long long a0 = ~0ull, a1 = 0, b0 = ~0ull, b1 = 0;
            for (int c = 0; c < CTAS; c++) {
                if (st[2 * c] < a0)
                    a0 = st[2 * c];
                if (st[2 * c] > a1)
                    a1 = st[2 * c];
                if (st[2 * c + 1] < b0)
                    b0 = st[2 * c + 1];
                if (st[2 * c + 1] > b1)
                    b1 = st[2 * c + 1];
            }
            static unsigned long long g0;
            if (!g0)
                g0 = a0;
            printf("%d,%s,%.0f,%.0f,%.0f,%.1f,%.1f,%.1f,%.1f,%.1f,%lld,%lld,%lld,%lld,%lld,%.0f\n", t, names[perm[i]],
                   l0 - b, l1 - l0, l2 - l0, ab, 0., e[1], e[2], e[3], (long long)(a0 - g0), (long long)(a1 - g0),
                   (long long)(b0 - g0), (long long)(b1 - g0), perm[i] == D ? (long long)(st2[0] - g0) : 0, l0 - h0);
            CK(cuEventRecord(prev, s));
            CK(cuEventSynchronize(prev));
            CK(cuEventElapsedTime(&ms, w->e[0], prev));
            absprev = ab + ms * 1e6;
        }
    }
    return 0;
}
