/*
 * cublaslt_matmul.h - one problem in cuBLASLt's words: descriptors, types, scalars.
 */
#ifndef CUDAL2_BASELINES_CUBLASLT_MATMUL_H
#define CUDAL2_BASELINES_CUBLASLT_MATMUL_H

#include "nvidia.h"

#include <cublasLt.h>

struct lt_matmul {
    cublasLtHandle_t handle; /* the process's one; not owned */
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c; /* the library's A is our B, its B is our A (column-major; see cublas.c) */
    cudaDataType_t type, scale_type;
    cublasComputeType_t compute;
    union nvidia_scalar alpha, beta;
};

/* "call: CUBLAS_STATUS_..." into why; returns CUDAL2_LIBRARY_ERROR. */
int lt_failed(char *why, const char *call, cublasStatus_t status);

/* Fills *out for the setup's problem and layout. On failure nothing is left behind. Pair with lt_matmul_close. */
int lt_matmul_open(const struct cudal2_setup *setup, struct lt_matmul *out, char *why);
void lt_matmul_close(struct lt_matmul *m);

#endif
