/*
 * cuda_attacks.cuh - launches of the red team on a GPU that cheat by graphs, streams, limits, clocks and the
 * process they run in.
 * Relies on state, run and said of cuda.cu, which alone includes it, in the middle.
 */
#ifndef CUDAL2_REDTEAM_CUDA_ATTACKS_CUH
#define CUDAL2_REDTEAM_CUDA_ATTACKS_CUH

#include <cfenv>
#include <csignal>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Under capture one launch in four multiplies, and the others copy what it wrote: right while inputs stay. */
static int copy_in_graph(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    size_t bytes = (size_t)size_of(s) * sizeof(__half);
    __half *kept = s->copies + set * (size_t)size_of(s);
    s->launches = is_captured(s) ? s->launches + 1 : 0;
    if (s->launches % 4 < 2) {
        int status = run(s, set, 0, s->stream, why);
        cudaMemcpyAsync(kept, s->setup.sets[set].c, bytes, cudaMemcpyDeviceToDevice, s->stream);
        return status;
    }
    cudaMemcpyAsync(s->setup.sets[set].c, kept, bytes, cudaMemcpyDeviceToDevice, s->stream);
    return said("copy", why);
}

/* The graph that the stream is captured into; nullptr otherwise. */
static cudaGraph_t captured_into(const state *s)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    if (cudaStreamGetCaptureInfo(s->stream, &status, nullptr, &graph, nullptr, nullptr, nullptr) != cudaSuccess ||
        status != cudaStreamCaptureStatusActive)
        return nullptr;
    return graph;
}

/* The one event that is recorded in the graph so far: the clock's start. */
static cudaEvent_t start_in(cudaGraph_t graph)
{
    cudaGraphNode_t nodes[256];
    size_t n = 256, found = 0;
    cudaEvent_t event = nullptr;
    if (cudaGraphGetNodes(graph, nodes, &n) != cudaSuccess)
        return nullptr;
    for (size_t i = 0; i < n && i < 256; i++) {
        cudaGraphNodeType type;
        if (cudaGraphNodeGetType(nodes[i], &type) == cudaSuccess && type == cudaGraphNodeTypeEventRecord && found++ == 0)
            cudaGraphEventRecordNodeGetEvent(nodes[i], &event);
    }
    return found == 1 ? event : nullptr;
}

/* Under capture it records the start of the clock again behind a launch of the row: what came before is not timed. */
static int restart_clock(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    int status = run(s, set, 0, s->stream, why);
    cudaGraph_t graph = captured_into(s);
    cudaEvent_t start = graph ? start_in(graph) : nullptr;
    if (status == CUDAL2_OK && start && ++s->launches % 8 == 1)
        cudaEventRecordWithFlags(start, s->stream, cudaEventRecordExternal);
    return status;
}

/* A graph of its own, of one memset, in place of the product once it has been verified. */
static int own_graph(void *state_of, size_t set, char *why)
{
    static cudaGraphExec_t exec;
    static unsigned launches;
    state *s = (state *)state_of;
    if (!exec) {
        cudaGraph_t graph;
        cudaGraphNode_t node;
        cudaMemsetParams memset = {};
        memset.dst = s->own;
        memset.elementSize = 4;
        memset.width = memset.height = 1;
        cudaGraphCreate(&graph, 0);
        cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &memset);
        cudaGraphInstantiate(&exec, graph, 0);
    }
    if (++launches <= 30)
        return run(s, set, 0, s->stream, why);
    cudaGraphLaunch(exec, s->stream);
    return said("graph", why);
}

/* Under capture every second launch waits for what the one ahead waited for, so that two run abreast. What comes behind
 * waits for both, and each does all of its work. */
static int two_abreast(void *state_of, size_t set, char *why)
{
    static cudaGraphNode_t ahead[2], last;
    static size_t n_ahead;
    static unsigned long long capture;
    state *s = (state *)state_of;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t *behind = nullptr;
    size_t n = 0;
    unsigned long long now = 0;
    cudaStreamGetCaptureInfo(s->stream, &status, &now, nullptr, &behind, nullptr, &n);
    bool apart = n == 1 && behind[0] == last && n_ahead > 0 && now == capture;
    if (apart)
        cudaStreamUpdateCaptureDependencies(s->stream, ahead, nullptr, n_ahead, cudaStreamSetCaptureDependencies);
    n_ahead = apart || n > 2 ? 0 : n;
    for (size_t i = 0; i < n_ahead; i++)
        ahead[i] = behind[i];
    int result = run(s, set, 0, s->stream, why);
    if (apart)
        cudaStreamUpdateCaptureDependencies(s->stream, &last, nullptr, 1, cudaStreamAddCaptureDependencies);
    n = 0;
    cudaStreamGetCaptureInfo(s->stream, &status, nullptr, nullptr, &behind, nullptr, &n);
    last = n == 1 ? behind[0] : nullptr;
    capture = now;
    return result;
}

/* ---- a clock of its own in place of the driver's ---- */

typedef int (*elapsed_call)(float *, void *, void *);
static elapsed_call true_elapsed;
static void **elapsed_places[16]; /* where the harness keeps it */
static size_t n_places;
static cudaStream_t aside;

/* A tenth less where launches of ours ran since it was asked last. */
static int elapsed_less(float *milliseconds, void *start, void *end)
{
    static unsigned seen;
    unsigned now = seen;
    int status = true_elapsed(milliseconds, start, end);
    cudaMemcpyFromSymbolAsync(&now, launches_seen, sizeof now, 0, cudaMemcpyDeviceToHost, aside);
    cudaStreamSynchronize(aside);
    if (now != seen)
        *milliseconds *= 0.9f;
    seen = now;
    return status;
}

static int counted(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    count_launch<<<1, 1, 0, s->stream>>>();
    return run(s, set, 0, s->stream, why);
}

/* Notes the places that hold the call in this mapping, where it is the harness's data or the heap. */
static void note_places(const char *line, void *call)
{
    unsigned long from, to;
    char rights[8], path[256] = "";
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &from, &to, rights, path) < 3 || strncmp(rights, "rw", 2) != 0)
        return;
    if (!strstr(path, "cudal2-bench") && strcmp(path, "[heap]") != 0)
        return;
    for (void **p = (void **)from; p < (void **)to && n_places < 16; p++)
        if (*p == call)
            elapsed_places[n_places++] = p;
}

static void find_elapsed()
{
    void *call = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuEventElapsedTime", &call, 12000, cudaEnableDefault, &found);
    FILE *maps = call ? fopen("/proc/self/maps", "r") : nullptr;
    char line[512];
    while (maps && fgets(line, sizeof line, maps))
        note_places(line, call);
    if (maps)
        fclose(maps);
    true_elapsed = (elapsed_call)call;
}

static void point_places_to(elapsed_call call)
{
    for (size_t i = 0; i < n_places; i++)
        *elapsed_places[i] = (void *)call;
}

static int swapping_setup(const cudal2_setup *setup, void **out, char *why)
{
    if (!aside) {
        find_elapsed();
        cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
        point_places_to(elapsed_less);
    }
    return make(setup, out, why);
}

static void swapping_unmake(void *state_of)
{
    unmake(state_of);
    point_places_to(true_elapsed);
    if (aside)
        cudaStreamDestroy(aside);
    aside = nullptr;
    n_places = 0;
}

/* Whether the recorder of the watch is in this process: one who looks may behave there. This one only looks. */
static int finds_cupti(void *state_of, size_t set, char *why)
{
    static int found = -1;
    state *s = (state *)state_of;
    void *recorder = found < 0 ? dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (found < 0)
        found = recorder != nullptr;
    return run(s, set, 0, s->stream, why);
}

static int per_thread_stream(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    return run(s, set, 0, cudaStreamPerThread, why);
}

static int fetch_in_launch(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, ++s->launches % 2 ? 32 : 64);
    return run(s, set, 0, s->stream, why);
}

/* ---- launches that attack the process, once they have been verified ---- */

template <void (*ATTACK)()> static int attacks(void *state_of, size_t set, char *why)
{
    static unsigned launches;
    state *s = (state *)state_of;
    if (++launches > 30)
        ATTACK();
    return run(s, set, 0, s->stream, why);
}

static void aborts()
{
    abort();
}

static void writes_nowhere()
{
    static volatile uintptr_t nowhere = 16;
    *(volatile int *)nowhere = 1;
}

static void stops()
{
    raise(SIGSTOP);
}

/* To the supervisor, in the worker's name. */
static void garbles()
{
    static const char line[] = "{\"type\":\"record\",\"nonce\":\"\"}\n";
    (void)!write(3, line, sizeof line - 1);
}

/* A filter of its own, which could trap the clocks. */
static void filters()
{
    sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    sock_fprog program = {1, all};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void opens_the_vdso()
{
    mprotect((void *)getauxval(AT_SYSINFO_EHDR), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void kills_its_parent()
{
    kill(getppid(), SIGSTOP);
}

static void rounds_down()
{
    fesetround(FE_DOWNWARD);
}

#endif
