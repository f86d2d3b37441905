/*
 * cublaslt.c - baselines: cuBLASLt by its heuristic (paper, Listing 7), for the harness's autotuning (Listing 8), and
 * at its strongest (cublaslt-exhaustive), NN and TN, with every status checked.
 *
 * The heuristic contenders take the heuristic's first answer. The others are the same code with a list of variants:
 * the plugin lists algorithms and never times one; the harness verifies, races and caches them. Where fp16 accumulation
 * is allowed, `autotuning-32f` is the autotuning of what accumulates in fp32, and `exhaustive` lists both: the key of a
 * wide one begins with WIDE.
 */
#include "cublaslt_algorithms.h"
#include "cublaslt_enumerate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDE "32f/"

struct gemm {
    struct lt_matmul matmul;
    struct lt_algorithm chosen;
    int returned; /* answers of the heuristic for the whole workspace; -1: not asked yet */
    const struct cudal2_operands *sets;
    void *workspace;
    size_t workspace_bytes;
    cudaStream_t stream;
};

static int no_algorithm(char *why)
{
    snprintf(why, CUDAL2_WHY, "cublasLtMatmulAlgoGetHeuristic knows no algorithm for this problem");
    return CUDAL2_UNSUPPORTED;
}

/* Lists the algorithms of one problem, at most `capacity` or LT_MAX_ALGORITHMS. As lt_heuristic. */
typedef int (*lister)(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out,
                      int capacity, char *why);

static int heuristic_answers(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out,
                             int capacity, char *why)
{
    (void)capacity; /* LT_MAX_ALGORITHMS at least */
    return lt_all_algorithms(m, setup->workspace_bytes, out, why);
}

static int list(const struct cudal2_setup *setup, lister ask, struct lt_algorithm *found, int capacity, char *why)
{
    struct lt_matmul matmul;
    int n = -lt_matmul_open(setup, &matmul, why);
    if (n != CUDAL2_OK)
        return n;
    n = ask(&matmul, setup, found, capacity, why);
    lt_matmul_close(&matmul);
    return n == 0 ? -no_algorithm(why) : n;
}

static int list_keys(const struct cudal2_setup *setup, lister ask, struct cudal2_variant *out, size_t capacity,
                     char *why)
{
    int room = capacity > LT_MAX_ALGORITHMS ? (int)capacity : LT_MAX_ALGORITHMS;
    struct lt_algorithm *found = calloc((size_t)room, sizeof *found);
    if (!found) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return -CUDAL2_NO_MEMORY;
    }
    int n = list(setup, ask, found, (int)capacity, why);
    if (n > 0 && (size_t)n > capacity)
        n = (int)capacity;
    for (int i = 0; i < n; i++)
        lt_key(&found[i], &out[i]);
    free(found);
    return n;
}

static int lt_list_variants(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why)
{
    return list_keys(setup, heuristic_answers, out, capacity, why);
}

static struct cudal2_setup widened(const struct cudal2_setup *setup)
{
    struct cudal2_setup wide = *setup;
    wide.problem.accumulate = CUDAL2_ACC_F32;
    return wide;
}

/* With fp32 accumulation asked for there is nothing wider. */
static bool has_wider(const struct cudal2_setup *setup, char *why)
{
    if (setup->problem.accumulate == CUDAL2_ACC_F16)
        return true;
    snprintf(why, CUDAL2_WHY, "where fp32 accumulation is asked for it would be cublaslt-autotuning again");
    return false;
}

static int lt_list_wide(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why)
{
    const struct cudal2_setup wide = widened(setup);
    return has_wider(setup, why) ? list_keys(&wide, heuristic_answers, out, capacity, why) : -CUDAL2_UNSUPPORTED;
}

/* One of each in turn, so that a race that ends early has seen both. */
static int deal(const struct cudal2_variant *narrow, int n, const struct cudal2_variant *wide, int n_wide,
                struct cudal2_variant *out)
{
    int total = 0;
    for (int i = 0; i < n || i < n_wide; i++) {
        if (i < n)
            out[total++] = narrow[i];
        if (i < n_wide)
            snprintf(out[total++].key, sizeof out->key, WIDE "%.*s", (int)(sizeof out->key - sizeof WIDE), wide[i].key);
    }
    return total;
}

/* Half of the room for each of the two that compete where fp16 accumulation is allowed. */
static int lt_list_exhaustive(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why)
{
    if (setup->problem.accumulate == CUDAL2_ACC_F32)
        return list_keys(setup, lt_enumerate, out, capacity, why);
    struct cudal2_variant *both = calloc(capacity, sizeof *both);
    if (!both) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return -CUDAL2_NO_MEMORY;
    }
    const struct cudal2_setup wide = widened(setup);
    size_t half = capacity / 2;
    int n = list_keys(setup, lt_enumerate, both, half, why);
    int n_wide = list_keys(&wide, lt_enumerate, both + half, capacity - half, why);
    int total = n <= 0 && n_wide <= 0 ? n_wide : deal(both, n, both + half, n_wide, out);
    free(both);
    return total;
}

static bool is_wide(const char *variant)
{
    return variant && strncmp(variant, WIDE, strlen(WIDE)) == 0;
}

/* The heuristic's latest answer for a layout. Each group of blocks sets up anew, and where matrices lie is no question
 * to the heuristic: it is asked once for a problem. */
static struct answer {
    struct cudal2_problem problem;
    size_t workspace_bytes;
    int returned; /* 0: nothing is known */
    struct lt_algorithm first;
} latest[2];

static bool same_problem(const struct cudal2_problem *a, const struct cudal2_problem *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->dtype == b->dtype && a->accumulate == b->accumulate &&
           a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc && a->alpha == b->alpha && a->beta == b->beta;
}

/* A negative status, or how many algorithms the heuristic knows. */
static int first_answer(const struct cudal2_setup *setup, const struct lt_matmul *m, struct lt_algorithm *first,
                        char *why)
{
    struct lt_algorithm answers[LT_REQUESTED];
    struct answer *a = &latest[setup->layout == CUDAL2_TN];
    if (a->returned == 0 || a->workspace_bytes != setup->workspace_bytes ||
        !same_problem(&a->problem, &setup->problem)) {
        int returned = lt_heuristic(m, setup->workspace_bytes, answers, why);
        if (returned <= 0)
            return returned;
        *a = (struct answer){setup->problem, setup->workspace_bytes, returned, answers[0]};
    }
    *first = a->first;
    return a->returned;
}

/* A race sets up dozens of variants, which need no answer of the heuristic. */
static int choose(struct gemm *g, const struct cudal2_setup *setup, char *why)
{
    const char *variant = setup->variant;
    g->returned = -1;
    if (variant)
        return lt_parse_key(&g->matmul, variant + (is_wide(variant) ? strlen(WIDE) : 0), g->workspace_bytes, &g->chosen,
                            why);
    g->returned = first_answer(setup, &g->matmul, &g->chosen, why);
    if (g->returned < 0)
        return -g->returned;
    return g->returned == 0 ? no_algorithm(why) : CUDAL2_OK;
}

static void lt_teardown(void *state)
{
    struct gemm *g = state;
    lt_matmul_close(&g->matmul);
    free(g);
}

static int lt_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct gemm *g = calloc(1, sizeof *g);
    if (!g) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    g->sets = setup->sets;
    g->workspace = setup->workspace;
    g->workspace_bytes = setup->workspace_bytes;
    g->stream = setup->stream;
    const struct cudal2_setup wide = widened(setup);
    int status = lt_matmul_open(is_wide(setup->variant) ? &wide : setup, &g->matmul, why);
    if (status == CUDAL2_OK)
        status = choose(g, setup, why);
    if (status == CUDAL2_OK)
        *state = g;
    else
        lt_teardown(g);
    return status;
}

static int lt_setup_wide(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_setup wide = widened(setup);
    return has_wider(setup, why) ? lt_setup(&wide, state, why) : CUDAL2_UNSUPPORTED;
}

static int lt_launch(void *state, size_t set, char *why)
{
    const struct gemm *g = state;
    const struct lt_matmul *m = &g->matmul;
    const struct cudal2_operands *o = &g->sets[set];
    cublasStatus_t status =
        cublasLtMatmul(m->handle, m->operation, &m->alpha, o->b, m->a, o->a, m->b, &m->beta, o->c, m->c, o->c, m->c,
                       &g->chosen.algorithm, g->workspace, g->workspace_bytes, g->stream);
    return status == CUBLAS_STATUS_SUCCESS ? CUDAL2_OK : lt_failed(why, "cublasLtMatmul", status);
}

static int lt_describe_state(void *state, char *out, size_t capacity)
{
    struct gemm *g = state;
    struct lt_algorithm answers[LT_REQUESTED];
    char attributes[1024], why[CUDAL2_WHY];
    if (g->returned < 0)
        g->returned = lt_heuristic(&g->matmul, g->workspace_bytes, answers, why);
    if (g->returned < 0)
        return CUDAL2_LIBRARY_ERROR;
    if (lt_describe(&g->chosen, attributes, sizeof attributes) < 0)
        return CUDAL2_LIBRARY_ERROR;
    int n = snprintf(out, capacity, "{\"accumulates\":\"%s\",%s,\"returned\":%d}",
                     g->matmul.compute == CUBLAS_COMPUTE_16F ? "f16" : "f32", attributes, g->returned);
    return n > 0 && (size_t)n < capacity ? CUDAL2_OK : CUDAL2_NO_MEMORY;
}

/* With what is the same for every problem: the scale type follows the compute type (16F or 32F). */
static int lt_versions(char *out, size_t capacity)
{
    char path[2048];
    nvidia_mapped_path((const void *)(uintptr_t)&cublasLtMatmul, path, sizeof path);
    size_t v = cublasLtGetVersion(); /* major * 10000 + minor * 100 + patch */
    snprintf(out, capacity,
             "{\"cublaslt\":\"%zu.%zu.%zu\",\"built_with\":\"%d.%d.%d\",\"path\":\"%s\","
             "\"algorithms_requested\":%d,\"scale_type\":\"as compute type\"}",
             v / 10000, v / 100 % 100, v % 100, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH, path,
             LT_REQUESTED);
    return CUDAL2_OK;
}

static int lt_probe(uint32_t device_bits, int device_ordinal, char *why)
{
    (void)device_ordinal;
    return device_bits & CUDAL2_ON_CUDA ? nvidia_check_mapped(why) : CUDAL2_OK;
}

#define CUBLASLT(contender_name, contender_layout, variants, setup_hook, abilities)                                    \
    {                                                                                                                  \
        .name = contender_name, .devices = CUDAL2_ON_CUDA, .dtypes = CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16), \
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32), .layout = contender_layout,            \
        .flags = (abilities) | CUDAL2_STRIDES | CUDAL2_SCALES, .min_cc = 70, .list_variants = variants,                \
        .setup = setup_hook, .launch = lt_launch, .teardown = lt_teardown, .describe = lt_describe_state               \
    }

static const struct cudal2_contender contenders[] = {
    CUBLASLT("cublaslt-heuristic-nn", CUDAL2_NN, NULL, lt_setup, 0),
    CUBLASLT("cublaslt-heuristic-tn", CUDAL2_TN, NULL, lt_setup, 0),
    CUBLASLT("cublaslt-autotuning-nn", CUDAL2_NN, lt_list_variants, lt_setup, 0),
    CUBLASLT("cublaslt-autotuning-tn", CUDAL2_TN, lt_list_variants, lt_setup, 0),
    CUBLASLT("cublaslt-autotuning-32f-nn", CUDAL2_NN, lt_list_wide, lt_setup_wide, CUDAL2_ACC_WIDER),
    CUBLASLT("cublaslt-autotuning-32f-tn", CUDAL2_TN, lt_list_wide, lt_setup_wide, CUDAL2_ACC_WIDER),
    CUBLASLT("cublaslt-exhaustive-nn", CUDAL2_NN, lt_list_exhaustive, lt_setup, CUDAL2_ACC_WIDER),
    CUBLASLT("cublaslt-exhaustive-tn", CUDAL2_TN, lt_list_exhaustive, lt_setup, CUDAL2_ACC_WIDER)};

static const struct cudal2_plugin plugin = {.name = "cublaslt",
                                            .contenders = contenders,
                                            .n_contenders = sizeof contenders / sizeof contenders[0],
                                            .versions = lt_versions,
                                            .probe = lt_probe};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
