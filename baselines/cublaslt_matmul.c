/*
 * cublaslt_matmul.c - one cublasLtMatmul: descriptors, layouts, scalars for a compute type, and the launch. Relies on
 * nvidia.h. Called by cublaslt.c's hooks.
 */
#include "cublaslt_matmul.h"

#include <stdio.h>
#include <string.h>

int lt_failed(char *why, const char *call, cublasStatus_t status)
{
    return nvidia_failed(why, call, cublasLtGetStatusString(status));
}

static int open_handle(cublasLtHandle_t *out, char *why)
{
    static cublasLtHandle_t shared;
    cublasStatus_t status = shared ? CUBLAS_STATUS_SUCCESS : cublasLtCreate(&shared);
    *out = shared;
    return status == CUBLAS_STATUS_SUCCESS ? CUDAL2_OK : lt_failed(why, "cublasLtCreate", status);
}

/* 32F compute takes scale type 32F and 16F takes 16F: any other pairing gets INVALID_VALUE and no algorithm at all. */
static int choose_types(struct lt_matmul *m, const struct cudal2_problem *p, char *why)
{
    m->type = p->dtype == CUDAL2_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    m->alpha = nvidia_scalar(p->alpha, p->accumulate);
    m->beta = nvidia_scalar(p->beta, p->accumulate);
    if (p->accumulate == CUDAL2_ACC_F32) {
        m->compute = CUBLAS_COMPUTE_32F;
        m->scale_type = CUDA_R_32F;
        return CUDAL2_OK;
    }
    if (p->dtype == CUDAL2_BF16) {
        snprintf(why, CUDAL2_WHY, "cuBLASLt multiplies bf16 with f32 accumulation only");
        return CUDAL2_UNSUPPORTED;
    }
    m->compute = CUBLAS_COMPUTE_16F;
    m->scale_type = CUDA_R_16F;
    return CUDAL2_OK;
}

static int open_operation(struct lt_matmul *m, enum cudal2_layout layout, char *why)
{
    cublasOperation_t our_b = layout == CUDAL2_NN ? CUBLAS_OP_N : CUBLAS_OP_T;
    cublasOperation_t our_a = CUBLAS_OP_N;
    cublasStatus_t status = cublasLtMatmulDescCreate(&m->operation, m->compute, m->scale_type);
    if (status != CUBLAS_STATUS_SUCCESS)
        return lt_failed(why, "cublasLtMatmulDescCreate", status);
    status = cublasLtMatmulDescSetAttribute(m->operation, CUBLASLT_MATMUL_DESC_TRANSA, &our_b, sizeof our_b);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatmulDescSetAttribute(m->operation, CUBLASLT_MATMUL_DESC_TRANSB, &our_a, sizeof our_a);
    return status == CUBLAS_STATUS_SUCCESS ? CUDAL2_OK : lt_failed(why, "cublasLtMatmulDescSetAttribute", status);
}

static int open_layouts(struct lt_matmul *m, const struct cudal2_problem *p, enum cudal2_layout layout, char *why)
{
    uint64_t rows = (uint64_t)p->m;
    uint64_t columns = (uint64_t)p->n;
    uint64_t depth = (uint64_t)p->k;
    cublasStatus_t status = layout == CUDAL2_NN ? cublasLtMatrixLayoutCreate(&m->a, m->type, columns, depth, p->ldb)
                                                : cublasLtMatrixLayoutCreate(&m->a, m->type, depth, columns, p->ldb);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutCreate(&m->b, m->type, depth, rows, p->lda);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasLtMatrixLayoutCreate(&m->c, m->type, columns, rows, p->ldc);
    return status == CUBLAS_STATUS_SUCCESS ? CUDAL2_OK : lt_failed(why, "cublasLtMatrixLayoutCreate", status);
}

int lt_matmul_open(const struct cudal2_setup *setup, struct lt_matmul *out, char *why)
{
    memset(out, 0, sizeof *out);
    int status = choose_types(out, &setup->problem, why);
    if (status == CUDAL2_OK)
        status = open_handle(&out->handle, why);
    if (status == CUDAL2_OK)
        status = open_operation(out, setup->layout, why);
    if (status == CUDAL2_OK)
        status = open_layouts(out, &setup->problem, setup->layout, why);
    if (status != CUDAL2_OK)
        lt_matmul_close(out);
    return status;
}

void lt_matmul_close(struct lt_matmul *m)
{
    /* Destroying what was never created is the only failure there is. */
    if (m->c)
        (void)cublasLtMatrixLayoutDestroy(m->c);
    if (m->b)
        (void)cublasLtMatrixLayoutDestroy(m->b);
    if (m->a)
        (void)cublasLtMatrixLayoutDestroy(m->a);
    if (m->operation)
        (void)cublasLtMatmulDescDestroy(m->operation);
    memset(m, 0, sizeof *m);
}
