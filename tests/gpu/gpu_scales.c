/*
 * gpu_scales - baselines on problems with leading dimensions, alpha and beta, straight from their plugins: every
 * element against plain loops, gaps and C's input included. A run refuses such problems on a GPU
 * (contender/supports.c), so nothing else launches them there.
 *
 *   gpu_scales [cpu]    on the first GPU, or on the CPU device (which tests this program)
 *
 * Prints a line for each contender; exits 1 when one is wrong, and when none was asked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/half.h"
#include "contender/plugin.h"

#define WORKSPACE (32u << 20)
#define VARIANTS 4 /* of a contender that has any: so many are tried */
#define ROUNDS 3   /* launches, each on another C */

static const char *const on_gpu[][2] = {{"torch", "torch.matmul"},
                                        {"cublas", "cublas-nn"},
                                        {"cublas", "cublas-tn"},
                                        {"cublas", "cublas-autotune-nn"},
                                        {"cublaslt", "cublaslt-heuristic-nn"},
                                        {"cublaslt", "cublaslt-heuristic-tn"},
                                        {"cublaslt", "cublaslt-autotuning-nn"},
                                        {"cublaslt", "cublaslt-autotuning-tn"}};
static const char *const on_cpu[][2] = {{"torch", "torch.matmul"},
                                        {"openblas", "openblas-nn"},
                                        {"openblas", "openblas-tn"},
                                        {"blocked", "blocked-nn"},
                                        {"blocked", "blocked-tn"}};

/* Sums of 64 products of -1, 0 and 1: with these scales exact in every dtype. */
static const struct cudal2_problem problems[] = {
    {.m = 48, .n = 96, .k = 64, .alpha = 2, .beta = -1},
    {.m = 48, .n = 96, .k = 64, .lda = 72, .ldb = 104, .ldc = 112},
    {.m = 48, .n = 96, .k = 64, .lda = 72, .ldb = 104, .ldc = 112, .alpha = -1, .beta = 2},
    {.m = 48, .n = 96, .k = 64, .alpha = -0.5},
    {.m = 48, .n = 96, .k = 64, .ldc = 112, .alpha = 3.875, .beta = -0.125}};

/* One contender on one problem. */
struct trial {
    struct device *d;
    struct contender c;
    struct cudal2_problem p;
    void *memory[4]; /* A, B, C, workspace on the device */
    char *host[3];   /* A, B, C */
    size_t bytes[3];
    char why[CUDAL2_WHY];
};

static float a_value(int64_t i, int64_t k)
{
    return (float)((i * 7 + k * 5) % 3 - 1);
}

static float b_value(int64_t k, int64_t j)
{
    return (float)((k * 4 + j * 11) % 3 - 1);
}

static float c_value(int round, int64_t i, int64_t j)
{
    return (float)((i * 3 + j * 13 + 7 * round) % 9 - 4);
}

/* NaN everywhere, and then the matrices between the gaps. */
static void fill_host(struct trial *t, int round)
{
    enum cudal2_layout layout = t->c.is.layout;
    const struct cudal2_problem full = problem_full(&t->p, layout);
    for (int i = 0; i < 3; i++)
        memset(t->host[i], 0xff, t->bytes[i]);
    for (int64_t i = 0; i < full.m; i++)
        for (int64_t k = 0; k < full.k; k++)
            element_store(t->host[0], full.dtype, (size_t)(i * full.lda + k), a_value(i, k));
    for (int64_t k = 0; k < full.k; k++)
        for (int64_t j = 0; j < full.n; j++)
            element_store(t->host[1], full.dtype, (size_t)(layout == CUDAL2_TN ? j * full.ldb + k : k * full.ldb + j),
                          b_value(k, j));
    for (int64_t i = 0; i < full.m && problem_reads_c(&full); i++)
        for (int64_t j = 0; j < full.n; j++)
            element_store(t->host[2], full.dtype, (size_t)(i * full.ldc + j), c_value(round, i, j));
}

/* False, with the first wrong element in why. */
static bool is_right(struct trial *t, int round)
{
    const struct cudal2_problem full = problem_full(&t->p, t->c.is.layout);
    unsigned char gap[sizeof(float)];
    size_t width = dtype_bytes(full.dtype);
    memset(gap, 0xff, sizeof gap);
    for (int64_t i = 0; i < full.m; i++)
        for (int64_t j = 0; j < (i + 1 < full.m ? full.ldc : full.n); j++) {
            size_t at = (size_t)(i * full.ldc + j);
            double sum = 0, got = (double)element_load(t->host[2], full.dtype, at);
            for (int64_t k = 0; k < full.k && j < full.n; k++)
                sum += (double)a_value(i, k) * (double)b_value(k, j);
            double expected = full.alpha * sum + full.beta * (double)c_value(round, i, j);
            bool right = j < full.n ? got == expected : memcmp(t->host[2] + at * width, gap, width) == 0;
            if (!right) {
                snprintf(t->why, sizeof t->why, "launch %d: row %lld column %lld is %g, not %g", round, (long long)i,
                         (long long)j, got, j < full.n ? expected : (double)NAN);
                return false;
            }
        }
    return true;
}

static int launch(struct trial *t, void *state, int round, bool *right, struct error *err)
{
    int code = 0;
    fill_host(t, round);
    for (int i = 0; i < 3 && code == 0; i++)
        code = t->d->ops->upload(t->d, t->memory[i], t->host[i], t->bytes[i], err);
    if (code == 0 && t->c.ops->launch(&t->c, state, 0, t->why) != CUDAL2_OK) {
        *right = false;
        return t->d->ops->sync(t->d, err);
    }
    if (code == 0)
        code = t->d->ops->sync(t->d, err);
    if (code == 0)
        code = t->d->ops->download(t->d, t->host[2], t->memory[2], t->bytes[2], err);
    *right = code == 0 && is_right(t, round);
    return code;
}

/* One way of the contender; *right false with the reason in why. What setup does not take is right. */
static int try_variant(struct trial *t, const struct cudal2_setup *setup, bool *right, unsigned *asked,
                       struct error *err)
{
    void *state = NULL;
    int status = t->c.ops->setup(&t->c, setup, &state, t->why), code = 0;
    *right = status == CUDAL2_OK || status == CUDAL2_UNSUPPORTED;
    if (status != CUDAL2_OK)
        return 0;
    for (int round = 0; round < ROUNDS && code == 0 && *right; round++)
        code = launch(t, state, round, right, err);
    t->c.ops->teardown(&t->c, state);
    *asked += *right;
    return code;
}

static int allocate(struct trial *t, struct error *err)
{
    const struct matrix_extent extents[] = {problem_a(&t->p), problem_b(&t->p, t->c.is.layout), problem_c(&t->p)};
    int code = t->d->ops->alloc(t->d, WORKSPACE, &t->memory[3], err);
    for (int i = 0; i < 3 && code == 0; i++) {
        t->bytes[i] = extent_elements(&extents[i]) * dtype_bytes(t->p.dtype);
        t->host[i] = malloc(t->bytes[i]);
        code = t->host[i] ? t->d->ops->alloc(t->d, t->bytes[i], &t->memory[i], err)
                          : error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    }
    return code;
}

static void release(struct trial *t)
{
    for (int i = 0; i < 4; i++)
        if (t->memory[i])
            t->d->ops->release(t->d, t->memory[i]);
    for (int i = 0; i < 3; i++)
        free(t->host[i]);
}

static int try_problem(struct trial *t, bool *right, unsigned *asked, struct error *err)
{
    static struct cudal2_variant variants[VARIANTS];
    struct cudal2_operands set;
    int code = allocate(t, err), n = 1;
    set = (struct cudal2_operands){t->memory[0], t->memory[1], t->memory[2]};
    struct cudal2_setup setup = {.problem = t->p,
                                 .layout = t->c.is.layout,
                                 .sets = &set,
                                 .n_sets = 1,
                                 .workspace = t->memory[3],
                                 .workspace_bytes = WORKSPACE,
                                 .stream = t->d->stream,
                                 .device_ordinal = t->d->info.ordinal,
                                 .threads = 1};
    *right = true;
    if (code == 0 && t->c.ops->list_variants)
        n = t->c.ops->list_variants(&t->c, &setup, variants, VARIANTS, t->why);
    for (int i = 0; i < n && code == 0 && *right; i++) {
        setup.variant = t->c.ops->list_variants ? variants[i].key : NULL;
        code = try_variant(t, &setup, right, asked, err);
    }
    release(t);
    return code;
}

/* Every problem in every type that the contender declares. Returns how many were wrong. */
static unsigned try_contender(struct device *d, const struct contender *c, unsigned *asked)
{
    unsigned wrong = 0;
    struct error err;
    for (unsigned types = 0; types < 6; types++)
        for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
            struct trial t = {.d = d, .c = *c, .p = problems[i]};
            bool right = false;
            char key[PROBLEM_KEY_MAX];
            t.p.dtype = (enum cudal2_dtype)(types / 2);
            t.p.accumulate = (enum cudal2_accumulate)(types % 2);
            bool fine = t.p.dtype == CUDAL2_BF16 && (t.p.alpha != (int)t.p.alpha || t.p.beta != (int)t.p.beta);
            if (fine || !(c->is.dtypes & CUDAL2_BIT(t.p.dtype)) || !(c->is.accumulates & CUDAL2_BIT(t.p.accumulate)))
                continue; /* sums of eighths do not fit into bf16 */
            if (try_problem(&t, &right, asked, &err) != 0)
                snprintf(t.why, sizeof t.why, "%.250s", err.text);
            problem_key(&t.p, key);
            if (!right)
                printf("%s %s: %s\n", c->name, key, t.why);
            wrong += !right;
        }
    return wrong;
}

static unsigned try_named(struct device *d, const char *const names[2], unsigned *all)
{
    char here[512], path[1024];
    struct plugin plugin;
    struct contender c = {.name = ""};
    struct error err;
    unsigned asked = 0, wrong = 0;
    if (file_executable_directory(here, sizeof here, &err) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/../plugins/%s.so", here, names[0]);
    if (plugin_open(path, &d->info, &plugin, &err) != 0 || !plugin.usable) {
        printf("%s: not here\n", names[1]);
        return 0;
    }
    for (size_t i = 0; i < plugin.is->n_contenders && strcmp(c.name, names[1]) != 0; i++)
        plugin_contender(&plugin, i, ROLE_BASELINE, &c);
    if ((c.is.flags & CUDAL2_SCALES) && (c.is.flags & CUDAL2_STRIDES))
        wrong = try_contender(d, &c, &asked);
    else
        wrong = 1;
    printf("%s: %u right, %u wrong\n", names[1], asked, wrong);
    *all += asked;
    return wrong;
}

int main(int argc, char **argv)
{
    bool cpu = argc > 1 && strcmp(argv[1], "cpu") == 0;
    const char *const(*names)[2] = cpu ? on_cpu : on_gpu;
    size_t n = cpu ? sizeof on_cpu / sizeof on_cpu[0] : sizeof on_gpu / sizeof on_gpu[0];
    struct device *d = NULL;
    struct error err;
    unsigned asked = 0, wrong = 0;
    if (device_open(cpu ? "cpu" : "cuda:0", NULL, &d, &err) != 0) {
        printf("%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        wrong += try_named(d, names[i], &asked);
    d->ops->close(d);
    return wrong > 0 || asked == 0;
}
