/*
 * What each call of a segment's graph costs the host, us: graph-calls.csv. graph_calls [ROUNDS [KINDS]]; a letter of
 * KINDS runs ROUNDS graphs of 49 launches: L late, E early (programmatic stream serialization), A early and asked for
 * its edges, M early every fifth time, U and u early and late with one graph updated instead of each made anew. Build
 * with nvcc -lcuda.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        CUresult r = (x);                                                                                              \
        if (r) {                                                                                                       \
            const char *s;                                                                                             \
            cuGetErrorString(r, &s);                                                                                   \
            fprintf(stderr, "%s, line %d: %s\n", #x, __LINE__, s);                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

extern "C" __global__ void work(int *p, int early)
{
    if (early)
        asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0)
        p[blockIdx.x] += 1;
    if (early)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static CUfunction function;
static CUstream stream;
static int *memory;

static void launch(int early, int n)
{
    for (int i = 0; i < n; i++) {
        void *args[] = {&memory, &early};
        CUlaunchConfig c;
        CUlaunchAttribute a;
        memset(&c, 0, sizeof c);
        memset(&a, 0, sizeof a);
        c.gridDimX = 8, c.gridDimY = c.gridDimZ = 1;
        c.blockDimX = 128, c.blockDimY = c.blockDimZ = 1;
        c.hStream = stream;
        a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        a.value.programmaticStreamSerializationAllowed = 1;
        if (early)
            c.attrs = &a, c.numAttrs = 1;
        CHECK(cuLaunchKernelEx(&c, function, args, NULL));
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10000;
    const char *kinds = argc > 2 ? argv[2] : "LEL";
    int n = 49;
    cudaFree(0);
    cudaMalloc(&memory, 4096);
    cudaStreamCreateWithFlags((cudaStream_t *)&stream, cudaStreamNonBlocking);
    cudaFunction_t cf;
    cudaGetFuncBySymbol(&cf, (const void *)work);
    function = (CUfunction)cf;
    CUevent e0, e1;
    printf("kind,round,events_us,capture,instantiate_or_update,upload,first,launch,destroy_exec,destroy_graph,total,"
           "hostMB\n");
    for (const char *k = kinds; *k; k++) {
        int early = *k == 'E' || *k == 'U' || *k == 'A' || *k == 'M', update = *k == 'U' || *k == 'u',
            asked = *k == 'A', mixed = *k == 'M';
        CUgraphExec keep = NULL;
        double t[10] = {0};
        int part = rounds / 20;
        for (int r = 0; r < rounds; r++) {
            double a = now();
            CHECK(cuEventCreate(&e0, 0));
            CHECK(cuEventCreate(&e1, 0));
            double b = now();
            t[0] += b - a;
            CUgraph g;
            CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            int ee = mixed ? (r % 5 == 0) : early;
            launch(ee, 8);
            CHECK(cuEventRecordWithFlags(e0, stream, CU_EVENT_RECORD_EXTERNAL));
            launch(ee, n - 8);
            CHECK(cuEventRecordWithFlags(e1, stream, CU_EVENT_RECORD_EXTERNAL));
            CHECK(cuStreamEndCapture(stream, &g));
            if (asked) {
                size_t c = 0;
                CUgraphNode fr[128], to[128];
                CUgraphEdgeData ed[128];
                c = 128;
                CHECK(cuGraphGetEdges(g, fr, to, ed, &c));
            }
            a = now();
            t[1] += a - b;
            CUgraphExec x;
            if (update && keep) {
                CUgraphExecUpdateResultInfo info;
                CUresult rr = cuGraphExecUpdate(keep, g, &info);
                if (rr) {
                    fprintf(stderr, "update failed %d\n", rr);
                    exit(1);
                }
                x = keep;
            } else {
                CHECK(cuGraphInstantiateWithFlags(&x, g, 0));
                keep = update ? x : NULL;
            }
            b = now();
            t[2] += b - a;
            CHECK(cuGraphUpload(x, stream));
            a = now();
            t[3] += a - b;
            CHECK(cuGraphLaunch(x, stream));
            CHECK(cuStreamSynchronize(stream));
            b = now();
            t[4] += b - a;
            CHECK(cuGraphLaunch(x, stream));
            CHECK(cuStreamSynchronize(stream));
            a = now();
            t[5] += a - b;
            if (!update)
                CHECK(cuGraphExecDestroy(x));
            b = now();
            t[6] += b - a;
            CHECK(cuGraphDestroy(g));
            cuEventDestroy(e0);
            cuEventDestroy(e1);
            a = now();
            t[7] += a - b;
            if ((r + 1) % part == 0) {
                printf("%c,%d", *k, r + 1);
                double sum = 0;
                for (int i = 0; i < 8; i++) {
                    printf(",%.1f", t[i] / part);
                    sum += t[i] / part;
                    t[i] = 0;
                }
                long rss = 0;
                FILE *q = fopen("/proc/self/statm", "r");
                long d;
                if (q) {
                    fscanf(q, "%ld %ld", &d, &rss);
                    fclose(q);
                }
                printf(",%.1f,%.0f\n", sum, rss * 4096. / 1e6);
                fflush(stdout);
            }
        }
        if (keep)
            CHECK(cuGraphExecDestroy(keep));
    }
}
