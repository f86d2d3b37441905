/* analysis/entry: the strongest baseline, chosen on one half of the groups and scored on the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "result_fixture.h"

/* Of three baselines each half has another one ahead: 700 and 800 on the halves, but chosen on the other half 1000 and
 * 900. */
static void strongest_is_chosen_on_the_other_half(void **state)
{
    (void)state;
    static const double even[] = {1000, 700, 1200, 500};
    static const double odd[] = {800, 900, 1200, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cublaslt-heuristic-tn", false);
    fixture_contender(r, "tiny", true);
    fill(r, 16, even, odd);
    cJSON *tree = result_of(r);
    const cJSON *s = speedup(tree_member(tree, "cells")->child, "tiny", "strongest", "device");
    assert_non_null(s);
    is_within(tree_number(s, "mean_of_ratios"), (1000 / 500.0 + 900 / 500.0) / 2 - 1, 6e-6);
    is_within(tree_number(s, "paper_max"), (700 + 900) / 2 / 500.0 - 1, 6e-6);
    cJSON_Delete(tree);
}

static void has_no_strongest(const char *third, bool candidate)
{
    static const double times[] = {1000, 700, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, third, candidate);
    fill(r, 16, times, times);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_non_null(cJSON_GetArrayItem(tree_member(cell, "speedups"), 0));
    assert_null(speedup(cell, "tiny", "strongest", "device"));
    assert_null(speedup(cell, "cublas-nn", "strongest", "device"));
    cJSON_Delete(tree);
}

static void one_family_has_no_strongest(void **state)
{
    (void)state;
    has_no_strongest("tiny", true);
}

static void baselines_alone_have_no_strongest(void **state)
{
    (void)state;
    has_no_strongest("torch.matmul", false);
}

/* A search has several finalists of a layout: -max is over the layouts, and the first of each stands for it. */
static void max_is_over_layouts(void **state)
{
    (void)state;
    static const double times[] = {1000, 800, 700, 600, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "tiny-nn", true);
    snprintf(fixture_contender(r, "tiny-nn", true)->name, RECORD_NAME_MAX, "tiny-nn+2");
    fixture_contender(r, "tiny-tn", true);
    snprintf(fixture_contender(r, "tiny-tn", true)->name, RECORD_NAME_MAX, "tiny-tn+2");
    fill(r, 16, times, times);
    cJSON *tree = result_of(r);
    const cJSON *s = speedup(tree_member(tree, "cells")->child, "tiny-max", "torch.matmul", "device");
    assert_non_null(s);
    is_within(tree_number(s, "mean_of_ratios"), 1000 / 600.0 - 1, 6e-6);
    cJSON_Delete(tree);
}

/* The candidate failed: what its baselines took is nobody's lead over one of them. */
static void no_baseline_stands_in_for_who_failed(void **state)
{
    (void)state;
    static const double times[] = {1000, 800, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "tiny", true)->verdict = VERDICT_WRONG_RESULT;
    fill(r, 16, times, times);
    cJSON *tree = result_of(r);
    assert_int_equal(cJSON_GetArraySize(tree_member(tree_member(tree, "cells")->child, "speedups")), 0);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strongest_is_chosen_on_the_other_half), TEST(one_family_has_no_strongest),
        TEST(baselines_alone_have_no_strongest),     TEST(max_is_over_layouts),
        TEST(no_baseline_stands_in_for_who_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
