/*
 * cublas.c - baselines: cublasGemmEx, NN and TN (paper, Listing 6), and the same with the algorithm that the library
 * finds by timing its own (cublas-autotune), with every status checked.
 *
 * cuBLAS is column-major. A row-major C is the column-major C^T = B^T * A^T, so the operands are swapped: the library's
 * A is our B (N x K, leading dimension N for NN; transposed from K x N, leading dimension K, for TN) and its B is our
 * A.
 */
#include "nvidia.h"

#include <cublas_v2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* CUBLAS_GEMM_AUTOTUNE, which headers before 13.0 lack. The first call of a size times algorithms on memory of its own
 * and keeps the fastest in the handle; under capture the library takes what is kept, or refuses. */
#define AUTOTUNE ((cublasGemmAlgo_t)999)
#define AUTOTUNE_SINCE 13 /* major version */

struct gemm {
    const struct cudal2_operands *sets;
    int m, n, k, lda, ldb, ldc;
    cublasOperation_t b_operation;
    cudaDataType_t type;
    cublasComputeType_t compute;
    cublasGemmAlgo_t algorithm;
    union nvidia_scalar alpha, beta;
    cudaStream_t stream;
    void *workspace;
    size_t workspace_bytes;
};

/* One handle per process: creating one takes milliseconds and device memory. What it is bound to is kept beside it,
 * since contenders of several cells and groups share it. */
static struct {
    cublasHandle_t handle;
    cudaStream_t stream;
    void *workspace;
    size_t workspace_bytes;
} shared;

static int failed(char *why, const char *call, cublasStatus_t status)
{
    return nvidia_failed(why, call, cublasGetStatusString(status));
}

/* cublasSetStream resets the workspace, so the workspace is set after it. */
static int bind_handle(const struct gemm *g, char *why)
{
    if (shared.stream == g->stream && shared.workspace == g->workspace && shared.workspace_bytes == g->workspace_bytes)
        return CUDAL2_OK;
    shared.workspace_bytes = SIZE_MAX; /* half bound counts as unbound */
    cublasStatus_t status = cublasSetStream(shared.handle, g->stream);
    if (status != CUBLAS_STATUS_SUCCESS)
        return failed(why, "cublasSetStream", status);
    status = cublasSetWorkspace(shared.handle, g->workspace, g->workspace_bytes);
    if (status != CUBLAS_STATUS_SUCCESS)
        return failed(why, "cublasSetWorkspace", status);
    shared.stream = g->stream;
    shared.workspace = g->workspace;
    shared.workspace_bytes = g->workspace_bytes;
    return CUDAL2_OK;
}

static int open_handle(char *why)
{
    if (shared.handle)
        return CUDAL2_OK;
    cublasStatus_t status = cublasCreate(&shared.handle);
    if (status != CUBLAS_STATUS_SUCCESS) {
        shared.handle = NULL;
        return failed(why, "cublasCreate", status);
    }
    shared.workspace_bytes = SIZE_MAX;
    return CUDAL2_OK;
}

static int check_problem(const struct cudal2_problem *p, char *why)
{
    if (p->m > INT_MAX || p->lda > INT_MAX || p->ldb > INT_MAX || p->ldc > INT_MAX) {
        snprintf(why, CUDAL2_WHY, "cublasGemmEx takes sizes up to %d", INT_MAX);
        return CUDAL2_UNSUPPORTED;
    }
    if (p->dtype == CUDAL2_BF16 && p->accumulate == CUDAL2_ACC_F16) {
        snprintf(why, CUDAL2_WHY, "cuBLAS multiplies bf16 with f32 accumulation only");
        return CUDAL2_UNSUPPORTED;
    }
    return CUDAL2_OK;
}

static void choose_types(struct gemm *g, const struct cudal2_problem *p)
{
    g->type = p->dtype == CUDAL2_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    g->compute = p->accumulate == CUDAL2_ACC_F16 ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
    g->alpha = nvidia_scalar(p->alpha, p->accumulate);
    g->beta = nvidia_scalar(p->beta, p->accumulate);
}

static cublasStatus_t multiply(const struct gemm *g, size_t set)
{
    const struct cudal2_operands *o = &g->sets[set];
    return cublasGemmEx(shared.handle, g->b_operation, CUBLAS_OP_N, g->n, g->m, g->k, &g->alpha, o->b, g->type, g->ldb,
                        o->a, g->type, g->lda, &g->beta, o->c, g->type, g->ldc, g->compute, g->algorithm);
}

/* The call that times the algorithms, where this process has not made it for this size. */
static int autotune(const struct gemm *g, char *why)
{
    int major = 0;
    if (cublasGetProperty(MAJOR_VERSION, &major) != CUBLAS_STATUS_SUCCESS || major < AUTOTUNE_SINCE) {
        snprintf(why, CUDAL2_WHY, "CUBLAS_GEMM_AUTOTUNE needs cuBLAS %d, this is %d", AUTOTUNE_SINCE, major);
        return CUDAL2_UNSUPPORTED;
    }
    cublasStatus_t status = multiply(g, 0);
    if (status == CUBLAS_STATUS_SUCCESS)
        return CUDAL2_OK;
    failed(why, "cublasGemmEx(CUBLAS_GEMM_AUTOTUNE)", status);
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? CUDAL2_UNSUPPORTED : CUDAL2_LIBRARY_ERROR;
}

static int set_up(const struct cudal2_setup *setup, cublasGemmAlgo_t algorithm, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    int status = check_problem(p, why);
    if (status == CUDAL2_OK)
        status = open_handle(why);
    if (status != CUDAL2_OK)
        return status;
    struct gemm *g = calloc(1, sizeof *g);
    if (!g) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    g->sets = setup->sets;
    g->m = (int)p->m;
    g->n = (int)p->n;
    g->k = (int)p->k;
    g->b_operation = setup->layout == CUDAL2_NN ? CUBLAS_OP_N : CUBLAS_OP_T;
    g->lda = (int)p->lda;
    g->ldb = (int)p->ldb;
    g->ldc = (int)p->ldc;
    g->algorithm = algorithm;
    g->stream = setup->stream;
    g->workspace = setup->workspace;
    g->workspace_bytes = setup->workspace_bytes;
    choose_types(g, p);
    shared.workspace_bytes = SIZE_MAX; /* a stream's handle value may be used again for a new stream */
    status = bind_handle(g, why);
    if (status == CUDAL2_OK && algorithm == AUTOTUNE)
        status = autotune(g, why);
    if (status == CUDAL2_OK)
        *state = g;
    else
        free(g);
    return status;
}

static int cublas_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    return set_up(setup, CUBLAS_GEMM_DEFAULT_TENSOR_OP, state, why);
}

static int autotune_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    return set_up(setup, AUTOTUNE, state, why);
}

static int cublas_launch(void *state, size_t set, char *why)
{
    const struct gemm *g = state;
    int bound = bind_handle(g, why);
    if (bound != CUDAL2_OK)
        return bound;
    cublasStatus_t status = multiply(g, set);
    return status == CUBLAS_STATUS_SUCCESS ? CUDAL2_OK : failed(why, "cublasGemmEx", status);
}

static void cublas_teardown(void *state)
{
    free(state);
}

static int cublas_describe(void *state, char *out, size_t capacity)
{
    const struct gemm *g = state;
    snprintf(out, capacity, "{\"accumulates\":\"%s\"%s}", g->compute == CUBLAS_COMPUTE_16F ? "f16" : "f32",
             g->algorithm == AUTOTUNE ? ",\"algorithm\":\"CUBLAS_GEMM_AUTOTUNE\"" : "");
    return CUDAL2_OK;
}

/* With what is the same for every problem: the scale type follows the compute type, and nobody sets a math mode. */
static int cublas_versions(char *out, size_t capacity)
{
    int major, minor, patch;
    char path[2048];
    if (cublasGetProperty(MAJOR_VERSION, &major) != CUBLAS_STATUS_SUCCESS ||
        cublasGetProperty(MINOR_VERSION, &minor) != CUBLAS_STATUS_SUCCESS ||
        cublasGetProperty(PATCH_LEVEL, &patch) != CUBLAS_STATUS_SUCCESS)
        return CUDAL2_LIBRARY_ERROR;
    nvidia_mapped_path((const void *)(uintptr_t)&cublasGemmEx, path, sizeof path);
    snprintf(out, capacity,
             "{\"cublas\":\"%d.%d.%d\",\"built_with\":\"%d.%d.%d\",\"path\":\"%s\","
             "\"algorithm\":\"CUBLAS_GEMM_DEFAULT_TENSOR_OP\",\"scale_type\":\"as compute type\","
             "\"reduced_precision_reduction\":true}",
             major, minor, patch, CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH, path);
    return CUDAL2_OK;
}

static int cublas_probe(uint32_t device_bits, int device_ordinal, char *why)
{
    (void)device_ordinal;
    return device_bits & CUDAL2_ON_CUDA ? nvidia_check_mapped(why) : CUDAL2_OK;
}

#define CUBLAS(contender_name, contender_layout, setup_hook)                                                           \
    {                                                                                                                  \
        .name = contender_name, .devices = CUDAL2_ON_CUDA, .dtypes = CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16), \
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32), .layout = contender_layout,            \
        .flags = CUDAL2_STRIDES | CUDAL2_SCALES, .min_cc = 70, .setup = setup_hook, .launch = cublas_launch,           \
        .teardown = cublas_teardown, .describe = cublas_describe                                                       \
    }

static const struct cudal2_contender contenders[] = {
    CUBLAS("cublas-nn", CUDAL2_NN, cublas_setup), CUBLAS("cublas-tn", CUDAL2_TN, cublas_setup),
    CUBLAS("cublas-autotune-nn", CUDAL2_NN, autotune_setup), CUBLAS("cublas-autotune-tn", CUDAL2_TN, autotune_setup)};

static const struct cudal2_plugin plugin = {.name = "cublas",
                                            .contenders = contenders,
                                            .n_contenders = sizeof contenders / sizeof *contenders,
                                            .versions = cublas_versions,
                                            .probe = cublas_probe};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
