/* model/borrowed: libraries are known by names of their kernels and of what they export, and others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "model/borrowed.h"

static void is(const char *found, const char *expected)
{
    if (expected)
        assert_string_equal(found ? found : "nobody", expected);
    else
        assert_null(found);
}

static void kernels_are_known_by_their_names(void **state)
{
    static const char *const rows[][2] = {
        {"nvjet_sm90_hsh_64x32_64x16_2x4_h_bz_NNT", "cuBLAS"},
        {"sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize64x64x64", "cuBLAS"},
        {"ampere_h16816gemm_128x128_ldg8_stages_32x5_tn", "cuBLAS"},
        {"_ZN8cublasLt19splitKreduce_kernelILi32ELi16E6__halfEEv", "cuBLAS"},
        {"void gemvx::kernel<int, int, __half>", "cuBLAS"},
        {"void cublasLt::cutlass_kernel", "cuBLAS"},
        {"_ZN7cutlass6Kernel2I66cutlass_80_tensorop_f16_s16816gemm_f16", "CUTLASS"},
        {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal>", "CUTLASS"},
        {"gemm", NULL},
        {"ampere_gemm", NULL},
        {"my_gemv_kernel", NULL},
        {"splitk_reduce", NULL},
        {"cudal2_hopper_128x128x64_tn", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is(borrowed_kernel(rows[i][0]), rows[i][1]);
}

#define EXPORTS(names) borrowed_exports(names, sizeof(names))

static void libraries_are_known_by_whole_names(void **state)
{
    (void)state;
    is(EXPORTS("\0cblas_sgemm\0openblas_get_config\0"), "OpenBLAS");
    is(EXPORTS("\0sgemm_\0dgemm_"), "BLAS");
    is(EXPORTS("cblas_sgemm"), "BLAS");
    is(EXPORTS("\0MKL_Get_Version_String\0sgemm_"), "MKL");
    is(EXPORTS("\0my_cblas_sgemm\0cblas_sgemm_batch\0"), NULL);
    is(EXPORTS("\0cudal2_plugin\0cudal2_plugin_abi"), NULL);
    is(borrowed_exports("cblas_sgemm", 11), NULL); /* cut off */
    is(borrowed_exports("", 0), NULL);
}

static void code_is_known_by_its_words(void **state)
{
    (void)state;
    is(borrowed_words("x\0OPENBLAS_BLOCK_FACTOR", 24), "OpenBLAS");
    is(borrowed_words("OPENBLAS_BLOCK_FACTORY", 23), NULL);
    is(borrowed_words("OPENBLAS_NUM_THREADS", 21), NULL); /* others set it */
    is(borrowed_words("", 0), NULL);
}

static void a_text_names_its_library(void **state)
{
    (void)state;
    is(borrowed_library("OpenBLAS: libx.so"), "OpenBLAS");
    is(borrowed_library("BLAS: libblas.so.3"), "BLAS");
    is(borrowed_library("cuBLAS: nvjet_x"), "cuBLAS");
    is(borrowed_library("cuBLAS"), NULL);
    is(borrowed_library("mine: x"), NULL);
    assert_true(borrowed_is_said("{\"library\":\"openblas 0.3\"}", "OpenBLAS"));
    assert_false(borrowed_is_said("{\"kernel\":\"mine\"}", "OpenBLAS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_known_by_their_names),
        cmocka_unit_test(libraries_are_known_by_whole_names),
        cmocka_unit_test(code_is_known_by_its_words),
        cmocka_unit_test(a_text_names_its_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
