/* baselines/cublaslt: which variants the exhaustive contender lists and how one is set up, on a library that is made
 * up. Links the baseline's own object.
 */
#include "abi/contender.h"

#include "../baselines/cublaslt_enumerate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CAPACITY 12

static int answers[2]; /* of an enumeration, by accumulate type; negative: it fails with that */
static int opened;     /* less what was closed */
static int asked;      /* the heuristic, so often */
static int knows = 1;  /* it, so many algorithms; negative: it fails with that */
static enum cudal2_accumulate opened_for;
static char parsed[64];

int lt_failed(char *why, const char *call, cublasStatus_t status)
{
    snprintf(why, CUDAL2_WHY, "%s: %d", call, (int)status);
    return CUDAL2_LIBRARY_ERROR;
}

int lt_matmul_open(const struct cudal2_setup *setup, struct lt_matmul *out, char *why)
{
    (void)why;
    memset(out, 0, sizeof *out);
    opened_for = setup->problem.accumulate;
    out->compute = opened_for == CUDAL2_ACC_F16 ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
    opened++;
    return CUDAL2_OK;
}

void lt_matmul_close(struct lt_matmul *m)
{
    (void)m;
    opened--;
}

int lt_heuristic(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why)
{
    (void)m, (void)workspace_bytes, (void)why;
    memset(out, 0, sizeof *out);
    asked++;
    out->waves = (float)asked;
    return knows;
}

int lt_all_algorithms(const struct lt_matmul *m, size_t workspace_bytes, struct lt_algorithm *out, char *why)
{
    return lt_heuristic(m, workspace_bytes, out, why);
}

int lt_enumerate(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out, int capacity,
                 char *why)
{
    int n = answers[setup->problem.accumulate];
    (void)m;
    if (n < 0)
        snprintf(why, CUDAL2_WHY, "the library failed");
    for (int i = 0; i < n && i < capacity; i++)
        out[i] = (struct lt_algorithm){.workspace_bytes = (size_t)i};
    return n < capacity ? n : capacity;
}

void lt_key(const struct lt_algorithm *algorithm, struct cudal2_variant *out)
{
    snprintf(out->key, sizeof out->key, "key:%zu", algorithm->workspace_bytes);
}

int lt_parse_key(const struct lt_matmul *m, const char *key, size_t workspace_bytes, struct lt_algorithm *out,
                 char *why)
{
    (void)m, (void)workspace_bytes, (void)why;
    memset(out, 0, sizeof *out);
    snprintf(parsed, sizeof parsed, "%s", key);
    return CUDAL2_OK;
}

int lt_describe(const struct lt_algorithm *algorithm, char *out, size_t capacity)
{
    (void)algorithm;
    return snprintf(out, capacity, "\"id\":66");
}

cublasStatus_t CUBLASWINAPI cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
                                           const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                                           cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                                           cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                                           const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t bytes,
                                           cudaStream_t stream)
{
    (void)handle, (void)operation, (void)alpha, (void)a, (void)a_layout, (void)b, (void)b_layout, (void)beta;
    (void)c, (void)c_layout, (void)d, (void)d_layout, (void)algorithm, (void)workspace, (void)bytes, (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

size_t CUBLASWINAPI cublasLtGetVersion(void)
{
    return 130100;
}

/* ---- tests ---- */

static struct cudal2_variant list[CAPACITY];

static const struct cudal2_contender *find(const char *name)
{
    const struct cudal2_plugin *plugin = cudal2_plugin();
    for (size_t i = 0; i < plugin->n_contenders; i++)
        if (strcmp(plugin->contenders[i].name, name) == 0)
            return &plugin->contenders[i];
    fail_msg("no %s", name);
    return NULL;
}

static int list_for(enum cudal2_accumulate accumulate, int narrow, int wide)
{
    const struct cudal2_setup setup = {.problem = {64, 64, 64, CUDAL2_F16, accumulate}};
    char why[CUDAL2_WHY] = "";
    answers[CUDAL2_ACC_F16] = narrow;
    answers[CUDAL2_ACC_F32] = wide;
    int n = find("cublaslt-exhaustive-nn")->list_variants(&setup, list, CAPACITY, why);
    assert_int_equal(opened, 0);
    return n;
}

static void expect(int n, const char *const keys[])
{
    for (int i = 0; i < n; i++)
        assert_string_equal(list[i].key, keys[i]);
}

static void both_accumulate_types_take_turns(void **state)
{
    (void)state;
    assert_int_equal(list_for(CUDAL2_ACC_F16, 2, 4), 6);
    expect(6, (const char *const[]){"key:0", "32f/key:0", "key:1", "32f/key:1", "32f/key:2", "32f/key:3"});
    assert_int_equal(list_for(CUDAL2_ACC_F16, 100, 100), CAPACITY);
    assert_string_equal(list[CAPACITY - 1].key, "32f/key:5");
    assert_int_equal(list_for(CUDAL2_ACC_F32, 100, 3), 3);
    expect(3, (const char *const[]){"key:0", "key:1", "key:2"});
}

static void one_of_the_two_is_enough(void **state)
{
    (void)state;
    assert_int_equal(list_for(CUDAL2_ACC_F16, -CUDAL2_LIBRARY_ERROR, 1), 1);
    assert_string_equal(list[0].key, "32f/key:0");
    assert_int_equal(list_for(CUDAL2_ACC_F16, 1, -CUDAL2_LIBRARY_ERROR), 1);
    assert_string_equal(list[0].key, "key:0");
    assert_int_equal(list_for(CUDAL2_ACC_F16, -CUDAL2_UNSUPPORTED, -CUDAL2_LIBRARY_ERROR), -CUDAL2_LIBRARY_ERROR);
    assert_int_equal(list_for(CUDAL2_ACC_F16, 0, 0), -CUDAL2_UNSUPPORTED);
}

/* Whose key begins so accumulates in fp32, in a cell of fp16, and says it. */
static void a_wide_key_is_set_up_as_one(void **state)
{
    const struct cudal2_contender *c = find("cublaslt-exhaustive-tn");
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const struct cudal2_setup setup = {.problem = {64, 64, 64, CUDAL2_F16, CUDAL2_ACC_F16},
                                           .variant = wide ? "32f/key:3" : "key:3"};
        char why[CUDAL2_WHY] = "", text[512];
        void *gemm = NULL;
        assert_int_equal(c->setup(&setup, &gemm, why), CUDAL2_OK);
        assert_int_equal(opened_for, wide ? CUDAL2_ACC_F32 : CUDAL2_ACC_F16);
        assert_string_equal(parsed, "key:3");
        assert_int_equal(c->describe(gemm, text, sizeof text), CUDAL2_OK);
        assert_non_null(strstr(text, wide ? "\"accumulates\":\"f32\"" : "\"accumulates\":\"f16\""));
        c->teardown(gemm);
    }
    assert_int_equal(opened, 0);
}

/* The heuristic is asked for fp32 sums in a cell of fp16, and the record says what the winner does. */
static void autotuning_has_a_wide_one(void **state)
{
    const struct cudal2_contender *c = find("cublaslt-autotuning-32f-tn");
    struct cudal2_setup setup = {.problem = {64, 64, 64, CUDAL2_F16, CUDAL2_ACC_F16}, .layout = CUDAL2_TN};
    char why[CUDAL2_WHY] = "", text[512];
    void *gemm = NULL;
    (void)state;
    assert_int_equal(c->flags & CUDAL2_ACC_WIDER, CUDAL2_ACC_WIDER);
    assert_int_equal(c->list_variants(&setup, list, CAPACITY, why), 1);
    assert_int_equal(opened_for, CUDAL2_ACC_F32);
    for (int raced = 0; raced < 2; raced++) {
        setup.variant = raced ? list[0].key : NULL;
        assert_int_equal(c->setup(&setup, &gemm, why), CUDAL2_OK);
        assert_int_equal(opened_for, CUDAL2_ACC_F32);
        assert_int_equal(c->describe(gemm, text, sizeof text), CUDAL2_OK);
        assert_non_null(strstr(text, "\"accumulates\":\"f32\""));
        c->teardown(gemm);
    }
    assert_int_equal(opened, 0);
}

/* In a cell of fp32 it would be cublaslt-autotuning. */
static void the_wide_one_is_for_fp16_alone(void **state)
{
    const struct cudal2_contender *c = find("cublaslt-autotuning-32f-nn");
    const struct cudal2_setup setup = {.problem = {64, 64, 64, CUDAL2_F16, CUDAL2_ACC_F32}};
    char why[CUDAL2_WHY] = "";
    void *gemm = NULL;
    (void)state;
    assert_int_equal(c->list_variants(&setup, list, CAPACITY, why), -CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "cublaslt-autotuning again"));
    assert_int_equal(c->setup(&setup, &gemm, why), CUDAL2_UNSUPPORTED);
    assert_null(gemm);
}

static int set_up_once(const struct cudal2_setup *setup)
{
    char why[CUDAL2_WHY] = "";
    void *gemm = NULL;
    const struct cudal2_contender *c =
        find(setup->layout == CUDAL2_NN ? "cublaslt-heuristic-nn" : "cublaslt-heuristic-tn");
    int status = c->setup(setup, &gemm, why);
    if (status == CUDAL2_OK)
        c->teardown(gemm);
    assert_int_equal(opened, 0);
    return status;
}

/* Forty groups of blocks ask once for each layout; whatever an answer may depend on is asked again. */
static void the_heuristic_is_asked_once_for_a_problem(void **state)
{
    struct cudal2_setup setup = {.problem = {64, 128, 192, CUDAL2_F16, CUDAL2_ACC_F16}, .workspace_bytes = 1 << 20};
    (void)state;
    asked = 0;
    for (int group = 0; group < 40; group++) {
        setup.layout = group % 2 ? CUDAL2_TN : CUDAL2_NN;
        setup.sets = (const struct cudal2_operands *)(uintptr_t)(group * 512);
        assert_int_equal(set_up_once(&setup), CUDAL2_OK);
    }
    assert_int_equal(asked, 2);
    struct cudal2_setup others[10];
    for (int i = 0; i < 10; i++)
        others[i] = setup;
    others[0].problem.m = others[1].problem.n = others[2].problem.k = 256;
    others[3].problem.dtype = CUDAL2_BF16;
    others[4].problem.accumulate = CUDAL2_ACC_F32;
    others[5].problem.lda = others[6].problem.ldb = others[7].problem.ldc = 512;
    others[8].problem.beta = 1;
    others[9].workspace_bytes = 0;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(set_up_once(&others[i]), CUDAL2_OK);
        assert_int_equal(asked, 3 + i);
    }
}

/* What failed is asked again. */
static void no_answer_is_not_kept(void **state)
{
    const struct cudal2_setup setup = {.problem = {8, 8, 8, CUDAL2_F16, CUDAL2_ACC_F16}};
    (void)state;
    asked = 0;
    knows = 0;
    assert_int_equal(set_up_once(&setup), CUDAL2_UNSUPPORTED);
    knows = -CUDAL2_LIBRARY_ERROR;
    assert_int_equal(set_up_once(&setup), CUDAL2_LIBRARY_ERROR);
    knows = 1;
    assert_int_equal(set_up_once(&setup), CUDAL2_OK);
    assert_int_equal(asked, 3);
    assert_int_equal(set_up_once(&setup), CUDAL2_OK);
    assert_int_equal(asked, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_accumulate_types_take_turns),
        cmocka_unit_test(one_of_the_two_is_enough),
        cmocka_unit_test(a_wide_key_is_set_up_as_one),
        cmocka_unit_test(autotuning_has_a_wide_one),
        cmocka_unit_test(the_wide_one_is_for_fp16_alone),
        cmocka_unit_test(the_heuristic_is_asked_once_for_a_problem),
        cmocka_unit_test(no_answer_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
