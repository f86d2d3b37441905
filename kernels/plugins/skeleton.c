/*
 * skeleton.c - a plugin to start from: the smallest honest contender, and when each hook is called.
 *
 * Copy it, change the names, replace the loops in skeleton_launch. Build it anywhere with
 *
 *     gcc -std=c17 -O3 mine.c $(pkg-config --cflags --libs cudal2-bench) -o mine.so      (after make install), or
 *     gcc -std=c17 -O3 mine.c -I<source>/harness -fPIC -fvisibility=hidden -shared -o mine.so
 *
 * and race it:  cudal2-bench run --shape 512x512x512 --candidate ./mine.so. docs/abi.md has the whole contract. A CUDA
 * kernel that needs no host code is better off as a device-only module: kernels/skeleton.cu.
 */
#include "abi/contender.h"

#include <stdio.h>
#include <stdlib.h>

/* What setup prepares for launch. One for each problem, layout and group of blocks. */
struct state {
    const struct cudal2_operands *sets; /* valid until teardown, so it need not be copied */
    int64_t m, n, k;
    int64_t b_along_k, b_along_n; /* element strides of B: the only difference between the layouts */
};

/*
 * Called once for each problem before anything is timed. Do everything expensive here: library handles, descriptors,
 * choice of algorithm, tensor maps of every set, allocations. setup->workspace is device memory that all contenders
 * share in turn: it holds garbage at every launch. On failure write one line to `why`, leave nothing behind and
 * return a status; teardown is not called then.
 */
static int skeleton_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct state *s = malloc(sizeof *s);
    if (!s) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    const struct cudal2_problem *p = &setup->problem;
    *s = (struct state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
    s->b_along_k = setup->layout == CUDAL2_NN ? p->n : 1;
    s->b_along_n = setup->layout == CUDAL2_NN ? 1 : p->k;
    *state = s;
    return CUDAL2_OK;
}

/*
 * The timed part: C = A * B for operand set `set`, and nothing else. On CUDA it only enqueues on setup->stream: no
 * allocation, no synchronisation, no other stream; it may run under stream capture, and then runs once while the GPU
 * replays it many times. On the CPU it returns when C is complete.
 */
static int skeleton_launch(void *state, size_t set, char *why)
{
    const struct state *s = state;
    const float *a = s->sets[set].a;
    const float *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why; /* nothing here can fail */
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            float sum = 0.0f;
            for (int64_t p = 0; p < s->k; p++)
                sum += a[i * s->k + p] * b[p * s->b_along_k + j * s->b_along_n];
            c[i * s->n + j] = sum;
        }
    return CUDAL2_OK;
}

/* Called once after the last launch of this state. Releases what setup made. */
static void skeleton_teardown(void *state)
{
    free(state);
}

/* Optional, called between setup and teardown: what the result's `attributes` say about this contender. */
static int skeleton_describe(void *state, char *out, size_t capacity)
{
    (void)state;
    snprintf(out, capacity, "{\"accumulates\":\"f32\",\"threads\":1}");
    return CUDAL2_OK;
}

/* What can be raced. Whatever a declaration leaves out (an f16 problem, a GPU) is skipped with a stated reason, so
 * declare exactly what works. Zero in min_cc, max_cc and the multiples means no limit. list_variants (see cublaslt.c)
 * is for contenders that can do one problem in several ways and want the harness to choose by measurement. */
static const struct cudal2_contender contenders[] = {
    {
        .name = "skeleton-nn", /* family "skeleton" and the layout */
        .devices = CUDAL2_ON_CPU,
        .dtypes = CUDAL2_BIT(CUDAL2_F32),
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
        .layout = CUDAL2_NN,
        .setup = skeleton_setup,
        .launch = skeleton_launch,
        .teardown = skeleton_teardown,
        .describe = skeleton_describe,
    },
    {
        .name = "skeleton-tn",
        .devices = CUDAL2_ON_CPU,
        .dtypes = CUDAL2_BIT(CUDAL2_F32),
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
        .layout = CUDAL2_TN,
        .setup = skeleton_setup,
        .launch = skeleton_launch,
        .teardown = skeleton_teardown,
        .describe = skeleton_describe,
    },
};

/* Optional, called once after the device context exists: library versions and the paths really mapped. */
static int skeleton_versions(char *out, size_t capacity)
{
    snprintf(out, capacity, "{\"skeleton\":\"1\"}");
    return CUDAL2_OK;
}

/* Optional, called once per process before any setup: say why this plugin cannot be used here at all. */
static int skeleton_probe(uint32_t device_bits, int device_ordinal, char *why)
{
    (void)device_bits;
    (void)device_ordinal;
    (void)why;
    return CUDAL2_OK;
}

static const struct cudal2_plugin plugin = {
    .name = "skeleton",
    .contenders = contenders,
    .n_contenders = sizeof contenders / sizeof contenders[0],
    .versions = skeleton_versions,
    .probe = skeleton_probe,
};

/* The two symbols that a plugin exports: no others, or it is refused. */
const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
