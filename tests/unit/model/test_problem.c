/* A problem's leading dimensions: as words and back, one name for one problem, and where its elements lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/problem.h"

static const struct cudal2_problem plain = {
    .m = 64, .n = 96, .k = 128, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};

static void expect_refused(const char *text, const char *reason)
{
    struct cudal2_problem p = plain;
    struct error err;
    assert_int_equal(problem_args_parse(text, &p, &err), EXIT_CODE_DATA);
    if (strstr(err.text, reason) == NULL)
        fail_msg("\"%s\" says: %s", text, err.text);
}

static void words_and_back(void **state)
{
    struct cudal2_problem p = plain, again = plain;
    struct error err;
    char text[PROBLEM_ARGS_MAX], key[PROBLEM_KEY_MAX];
    (void)state;
    assert_int_equal(problem_args_parse("ldc=100:lda=136", &p, &err), 0);
    assert_int_equal(p.lda, 136);
    assert_int_equal(p.ldb, 0);
    assert_int_equal(p.ldc, 100);
    problem_args(&p, text);
    assert_string_equal(text, "lda=136:ldc=100");
    assert_int_equal(problem_args_parse(text, &again, &err), 0);
    assert_true(problem_equal(&p, &again));
    assert_false(problem_equal(&p, &plain));
    problem_key(&p, key);
    assert_string_equal(key, "f32-f32-64x96x128:lda=136:ldc=100");
}

/* A packed problem has the name that it always had. */
static void packed_is_nothing(void **state)
{
    struct cudal2_problem p = plain;
    struct error err;
    char key[PROBLEM_KEY_MAX];
    (void)state;
    assert_int_equal(problem_args_parse("", &p, &err), 0);
    assert_true(problem_is_packed(&p));
    assert_int_equal(problem_args_parse("lda=128:ldc=96", &p, &err), 0);
    assert_true(problem_is_packed(&p));
    problem_key(&p, key);
    assert_string_equal(key, "f32-f32-64x96x128");
    p.n = p.k;
    assert_int_equal(problem_args_parse("ldb=128", &p, &err), 0);
    assert_true(problem_is_packed(&p));
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    expect_refused("lda=127", "lda: expected 128 or more elements, found 127");
    expect_refused("ldb=95", "ldb: expected 96 or more");
    expect_refused("ldc=95", "ldc: expected 96 or more");
    expect_refused("ldd=200", "expected lda, ldb or ldc");
    expect_refused("lda", "found \"lda\"");
    expect_refused("lda=", "expected lda");
    expect_refused("lda=0", "expected lda");
    expect_refused("lda=-200", "expected lda");
    expect_refused("lda=200:", "expected lda");
    expect_refused(":lda=200", "expected lda");
    expect_refused("lda=200:lda=200", "each once");
    expect_refused("lda=9999999999999", "expected lda");
    expect_refused("lda=2000000000000", "expected lda");
}

static void elements_lie_where_they_are_said_to(void **state)
{
    struct cudal2_problem p = plain;
    (void)state;
    p.ldb = 200;
    struct matrix_extent nn = problem_b(&p, CUDAL2_NN), tn = problem_b(&p, CUDAL2_TN), a = problem_a(&p);
    assert_int_equal(extent_elements(&nn), 127 * 200 + 96);
    assert_int_equal(extent_elements(&tn), 95 * 200 + 128);
    assert_int_equal(extent_elements(&a), 64 * 128);
    assert_int_equal(extent_place(&nn, 96), 200);
    assert_int_equal(extent_place(&tn, 127), 127);
    assert_int_equal(extent_place(&a, 1000), 1000);
    assert_true(extent_has_gaps(&nn) && !extent_has_gaps(&a));
    struct cudal2_problem full = problem_full(&p, CUDAL2_TN);
    assert_int_equal(full.lda, 128);
    assert_int_equal(full.ldb, 200);
    assert_int_equal(full.ldc, 96);
    p = problem_packed(&full);
    assert_true(problem_is_packed(&p));
    assert_int_equal(problem_full(&p, CUDAL2_TN).ldb, 128);
    assert_int_equal(problem_full(&p, CUDAL2_NN).ldb, 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_back),
        cmocka_unit_test(packed_is_nothing),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(elements_lie_where_they_are_said_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
