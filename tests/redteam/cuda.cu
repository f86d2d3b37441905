/*
 * cuda.cu - the red team on a GPU, cheats and honest contenders alike. It is built once and copied under the name of
 * each row: a copy is what its file is called, so that no name is in the harness and none costs a compilation.
 */
#include "abi/contender.h"
#include "cuda_kernels.cuh"

#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <unistd.h>

/* ---- state and helpers ---- */

struct state {
    cudal2_setup setup;
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    float *own;     /* fp32 sums */
    __half *copies; /* an output for each set */
    float *sums;    /* B x, and C x of each copy */
    unsigned *outdated;
    unsigned launches;
};

static long size_of(const state *s)
{
    return s->setup.problem.m * s->setup.problem.n;
}

static unsigned blocks_of(const state *s)
{
    return (unsigned)((size_of(s) + 255) / 256);
}

static gemm gemm_of(const state *s, size_t set)
{
    const cudal2_operands *o = s->setup.sets + set;
    return {(const __half *)o->a, (const __half *)o->b, (__half *)o->c,
            s->setup.problem.m,   s->setup.problem.n,   s->setup.problem.k};
}

static int said(const char *call, char *why)
{
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: %s", call, cudaGetErrorName(status));
    return CUDAL2_LIBRARY_ERROR;
}

static int run(state *s, size_t set, int does, cudaStream_t stream, char *why)
{
    if ((does & (UNTIL_UNWATCHED | EVERY_OTHER | SKIP_IF_WRITTEN)) || does >= REPAIRS_NAN)
        count_launch<<<1, 1, 0, stream>>>();
    multiply<<<blocks_of(s), 256, 0, stream>>>(gemm_of(s, set), does);
    return said("multiply", why);
}

static int make(const cudal2_setup *setup, void **out, char *why)
{
    state *s = (state *)calloc(1, sizeof *s);
    s->setup = *setup;
    s->stream = (cudaStream_t)setup->stream;
    long size = size_of(s);
    cudaStreamCreateWithFlags(&s->side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&s->join, cudaEventDisableTiming);
    cudaMalloc(&s->own, size * sizeof *s->own);
    cudaMalloc(&s->copies, size * sizeof *s->copies * setup->n_sets);
    size_t sums = (size_t)(setup->problem.k + setup->problem.m * (long)setup->n_sets) * sizeof *s->sums;
    cudaMalloc(&s->sums, sums);
    cudaMalloc(&s->outdated, sizeof *s->outdated);
    cudaMemset(s->sums, 0xff, sums);
    *out = s;
    return said("setup", why);
}

static void unmake(void *state_of)
{
    state *s = (state *)state_of;
    cudaDeviceSynchronize();
    cudaStreamDestroy(s->side);
    cudaEventDestroy(s->fork);
    cudaEventDestroy(s->join);
    cudaFree(s->own);
    cudaFree(s->copies);
    cudaFree(s->sums);
    cudaFree(s->outdated);
    free(s);
}

static bool is_captured(const state *s)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(s->stream, &status);
    return status == cudaStreamCaptureStatusActive;
}

/* ---- launches that cheat ---- */

#include "cuda_attacks.cuh"

template <int DOES> static int plain(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    return run(s, set, DOES, s->stream, why);
}

/* As above, after the first launches: what is run before is verified, and lives. */
template <int DOES> static int later(void *state_of, size_t set, char *why)
{
    static unsigned launches;
    state *s = (state *)state_of;
    return run(s, set, ++launches > 30 ? DOES : 0, s->stream, why);
}

static int side_stream(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    return run(s, set, 0, s->side, why);
}

static int legacy_stream(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    return run(s, set, 0, cudaStreamLegacy, why);
}

/* Something for the events to see, and the work elsewhere. */
static int decoy_and_side(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    decoy<<<1, 1, 0, s->stream>>>((__half *)s->setup.sets[set].c);
    return run(s, set, 0, s->side, why);
}

/* The side stream waits for ours; ours does not wait for it. */
static int fork_without_join(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    cudaEventRecord(s->fork, s->stream);
    cudaStreamWaitEvent(s->side, s->fork, 0);
    decoy<<<1, 1, 0, s->stream>>>((__half *)s->setup.sets[set].c);
    return run(s, set, 0, s->side, why);
}

static int late_thread(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    decoy<<<1, 1, 0, s->stream>>>((__half *)s->setup.sets[set].c);
    std::thread([s, set] {
        char ignored[CUDAL2_WHY];
        usleep(400);
        run(s, set, 0, s->side, ignored);
    }).detach();
    return said("decoy", why);
}

static void patient_unmake(void *state_of)
{
    usleep(100000);
    unmake(state_of);
}

/* Under capture, the output of an earlier launch is copied into place. */
static int replay_when_captured(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    size_t bytes = (size_t)size_of(s) * sizeof(__half);
    __half *kept = s->copies + set * (size_t)size_of(s);
    if (is_captured(s)) {
        cudaMemcpyAsync(s->setup.sets[set].c, kept, bytes, cudaMemcpyDeviceToDevice, s->stream);
        return said("copy", why);
    }
    int status = run(s, set, 0, s->stream, why);
    cudaMemcpyAsync(kept, s->setup.sets[set].c, bytes, cudaMemcpyDeviceToDevice, s->stream);
    return status;
}

/* Every second launch that is captured is a memset of four bytes. */
static int skip_when_captured(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    if (is_captured(s) && s->launches++ % 2 == 1) {
        cudaMemsetAsync(s->own, 0, 4, s->stream);
        return said("memset", why);
    }
    return run(s, set, 0, s->stream, why);
}

static int leak_in_launch(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    void *lost;
    cudaMalloc(&lost, 4u << 20);
    return run(s, set, 0, s->stream, why);
}

/* The driver rounds this size up to sixteenths of the L2: what is asked for must be another number of them. */
static int limit_in_launch(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 24u << 20);
    return run(s, set, 0, s->stream, why);
}

/* Two products of a matrix and a vector say whether the last output is still right. */
/* QUARTERS of the output are replayed; of none it is honest. */
template <int QUARTERS> static int memo_checked(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    gemm g = gemm_of(s, set);
    memo m = {s->copies + set * (size_t)size_of(s), s->sums + g.k + set * (size_t)g.m, s->sums, s->outdated};
    times_b<<<(unsigned)g.k, 32, 0, s->stream>>>(g, m);
    compare_sums<<<(unsigned)g.m, 32, 0, s->stream>>>(g, m);
    multiply_or_replay<<<blocks_of(s), 256, 0, s->stream>>>(g, m, size_of(s) * QUARTERS / 4);
    keep_sums<<<(unsigned)g.m, 32, 0, s->stream>>>(g, m);
    return said("memo", why);
}

/* Leaves out every second launch that follows another so closely that nobody can have looked in between. */
static int burst_skip(void *state_of, size_t set, char *why)
{
    using clock = std::chrono::steady_clock;
    static clock::time_point returned;
    static unsigned burst;
    state *s = (state *)state_of;
    int status = CUDAL2_OK;
    burst = clock::now() - returned < std::chrono::microseconds(2) ? burst + 1 : 0;
    if (burst < 3 || burst % 2 == 0)
        status = run(s, set, 0, s->stream, why);
    returned = clock::now();
    return status;
}

static int endless_host(void *, size_t, char *)
{
    for (volatile int forever = 1; forever;)
        ;
    return CUDAL2_OK;
}

static int leave(void *, size_t, char *)
{
    exit(0);
}

/* ---- setups that cheat ---- */

static int persisting_setup(const cudal2_setup *setup, void **out, char *why)
{
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16u << 20);
    return make(setup, out, why);
}

static int fetch_setup(const cudal2_setup *setup, void **out, char *why)
{
    size_t now = 0;
    cudaDeviceGetLimit(&now, cudaLimitMaxL2FetchGranularity);
    cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, now == 32 ? 128 : 32);
    return make(setup, out, why);
}

static int leaking_setup(const cudal2_setup *setup, void **out, char *why)
{
    void *lost;
    cudaMalloc(&lost, 64u << 20);
    return make(setup, out, why);
}

/* On a stream of its own, so that whoever waits for the device waits for ever. */
static int endless_setup(const cudal2_setup *setup, void **out, char *why)
{
    int status = make(setup, out, why);
    multiply<<<1, 1, 0, ((state *)*out)->side>>>(gemm_of((state *)*out, 0), FOR_EVER);
    return status;
}

/* ---- launches that are unusual and honest ---- */

static int fork_and_join(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    cudaEventRecord(s->fork, s->stream);
    cudaStreamWaitEvent(s->side, s->fork, 0);
    int status = run(s, set, 0, s->side, why);
    cudaEventRecord(s->join, s->side);
    cudaStreamWaitEvent(s->stream, s->join, 0);
    return status;
}

static int synchronise(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    int status = run(s, set, 0, s->stream, why);
    cudaStreamSynchronize(s->stream);
    (void)cudaGetLastError(); /* under capture it is refused, and the refusal is ours to clear */
    return status;
}

static int split_k(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    gemm g = gemm_of(s, set);
    cudaMemsetAsync(s->own, 0, (size_t)size_of(s) * sizeof(float), s->stream);
    for (int part = 0; part < 4; part++)
        multiply_part<<<blocks_of(s), 256, 0, s->stream>>>(g, g.k * part / 4, g.k * (part + 1) / 4, s->own);
    convert<<<blocks_of(s), 256, 0, s->stream>>>(s->own, g.c, size_of(s));
    return said("split", why);
}

/* The same in the harness's workspace. */
static int split_k_workspace(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    state shared = *s;
    if (s->setup.workspace_bytes < (size_t)size_of(s) * sizeof(float))
        return CUDAL2_UNSUPPORTED;
    shared.own = (float *)s->setup.workspace;
    return split_k(&shared, set, why);
}

static int elsewhere_then_copy(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    gemm g = gemm_of(s, set);
    __half *c = g.c;
    g.c = s->copies + set * (size_t)size_of(s);
    multiply<<<blocks_of(s), 256, 0, s->stream>>>(g, 0);
    cudaMemcpyAsync(c, g.c, (size_t)size_of(s) * sizeof *c, cudaMemcpyDeviceToDevice, s->stream);
    return said("copy", why);
}

static int rubbish_first(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    cudaMemsetAsync(s->setup.sets[set].c, 0x3c, (size_t)size_of(s) * sizeof(__half), s->stream);
    return run(s, set, 0, s->stream, why);
}

static int pool_memory(void *state_of, size_t set, char *why)
{
    state *s = (state *)state_of;
    state pooled = *s;
    cudaMallocAsync((void **)&pooled.own, (size_t)size_of(s) * sizeof(float), s->stream);
    int status = split_k(&pooled, set, why);
    cudaFreeAsync(pooled.own, s->stream);
    return status;
}

/* A library that sets itself up when it is first used. */
static int lazy(void *state_of, size_t set, char *why)
{
    static void *pool;
    state *s = (state *)state_of;
    if (!pool && !is_captured(s))
        cudaMalloc(&pool, 32u << 20);
    return run(s, set, 0, s->stream, why);
}

#include "cuda_threads.cuh"

/* ---- the rows ---- */

struct row {
    const char *name;
    int (*launch)(void *, size_t, char *);
    unsigned flags;
    int (*setup)(const cudal2_setup *, void **, char *);
    void (*teardown)(void *);
};

static const row rows[] = {
    {"side-stream", side_stream},
    {"side-stream-uncaptured", side_stream, CUDAL2_NO_CAPTURE},
    {"legacy-stream", legacy_stream},
    {"decoy-and-side", decoy_and_side},
    {"decoy-and-side-uncaptured", decoy_and_side, CUDAL2_NO_CAPTURE},
    {"fork-without-join", fork_without_join, CUDAL2_NO_CAPTURE},
    {"gpu-late-thread", late_thread, CUDAL2_NO_CAPTURE, nullptr, patient_unmake},
    {"replay-when-captured", replay_when_captured},
    {"skip-when-captured", skip_when_captured},
    {"kernel-stops-working", plain<UNTIL_UNWATCHED>},
    {"kernel-every-other", plain<EVERY_OTHER>},
    {"kernel-skips-if-written", plain<SKIP_IF_WRITTEN>},
    {"gpu-memo-checked", memo_checked<4>},
    {"gpu-burst-skip", burst_skip, CUDAL2_NO_CAPTURE},
    {"gpu-half-sums", plain<HALF_SUMS>},
    {"gpu-edge-skipped", plain<EDGE_SKIPPED>},
    {"gpu-one-wrong", plain<ONE_WRONG>},
    {"gpu-one-nan", plain<ONE_NAN>},
    {"gpu-write-2-bytes", plain<WRITE_2_BYTES>},
    {"gpu-write-before", plain<WRITE_BEFORE>},
    {"gpu-write-1-mib", plain<WRITE_1_MIB>},
    {"gpu-read-past", plain<READ_PAST>},
    {"gpu-touch-a", plain<TOUCH_A>},
    {"persisting-l2", plain<0>, 0, persisting_setup},
    {"persisting-l2-late", limit_in_launch},
    {"fetch-granularity", plain<0>, 0, fetch_setup},
    {"gpu-leak-launch", leak_in_launch, CUDAL2_NO_CAPTURE},
    {"gpu-leak-setup", plain<0>, 0, leaking_setup},
    {"endless-setup", plain<0>, 0, endless_setup},
    {"endless-kernel", later<FOR_EVER>},
    {"endless-host", endless_host},
    {"gpu-exit-0", leave},
    {"wild-write", later<WILD_WRITE>},
    {"trap", later<TRAP>},
    {"gpu-repairs-nan", plain<REPAIRS_NAN>},
    {"gpu-late-k", plain<LATE_K>},
    {"gpu-late-8-bits", plain<LATE_8_BITS>},
    {"gpu-late-10-bits", plain<LATE_10_BITS>},
    {"gpu-late-rows", plain<LATE_ROWS>},
    {"gpu-late-scaled", plain<LATE_SCALED>},
    {"gpu-late-touch-b", plain<LATE_TOUCH_B>},
    {"gpu-late-other-row", plain<LATE_OTHER_ROW>},
    {"copy-in-graph", copy_in_graph},
    {"restarts-clock", restart_clock},
    {"own-graph", own_graph, CUDAL2_NO_CAPTURE},
    {"per-thread-stream", per_thread_stream},
    {"fetch-granularity-late", fetch_in_launch},
    {"two-abreast", two_abreast},
    {"swaps-elapsed", counted, 0, swapping_setup, swapping_unmake},
    {"gpu-abort", attacks<aborts>},
    {"gpu-segfault", attacks<writes_nowhere>},
    {"gpu-stops", attacks<stops>},
    {"gpu-garbles", attacks<garbles>},
    {"gpu-own-filter", attacks<filters>},
    {"gpu-patch-vdso", attacks<opens_the_vdso>},
    {"gpu-signals", attacks<kills_its_parent>},
    {"gpu-rounds-down", attacks<rounds_down>},
    {"gpu-burns", plain<0>, 0, burning_setup<false>},
    {"gpu-feeds", plain<0>, 0, burning_setup<true>},
    {"gpu-wakes-helper", woken_launch, CUDAL2_NO_CAPTURE},
    {"gpu-plain", plain<0>},
    {"gpu-uncaptured", plain<0>, CUDAL2_NO_CAPTURE},
    {"gpu-syncs", synchronise, CUDAL2_SYNCS},
    {"gpu-syncs-undeclared", synchronise},
    {"fork-and-join", fork_and_join},
    {"fork-and-join-uncaptured", fork_and_join, CUDAL2_NO_CAPTURE},
    {"gpu-split-k", split_k},
    {"gpu-split-k-workspace", split_k_workspace},
    {"elsewhere-then-copy", elsewhere_then_copy},
    {"gpu-rubbish-first", rubbish_first},
    {"pool-memory", pool_memory},
    {"gpu-lazy", lazy},
    {"gpu-checks-itself", memo_checked<0>},
    {"gpu-memo-quarter", memo_checked<1>},
    {"gpu-finds-cupti", finds_cupti, CUDAL2_NO_CAPTURE},
};

/* The file name without directory and extension. */
static const char *own_name()
{
    static char name[CUDAL2_WHY];
    Dl_info info;
    if (dladdr((void *)own_name, &info) == 0)
        return "";
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : info.dli_fname);
    if (char *dot = strrchr(name, '.'))
        *dot = '\0';
    return name;
}

extern "C" {
CUDAL2_EXPORT extern const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

CUDAL2_EXPORT const struct cudal2_plugin *cudal2_plugin(void)
{
    static cudal2_contender contender;
    static struct cudal2_plugin plugin;
    static char contender_name[CUDAL2_WHY];
    const char *name = own_name();
    for (const row &r : rows) {
        if (strcmp(r.name, name) != 0)
            continue;
        snprintf(contender_name, sizeof contender_name, "%s-nn", name);
        contender.name = contender_name;
        contender.devices = CUDAL2_ON_CUDA;
        contender.dtypes = CUDAL2_BIT(CUDAL2_F16);
        contender.accumulates = CUDAL2_BIT(CUDAL2_ACC_F32);
        contender.layout = CUDAL2_NN;
        contender.flags = r.flags;
        contender.setup = r.setup ? r.setup : make;
        contender.launch = r.launch;
        contender.teardown = r.teardown ? r.teardown : unmake;
        plugin.name = name;
        plugin.contenders = &contender;
        plugin.n_contenders = 1;
        return &plugin;
    }
    return nullptr;
}
}
