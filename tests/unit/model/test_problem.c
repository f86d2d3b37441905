/* A problem's leading dimensions and scales: as words and back, one name for one problem, and where its elements lie.
 */
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

static void scales_have_words_too(void **state)
{
    static const struct {
        const char *text, *again;
        double alpha, beta;
    } cases[] = {
        {"alpha=0.5:beta=1", "alpha=0.5:beta=1", 0.5, 1},
        {"beta=-0.125:lda=136", "lda=136:beta=-0.125", 0, -0.125},
        {"alpha=-3.875", "alpha=-3.875", -3.875, 0},
        {"alpha=-1:beta=4", "alpha=-1:beta=4", -1, 4},
        {"alpha=1.0:beta=0", "", 0, 0},
        {"alpha=2.50:beta=-0", "alpha=2.5", 2.5, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cudal2_problem p = plain, again = plain;
        struct error err;
        char text[PROBLEM_ARGS_MAX];
        assert_int_equal(problem_args_parse(cases[i].text, &p, &err), 0);
        assert_true(p.alpha == cases[i].alpha && p.beta == cases[i].beta);
        problem_args(&p, text);
        assert_string_equal(text, cases[i].again);
        assert_int_equal(problem_args_parse(text, &again, &err), 0);
        assert_true(problem_equal(&p, &again));
        assert_int_equal(problem_equal(&p, &plain), text[0] == '\0');
        assert_int_equal(problem_is_scaled(&p), p.alpha != 0 || p.beta != 0);
        assert_int_equal(problem_is_plain(&p), text[0] == '\0');
        assert_true(problem_full(&p, CUDAL2_NN).alpha == (p.alpha == 0 ? 1 : p.alpha));
    }
}

static void the_longest_words_fit(void **state)
{
    struct cudal2_problem p = plain;
    struct error err;
    char text[PROBLEM_ARGS_MAX];
    const char *longest = "lda=999999999999:ldb=999999999999:ldc=999999999999:alpha=-3.875:beta=-3.875";
    (void)state;
    assert_int_equal(problem_args_parse(longest, &p, &err), 0);
    problem_args(&p, text);
    assert_string_equal(text, longest);
    p = problem_plain(&p);
    assert_true(problem_equal(&p, &plain));
}

static void scales_that_are_none_are_refused(void **state)
{
    (void)state;
    expect_refused("alpha=0", "alpha (not 0)");
    expect_refused("alpha=-0.0", "alpha (not 0)");
    expect_refused("alpha=0.3", "alpha: expected a multiple of 1/8 from -4 to 4");
    expect_refused("beta=0.0625", "expected lda");
    expect_refused("beta=4.125", "beta: expected a multiple of 1/8");
    expect_refused("beta=-4.125", "beta: expected a multiple of 1/8");
    expect_refused("beta=10", "expected lda");
    expect_refused("beta=", "expected lda");
    expect_refused("beta=-", "expected lda");
    expect_refused("beta=.5", "expected lda");
    expect_refused("beta=1.", "expected lda");
    expect_refused("beta=1e0", "expected lda");
    expect_refused("beta=+1", "expected lda");
    expect_refused("beta=1.5.5", "expected lda");
    expect_refused("beta=nan", "expected lda");
    expect_refused("beta=1:beta=1", "each once");
}

static void sizes_are_found_in_a_key(void **state)
{
    (void)state;
    assert_string_equal(problem_key_sizes("offline/f32-f32-64x96x128"), "64x96x128");
    assert_string_equal(problem_key_sizes("f16-f32-8x8x8:alpha=-0.5:beta=-1"), "8x8x8:alpha=-0.5:beta=-1");
    assert_string_equal(problem_key_sizes("8x8x8:alpha=-0.5"), "8x8x8:alpha=-0.5");
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
    expect_refused("ldd=200", "expected lda, ldb, ldc, alpha (not 0) or beta");
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
    p = problem_plain(&full);
    assert_true(problem_is_packed(&p));
    assert_int_equal(problem_full(&p, CUDAL2_TN).ldb, 128);
    assert_int_equal(problem_full(&p, CUDAL2_NN).ldb, 96);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_back),           cmocka_unit_test(scales_have_words_too),
        cmocka_unit_test(the_longest_words_fit),    cmocka_unit_test(scales_that_are_none_are_refused),
        cmocka_unit_test(sizes_are_found_in_a_key), cmocka_unit_test(packed_is_nothing),
        cmocka_unit_test(nonsense_is_refused),      cmocka_unit_test(elements_lie_where_they_are_said_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
