/* baselines/cublas: which algorithm it asks for, with which alpha and beta, and when the library is left to choose by
 * timing, on a library that notes its calls. Links the baseline's own objects. */
#include <cublas_v2.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "abi/contender.h"
#include "base/half.h"

#define AUTOTUNE 999

static struct {
    int major;
    unsigned calls, tuned; /* cublasGemmEx in all; those that asked for AUTOTUNE */
    const void *c;         /* of the latest */
    cublasStatus_t answer; /* to AUTOTUNE */
    double alpha, beta;    /* of the latest, as its compute type reads them */
} library;

cublasStatus_t CUBLASWINAPI cublasCreate_v2(cublasHandle_t *handle)
{
    static int one;
    *handle = (cublasHandle_t)(void *)&one;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    (void)handle, (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    (void)handle, (void)workspace, (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasGetProperty(libraryPropertyType type, int *value)
{
    *value = type == MAJOR_VERSION ? library.major : 0;
    return CUBLAS_STATUS_SUCCESS;
}

const char *CUBLASWINAPI cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "another";
}

static double scalar_at(const void *scalar, cublasComputeType_t compute)
{
    return compute == CUBLAS_COMPUTE_16F ? (double)half_to_float(*(const uint16_t *)scalar)
                                         : (double)*(const float *)scalar;
}

cublasStatus_t CUBLASWINAPI cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                                         int lda, const void *b, cudaDataType b_type, int ldb, const void *beta,
                                         void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute,
                                         cublasGemmAlgo_t algorithm)
{
    (void)handle, (void)transa, (void)transb, (void)a, (void)a_type, (void)b, (void)b_type, (void)c_type;
    library.alpha = scalar_at(alpha, compute);
    library.beta = scalar_at(beta, compute);
    assert_true(m == 32 && n == 16 && k == 64 && lda == 32 && ldb == 64 && ldc == 32); /* C^T = B^T A^T */
    library.calls++;
    library.tuned += (int)algorithm == AUTOTUNE;
    library.c = c;
    return (int)algorithm == AUTOTUNE ? library.answer : CUBLAS_STATUS_SUCCESS;
}

static const struct cudal2_contender *find(const char *name)
{
    const struct cudal2_plugin *plugin = cudal2_plugin();
    for (size_t i = 0; i < plugin->n_contenders; i++)
        if (strcmp(plugin->contenders[i].name, name) == 0)
            return &plugin->contenders[i];
    fail_msg("no %s", name);
    return NULL;
}

static char memory[6];
static const struct cudal2_operands sets[] = {{&memory[0], &memory[1], &memory[2]},
                                              {&memory[3], &memory[4], &memory[5]}};

static int set_up(const char *name, void **state, char *why)
{
    const struct cudal2_setup setup = {.problem = {.m = 16,
                                                   .n = 32,
                                                   .k = 64,
                                                   .dtype = CUDAL2_F16,
                                                   .accumulate = CUDAL2_ACC_F32,
                                                   .lda = 64,
                                                   .ldb = 32,
                                                   .ldc = 32,
                                                   .alpha = 1},
                                       .layout = CUDAL2_NN,
                                       .sets = sets,
                                       .n_sets = 2};
    why[0] = '\0';
    return find(name)->setup(&setup, state, why);
}

static void cublas_is_its_default(void **unused)
{
    char why[CUDAL2_WHY], said[256];
    void *state = NULL;
    (void)unused;
    memset(&library, 0, sizeof library);
    library.major = 12;
    assert_int_equal(set_up("cublas-nn", &state, why), CUDAL2_OK);
    assert_int_equal(library.calls, 0);
    assert_int_equal(find("cublas-nn")->launch(state, 1, why), CUDAL2_OK);
    assert_true(library.calls == 1 && library.tuned == 0 && library.c == sets[1].c);
    assert_int_equal(find("cublas-nn")->describe(state, said, sizeof said), CUDAL2_OK);
    assert_string_equal(said, "{\"accumulates\":\"f32\"}");
    find("cublas-nn")->teardown(state);
}

/* In setup, which is never captured; what is launched asks for what the handle keeps. */
static void autotune_times_before_it_is_launched(void **unused)
{
    char why[CUDAL2_WHY], said[256];
    void *state = NULL;
    (void)unused;
    memset(&library, 0, sizeof library);
    library.major = 13;
    assert_int_equal(set_up("cublas-autotune-nn", &state, why), CUDAL2_OK);
    assert_true(library.calls == 1 && library.tuned == 1 && library.c == sets[0].c);
    assert_int_equal(find("cublas-autotune-nn")->launch(state, 1, why), CUDAL2_OK);
    assert_true(library.calls == 2 && library.tuned == 2 && library.c == sets[1].c);
    assert_int_equal(find("cublas-autotune-nn")->describe(state, said, sizeof said), CUDAL2_OK);
    assert_non_null(strstr(said, "CUBLAS_GEMM_AUTOTUNE"));
    find("cublas-autotune-nn")->teardown(state);
}

static void what_the_library_lacks_is_unsupported(void **unused)
{
    char why[CUDAL2_WHY];
    void *state = NULL;
    (void)unused;
    memset(&library, 0, sizeof library);
    library.major = 12;
    assert_int_equal(set_up("cublas-autotune-nn", &state, why), CUDAL2_UNSUPPORTED);
    assert_string_equal(why, "CUBLAS_GEMM_AUTOTUNE needs cuBLAS 13, this is 12");
    assert_int_equal(library.calls, 0);
    library.major = 13;
    library.answer = CUBLAS_STATUS_NOT_SUPPORTED;
    assert_int_equal(set_up("cublas-autotune-nn", &state, why), CUDAL2_UNSUPPORTED);
    library.answer = CUBLAS_STATUS_EXECUTION_FAILED;
    assert_int_equal(set_up("cublas-autotune-nn", &state, why), CUDAL2_LIBRARY_ERROR);
    assert_null(state);
}

/* Each in the type that the compute type reads. */
static void alpha_and_beta_are_handed_over(void **unused)
{
    static const double scales[][2] = {{1, 0}, {0.125, 4}, {-0.5, -0.875}, {3.875, 1.25}, {-4, 0.375}};
    const struct cudal2_contender *c = find("cublas-nn");
    (void)unused;
    assert_int_equal(c->flags & CUDAL2_SCALES, CUDAL2_SCALES);
    for (size_t i = 0; i < 2 * sizeof scales / sizeof scales[0]; i++) {
        const struct cudal2_setup setup = {.problem = {.m = 16,
                                                       .n = 32,
                                                       .k = 64,
                                                       .dtype = CUDAL2_F16,
                                                       .accumulate = i % 2 ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16,
                                                       .lda = 64,
                                                       .ldb = 32,
                                                       .ldc = 32,
                                                       .alpha = scales[i / 2][0],
                                                       .beta = scales[i / 2][1]},
                                           .layout = CUDAL2_NN,
                                           .sets = sets,
                                           .n_sets = 2};
        char why[CUDAL2_WHY];
        void *state = NULL;
        assert_int_equal(c->setup(&setup, &state, why), CUDAL2_OK);
        assert_int_equal(c->launch(state, 0, why), CUDAL2_OK);
        assert_true(library.alpha == scales[i / 2][0] && library.beta == scales[i / 2][1]);
        c->teardown(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cublas_is_its_default), cmocka_unit_test(autotune_times_before_it_is_launched),
        cmocka_unit_test(alpha_and_beta_are_handed_over), cmocka_unit_test(what_the_library_lacks_is_unsupported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
