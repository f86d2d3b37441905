/*
 * openblas.c - baseline: cblas_sgemm of OpenBLAS, NN and TN, f32 on the CPU.
 *
 * OpenBLAS keeps threads that spin for a while after each call. What must be in the environment before the process
 * starts, so that they do not disturb the next contender, is in docs/abi.md ("Threads").
 */
#include "abi/contender.h"

#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct gemm {
    const struct cudal2_operands *sets;
    blasint m, n, k, lda, ldb, ldc;
    float alpha, beta;
    CBLAS_TRANSPOSE b_order;
    int threads;
};

static int openblas_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    if (p->m > INT_MAX || p->lda > INT_MAX || p->ldb > INT_MAX || p->ldc > INT_MAX) {
        snprintf(why, CUDAL2_WHY, "cblas_sgemm takes sizes up to %d", INT_MAX);
        return CUDAL2_UNSUPPORTED;
    }
    struct gemm *g = malloc(sizeof *g);
    if (!g) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *g = (struct gemm){.sets = setup->sets, .m = (blasint)p->m, .n = (blasint)p->n, .k = (blasint)p->k};
    g->b_order = setup->layout == CUDAL2_NN ? CblasNoTrans : CblasTrans;
    g->lda = (blasint)p->lda;
    g->ldb = (blasint)p->ldb;
    g->ldc = (blasint)p->ldc;
    g->alpha = (float)p->alpha;
    g->beta = (float)p->beta;
    g->threads = setup->threads > 0 ? setup->threads : 1;
    openblas_set_num_threads(g->threads);
    *state = g;
    return CUDAL2_OK;
}

static int openblas_launch(void *state, size_t set, char *why)
{
    const struct gemm *g = state;
    const struct cudal2_operands *o = &g->sets[set];
    (void)why; /* cblas_sgemm has no status */
    cblas_sgemm(CblasRowMajor, CblasNoTrans, g->b_order, g->m, g->n, g->k, g->alpha, o->a, g->lda, o->b, g->ldb,
                g->beta, o->c, g->ldc);
    return CUDAL2_OK;
}

static void openblas_teardown(void *state)
{
    free(state);
}

static int openblas_describe(void *state, char *out, size_t capacity)
{
    (void)state;
    snprintf(out, capacity, "{\"accumulates\":\"f32\",\"threads\":%d}", openblas_get_num_threads());
    return CUDAL2_OK;
}

static int openblas_versions(char *out, size_t capacity)
{
    snprintf(out, capacity, "{\"openblas\":\"%s\",\"core\":\"%s\"}", openblas_get_config(), openblas_get_corename());
    return CUDAL2_OK;
}

#define OPENBLAS(contender_name, contender_layout)                                                                     \
    {                                                                                                                  \
        .name = contender_name, .devices = CUDAL2_ON_CPU, .dtypes = CUDAL2_BIT(CUDAL2_F32),                            \
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32), .layout = contender_layout,                                         \
        .flags = CUDAL2_STRIDES | CUDAL2_SCALES, .setup = openblas_setup, .launch = openblas_launch,                   \
        .teardown = openblas_teardown, .describe = openblas_describe                                                   \
    }

static const struct cudal2_contender contenders[] = {OPENBLAS("openblas-nn", CUDAL2_NN),
                                                     OPENBLAS("openblas-tn", CUDAL2_TN)};

static const struct cudal2_plugin plugin = {
    .name = "openblas", .contenders = contenders, .n_contenders = 2, .versions = openblas_versions};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
