/*
 * blocked.c - candidate: a cache-blocked f32 GEMM for the CPU, NN and TN.
 *
 * The usual three loops (Goto and van de Geijn): a KC x NC panel of B and an MC x KC block of A are packed so that
 * the micro-kernel reads both with stride one, and an MR x NR tile of C stays in registers for KC steps. Both layouts
 * differ in the packing alone. Threads share nothing: each one computes its own rows or columns of C with packing
 * buffers of its own, made in setup.
 */
#include "abi/contender.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A search builds this file with others (rl/): MC a multiple of every micro-kernel's MR, NC of every NR. */
#ifndef KC
#define KC 256
#endif
#ifndef MC
#define MC 96
#endif
#ifndef NC
#define NC 2048
#endif
#ifndef BLOCKED_NAME
#define BLOCKED_NAME "blocked"
#endif
#define MAX_MR 12
#define MAX_NR 32
#define ALIGNMENT 64
#define MAX_THREADS 256
/* Below this many multiply-adds waking another thread costs more than it brings. */
#define THREAD_WORK (1 << 18)

/* Loads and stores of packed data are aligned; may_alias because the elements are floats elsewhere. */
typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float v16 __attribute__((vector_size(64), aligned(4), may_alias));

/* tile (mr x nr, stride nr) = packed a (k x mr) * packed b (k x nr) */
typedef void (*micro_kernel)(int64_t k, const float *a, const float *b, float *tile);

struct isa {
    const char *name;
    int64_t mr, nr;
    micro_kernel multiply;
};

/* A matrix seen through two strides, so that one packing serves both layouts of B. */
struct view {
    const float *at;
    int64_t row_stride, column_stride;
};

struct gemm;

/* One thread's share of C and its buffers. */
struct share {
    const struct gemm *gemm;
    float *packed_a, *packed_b;
    int64_t m0, m1, n0, n1;
    pthread_t thread;
};

struct gemm {
    const struct cudal2_operands *sets;
    const struct isa *isa;
    int64_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    enum cudal2_layout layout;
    struct share *shares;
    int n_shares, n_started;
    /* The pool: a launch sets `set`, raises `generation` and waits until `running` is zero. */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    unsigned long generation;
    int running;
    bool quit;
    size_t set;
};

/* --- micro-kernels: the loops over i and j have constant bounds and unroll into registers --- */

#define DEFINE_MICRO_KERNEL(function, attributes, vector, width, rows, vectors)                                        \
    attributes static void function(int64_t k, const float *a, const float *b, float *tile)                            \
    {                                                                                                                  \
        vector sum[rows][vectors] = {{{0}}};                                                                           \
        for (int64_t p = 0; p < k; p++, a += (rows), b += (vectors) * (width)) {                                       \
            vector right[vectors];                                                                                     \
            for (int j = 0; j < (vectors); j++)                                                                        \
                right[j] = *(const vector *)(b + j * (width));                                                         \
            for (int i = 0; i < (rows); i++)                                                                           \
                for (int j = 0; j < (vectors); j++)                                                                    \
                    sum[i][j] += a[i] * right[j];                                                                      \
        }                                                                                                              \
        for (int i = 0; i < (rows); i++)                                                                               \
            for (int j = 0; j < (vectors); j++)                                                                        \
                *(vector *)(tile + (i * (vectors) + j) * (width)) = sum[i][j];                                         \
    }

#ifdef __x86_64__
DEFINE_MICRO_KERNEL(multiply_avx512, __attribute__((target("avx512f,fma"))), v16, 16, 12, 2)
DEFINE_MICRO_KERNEL(multiply_avx2, __attribute__((target("avx2,fma"))), v8, 8, 6, 2)
#endif
DEFINE_MICRO_KERNEL(multiply_generic, , v8, 8, 2, 2)

static const struct isa *best_isa(void)
{
#ifdef __x86_64__
    static const struct isa avx512 = {"avx512f", 12, 32, multiply_avx512};
    static const struct isa avx2 = {"avx2", 6, 16, multiply_avx2};
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
        return &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    static const struct isa generic = {"generic", 2, 16, multiply_generic};
    return &generic;
}

/* --- packing: panels of `width` rows (of A) or columns (of B), zero where the matrix ends --- */

static int64_t at_most(int64_t value, int64_t limit)
{
    return value < limit ? value : limit;
}

static void pack(struct view from, int64_t count, int64_t k, int64_t width, float *to)
{
    for (int64_t start = 0; start < count; start += width) {
        int64_t present = at_most(width, count - start);
        const float *panel = from.at + start * from.row_stride;
        for (int64_t p = 0; p < k; p++, to += width) {
            const float *line = panel + p * from.column_stride;
            for (int64_t i = 0; i < present; i++)
                to[i] = line[i * from.row_stride];
            for (int64_t i = present; i < width; i++)
                to[i] = 0.0f;
        }
    }
}

/* --- the loops around the micro-kernel --- */

/* Where one packed block of A times one packed panel of B goes. */
struct block {
    float *c;
    int64_t stride, rows, columns, k;
    float alpha, beta; /* beta 0: C holds garbage before; behind the first k block it is 1 */
};

static void store_tile(const float *tile, int64_t nr, float *c, const struct block *b, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++, c += b->stride, tile += nr) {
        if (b->beta != 0)
            for (int64_t j = 0; j < columns; j++)
                c[j] = b->beta * c[j] + b->alpha * tile[j];
        else
            for (int64_t j = 0; j < columns; j++)
                c[j] = b->alpha * tile[j];
    }
}

static void multiply_block(const struct isa *isa, const float *packed_a, const float *packed_b, const struct block *b)
{
    float tile[MAX_MR * MAX_NR] __attribute__((aligned(ALIGNMENT)));
    for (int64_t j = 0; j < b->columns; j += isa->nr)
        for (int64_t i = 0; i < b->rows; i += isa->mr) {
            isa->multiply(b->k, packed_a + i * b->k, packed_b + j * b->k, tile);
            store_tile(tile, isa->nr, b->c + i * b->stride + j, b, at_most(isa->mr, b->rows - i),
                       at_most(isa->nr, b->columns - j));
        }
}

static void multiply_share(const struct share *s, const struct cudal2_operands *o)
{
    const struct gemm *g = s->gemm;
    bool nn = g->layout == CUDAL2_NN;
    int64_t b_along_n = nn ? 1 : g->ldb;
    int64_t b_along_k = nn ? g->ldb : 1;
    for (int64_t j = s->n0; j < s->n1; j += NC) {
        struct block block = {.stride = g->ldc, .alpha = g->alpha, .columns = at_most(NC, s->n1 - j)};
        for (int64_t p = 0; p < g->k; p += KC) {
            block.k = at_most(KC, g->k - p);
            block.beta = p > 0 ? 1 : g->beta;
            const float *b = (const float *)o->b + j * b_along_n + p * b_along_k;
            pack((struct view){b, b_along_n, b_along_k}, block.columns, block.k, g->isa->nr, s->packed_b);
            for (int64_t i = s->m0; i < s->m1; i += MC) {
                const float *a = (const float *)o->a + i * g->lda + p;
                block.rows = at_most(MC, s->m1 - i);
                block.c = (float *)o->c + i * g->ldc + j;
                pack((struct view){a, g->lda, 1}, block.rows, block.k, g->isa->mr, s->packed_a);
                multiply_block(g->isa, s->packed_a, s->packed_b, &block);
            }
        }
    }
}

/* --- threads --- */

static void *pool_thread(void *argument)
{
    struct share *s = argument;
    struct gemm *g = (struct gemm *)s->gemm;
    unsigned long seen = 0;
    pthread_mutex_lock(&g->lock);
    for (;;) {
        while (!g->quit && g->generation == seen)
            pthread_cond_wait(&g->wake, &g->lock);
        if (g->quit)
            break;
        seen = g->generation;
        size_t set = g->set;
        pthread_mutex_unlock(&g->lock);
        multiply_share(s, &g->sets[set]);
        pthread_mutex_lock(&g->lock);
        if (--g->running == 0)
            pthread_cond_signal(&g->done);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Cuts the longer side of C into one range for each share, at multiples of the micro-tile. */
static void divide(struct gemm *g)
{
    bool by_rows = g->m >= g->n;
    int64_t side = by_rows ? g->m : g->n;
    int64_t step = by_rows ? g->isa->mr : g->isa->nr;
    int64_t tiles = (side + step - 1) / step;
    for (int i = 0; i < g->n_shares; i++) {
        int64_t from = at_most(tiles * i / g->n_shares * step, side);
        int64_t to = at_most(tiles * (i + 1) / g->n_shares * step, side);
        struct share *s = &g->shares[i];
        s->gemm = g;
        s->m0 = by_rows ? from : 0;
        s->m1 = by_rows ? to : g->m;
        s->n0 = by_rows ? 0 : from;
        s->n1 = by_rows ? g->n : to;
    }
}

static int share_count(const struct cudal2_setup *setup)
{
    const struct cudal2_problem *p = &setup->problem;
    double work = (double)p->m * (double)p->n * (double)p->k / THREAD_WORK;
    int threads = setup->threads < 1 ? 1 : setup->threads > MAX_THREADS ? MAX_THREADS : setup->threads;
    return work < 1.0 ? 1 : work < threads ? (int)work : threads;
}

static void stop_threads(struct gemm *g)
{
    pthread_mutex_lock(&g->lock);
    g->quit = true;
    pthread_cond_broadcast(&g->wake);
    pthread_mutex_unlock(&g->lock);
    for (int i = 1; i <= g->n_started; i++)
        pthread_join(g->shares[i].thread, NULL);
}

static void blocked_teardown(void *state)
{
    struct gemm *g = state;
    stop_threads(g);
    for (int i = 0; i < g->n_shares; i++) {
        free(g->shares[i].packed_a);
        free(g->shares[i].packed_b);
    }
    free(g->shares);
    pthread_cond_destroy(&g->done);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* Buffers of every share, and a thread for each but the first: the caller's thread computes that one. */
static int start_shares(struct gemm *g, char *why)
{
    for (int i = 0; i < g->n_shares; i++) {
        struct share *s = &g->shares[i];
        s->packed_a = aligned_alloc(ALIGNMENT, sizeof(float) * KC * MC);
        s->packed_b = aligned_alloc(ALIGNMENT, sizeof(float) * KC * NC);
        if (!s->packed_a || !s->packed_b) {
            snprintf(why, CUDAL2_WHY, "out of host memory");
            return CUDAL2_NO_MEMORY;
        }
        if (i == 0)
            continue;
        int failure = pthread_create(&s->thread, NULL, pool_thread, s);
        if (failure) {
            snprintf(why, CUDAL2_WHY, "pthread_create failed: %s", strerror(failure));
            return CUDAL2_LIBRARY_ERROR;
        }
        g->n_started = i;
    }
    return CUDAL2_OK;
}

static int blocked_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct gemm *g = calloc(1, sizeof *g);
    int n_shares = share_count(setup);
    struct share *shares = calloc((size_t)n_shares, sizeof *shares);
    if (!g || !shares) {
        free(g);
        free(shares);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    g->sets = setup->sets;
    g->isa = best_isa();
    g->m = setup->problem.m;
    g->n = setup->problem.n;
    g->k = setup->problem.k;
    g->lda = setup->problem.lda;
    g->ldb = setup->problem.ldb;
    g->ldc = setup->problem.ldc;
    g->alpha = (float)setup->problem.alpha;
    g->beta = (float)setup->problem.beta;
    g->layout = setup->layout;
    g->shares = shares;
    g->n_shares = n_shares;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->wake, NULL);
    pthread_cond_init(&g->done, NULL);
    divide(g);
    int status = start_shares(g, why);
    if (status)
        blocked_teardown(g);
    else
        *state = g;
    return status;
}

static int blocked_launch(void *state, size_t set, char *why)
{
    struct gemm *g = state;
    (void)why; /* nothing here can fail */
    if (g->n_started > 0) {
        pthread_mutex_lock(&g->lock);
        g->set = set;
        g->running = g->n_started;
        g->generation++;
        pthread_cond_broadcast(&g->wake);
        pthread_mutex_unlock(&g->lock);
    }
    multiply_share(&g->shares[0], &g->sets[set]);
    if (g->n_started > 0) {
        pthread_mutex_lock(&g->lock);
        while (g->running > 0)
            pthread_cond_wait(&g->done, &g->lock);
        pthread_mutex_unlock(&g->lock);
    }
    return CUDAL2_OK;
}

static int blocked_describe(void *state, char *out, size_t capacity)
{
    const struct gemm *g = state;
    snprintf(out, capacity,
             "{\"accumulates\":\"f32\",\"isa\":\"%s\",\"mr\":%d,\"nr\":%d,\"kc\":%d,\"mc\":%d,\"nc\":%d,"
             "\"threads\":%d}",
             g->isa->name, (int)g->isa->mr, (int)g->isa->nr, KC, MC, NC, g->n_shares);
    return CUDAL2_OK;
}

#define BLOCKED(contender_name, contender_layout)                                                                      \
    {                                                                                                                  \
        .name = contender_name, .devices = CUDAL2_ON_CPU, .dtypes = CUDAL2_BIT(CUDAL2_F32),                            \
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32), .layout = contender_layout,                                         \
        .flags = CUDAL2_STRIDES | CUDAL2_SCALES, .setup = blocked_setup, .launch = blocked_launch,                     \
        .teardown = blocked_teardown, .describe = blocked_describe                                                     \
    }

static const struct cudal2_contender contenders[] = {BLOCKED(BLOCKED_NAME "-nn", CUDAL2_NN),
                                                     BLOCKED(BLOCKED_NAME "-tn", CUDAL2_TN)};

static const struct cudal2_plugin plugin = {.name = BLOCKED_NAME, .contenders = contenders, .n_contenders = 2};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
