/* Launches in a row: L of the kernel behind 0 to 48 untimed ones, held or not. start_row TRIALS REPS L KERNELS.cubin.
 */
#include "start.h"
int main(int argc, char **argv)
{
    int trials = atoi(argv[1]), reps = atoi(argv[2]), L = atoi(argv[3]);
    CK(cuInit(0));
    CUdevice dev;
    CK(cuDeviceGet(&dev, 0));
    CUcontext ctx;
    CK(cuDevicePrimaryCtxRetain(&ctx, dev));
    CK(cuCtxSetCurrent(ctx));
    CUmodule m;
    CK(cuModuleLoad(&m, argv[4]));
    CUfunction work;
    CK(cuModuleGetFunction(&work, m, "work"));
    CUdeviceptr out, a, st;
    CK(cuMemAlloc(&out, 64));
    int n = 1 << 16;
    CK(cuMemAlloc(&a, 16 << 16));
    CK(cuMemsetD8(a, 0, 16 << 16));
    CK(cuMemAlloc(&st, 2048 * 8));
    volatile unsigned *flag;
    CUdeviceptr dflag;
    CK(cuMemHostAlloc((void **)&flag, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    *flag = 0;
    CK(cuMemHostGetDevicePointer(&dflag, (void *)flag, 0));
    CUstream s;
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    unsigned epoch = 0;
    static const int prim[] = {0, 2, 8, 16, 48};
    struct {
        CUgraphExec x;
        CUevent e[2];
    } v[5];
    void *p1[] = {&a, &out, &st, &n, &reps};
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 2; i++)
            CK(cuEventCreate(&v[k].e[i], 0));
        CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (int i = 0; i < prim[k]; i++)
            CK(cuLaunchKernel(work, 128, 1, 1, 128, 1, 1, 0, s, p1, 0));
        CK(cuEventRecordWithFlags(v[k].e[0], s, CU_EVENT_RECORD_EXTERNAL));
        for (int i = 0; i < L; i++)
            CK(cuLaunchKernel(work, 128, 1, 1, 128, 1, 1, 0, s, p1, 0));
        CK(cuEventRecordWithFlags(v[k].e[1], s, CU_EVENT_RECORD_EXTERNAL));
        CUgraph g;
        CK(cuStreamEndCapture(s, &g));
        CK(cuGraphInstantiate(&v[k].x, g, 0));
        CK(cuGraphUpload(v[k].x, s));
        CK(cuGraphLaunch(v[k].x, s));
        CK(cuStreamSynchronize(s));
    }
    printf("primers,held,launch,idle,y\n");
    for (int t = 0; t < trials; t++)
        for (int q = 0; q < 10; q++) {
            int k = (q + t * 3) % 5, held = (q / 5 + t) % 2;
            float ms;
            double idle = (t % 3 == 0) ? 0 : (t % 3 == 1) ? 1e5 : 2e6;
            double b = now();
            while (now() - b < idle)
                ;
            double l0 = now();
            if (held) {
                epoch++;
                CK(cuStreamWaitValue32(s, dflag, epoch, CU_STREAM_WAIT_VALUE_GEQ));
            }
            CK(cuGraphLaunch(v[k].x, s));
            double l1 = now();
            if (held)
                *flag = epoch;
            CK(cuEventSynchronize(v[k].e[1]));
            CK(cuEventElapsedTime(&ms, v[k].e[0], v[k].e[1]));
            printf("%d,%d,%.0f,%.0f,%.2f\n", prim[k], held, l1 - l0, idle, ms * 1e6 / L);
        }
    return 0;
}
