/* base/nearest: which known word a misspelt one meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/nearest.h"

static const char *const names[] = {"torch.matmul", "cublas", NULL, "cublaslt-heuristic", "cublaslt-autotuning", "run"};

static const char *near(const char *word)
{
    const char *found = nearest_name(word, names, sizeof names / sizeof names[0]);
    return found ? found : "(none)";
}

static void near_misses(void **state)
{
    (void)state;
    assert_string_equal(near("cubals"), "cublas");      /* two letters swapped */
    assert_string_equal(near("cublass"), "cublas");     /* one too many */
    assert_string_equal(near("cuBLAS"), "cublas");      /* in the other case */
    assert_string_equal(near("torch"), "torch.matmul"); /* the beginning of one */
    assert_string_equal(near("cublaslt-hueristics"), "cublaslt-heuristic");
    assert_string_equal(near("cublaslt_autotunning"), "cublaslt-autotuning");
    assert_string_equal(near("rn"), "run");
    assert_string_equal(near("heuristic"), "cublaslt-heuristic"); /* a part of one */
}

/* A key of one letter is near every short word, and meant where only its case is wrong. */
static void the_other_case_is_meant(void **state)
{
    static const char *const sizes[] = {"m", "n", "k", "label"};
    (void)state;
    assert_string_equal(nearest_name("N", sizes, 4), "n");
    assert_null(nearest_name("x", sizes, 4));
}

static void nothing_near(void **state)
{
    char longer[200];
    (void)state;
    assert_string_equal(near("openblas"), "(none)"); /* three letters from cublas */
    assert_string_equal(near(""), "(none)");
    assert_string_equal(near("x"), "(none)");
    assert_string_equal(near("to"), "(none)"); /* two letters begin too many words */
    memset(longer, 'c', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_string_equal(near(longer), "(none)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_misses),
        cmocka_unit_test(the_other_case_is_meant),
        cmocka_unit_test(nothing_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
