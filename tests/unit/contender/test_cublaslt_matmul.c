/* baselines/cublaslt_matmul.c: leading dimensions, types, alpha and beta of a problem as cuBLASLt is told them, on a
 * library that notes what is created. Links the baseline's own objects. */
#include "../baselines/cublaslt_matmul.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/half.h"

static struct {
    cudaDataType_t scale_type;
    uint64_t rows[3], columns[3];
    int64_t strides[3];
    int layouts, alive;
} library;

cublasStatus_t CUBLASWINAPI cublasLtCreate(cublasLtHandle_t *handle)
{
    static int one;
    *handle = (cublasLtHandle_t)(void *)&one;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                                     cudaDataType_t scale_type)
{
    (void)compute;
    library.scale_type = scale_type;
    library.alive++;
    *desc = (cublasLtMatmulDesc_t)(void *)&library;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    (void)desc;
    library.alive--;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                                           cublasLtMatmulDescAttributes_t attribute, const void *value,
                                                           size_t bytes)
{
    (void)desc, (void)attribute, (void)value, (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                                       uint64_t columns, int64_t stride)
{
    (void)type;
    library.rows[library.layouts] = rows;
    library.columns[library.layouts] = columns;
    library.strides[library.layouts++] = stride;
    library.alive++;
    *layout = (cublasLtMatrixLayout_t)(void *)&library;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t CUBLASWINAPI cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    (void)layout;
    library.alive--;
    return CUBLAS_STATUS_SUCCESS;
}

const char *CUBLASWINAPI cublasLtGetStatusString(cublasStatus_t status)
{
    (void)status;
    return "a status";
}

static void open_for(enum cudal2_layout layout, enum cudal2_accumulate accumulate, const double scales[2],
                     struct lt_matmul *out)
{
    const struct cudal2_setup setup = {.problem = {.m = 16,
                                                   .n = 32,
                                                   .k = 64,
                                                   .dtype = CUDAL2_F16,
                                                   .accumulate = accumulate,
                                                   .lda = 72,
                                                   .ldb = 80,
                                                   .ldc = 40,
                                                   .alpha = scales[0],
                                                   .beta = scales[1]},
                                       .layout = layout};
    char why[CUDAL2_WHY];
    library.layouts = 0;
    assert_int_equal(lt_matmul_open(&setup, out, why), CUDAL2_OK);
}

/* Column-major: the library's A is our B, its B our A. */
static void leading_dimensions_are_told(void **state)
{
    const double plain[] = {1, 0};
    const int64_t strides[] = {80, 72, 40};
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct lt_matmul m;
        open_for((enum cudal2_layout)layout, CUDAL2_ACC_F32, plain, &m);
        assert_int_equal(library.layouts, 3);
        for (int i = 0; i < 3; i++)
            assert_int_equal(library.strides[i], strides[i]);
        assert_int_equal(library.rows[0], layout == CUDAL2_TN ? 64 : 32);
        assert_true(library.rows[1] == 64 && library.columns[1] == 16);
        assert_true(library.rows[2] == 32 && library.columns[2] == 16);
        lt_matmul_close(&m);
        assert_int_equal(library.alive, 0);
    }
}

static void scales_are_of_the_scale_type(void **state)
{
    static const double scales[][2] = {{1, 0}, {0.125, 4}, {-0.5, -0.875}, {3.875, 1.25}, {-4, 0.375}};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        struct lt_matmul m;
        open_for(CUDAL2_NN, CUDAL2_ACC_F32, scales[i], &m);
        assert_int_equal(library.scale_type, CUDA_R_32F);
        assert_true((double)m.alpha.single == scales[i][0] && (double)m.beta.single == scales[i][1]);
        lt_matmul_close(&m);
        open_for(CUDAL2_NN, CUDAL2_ACC_F16, scales[i], &m);
        assert_int_equal(library.scale_type, CUDA_R_16F);
        assert_true((double)half_to_float(m.alpha.half) == scales[i][0]);
        assert_true((double)half_to_float(m.beta.half) == scales[i][1]);
        lt_matmul_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_dimensions_are_told),
        cmocka_unit_test(scales_are_of_the_scale_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
