/*
 * cuda_attacks.cuh - launches of the red team on a GPU that cheat by graphs, streams, limits and the process they run in.
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
