/* analysis/quantization, and what the stop rule makes of it: times on one or two steps of the clock promise nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "measure/stop.h"
#include "record_fixture.h"
#include "analysis/quantization.h"
#include "result/cell.h"
#include "base/tree.h"

#define N 32u

/* Time of contender `which` in a block, ns. */
typedef double (*script)(unsigned which, unsigned block);

static double quantization_of(script time)
{
    double reference[N], candidate[N];
    struct pair pair = {.n = N, .reference_ns = reference, .candidate_ns = candidate};
    for (unsigned i = 0; i < N; i++) {
        reference[i] = time(0, i);
        candidate[i] = time(1, i);
    }
    return pair_quantization(&pair);
}

static double one_step_each(unsigned which, unsigned block)
{
    (void)block;
    return which ? 1000 : 1500;
}

/* The reference flickers between two steps of 100 ns; the candidate is always on one. */
static double two_steps_and_one(unsigned which, unsigned block)
{
    return which ? 1000 : block % 8 == 3 ? 2100 : 2000;
}

static double three_steps(unsigned which, unsigned block)
{
    return (which ? 1000 : 2000) + 100 * (block % 3);
}

static double fine(unsigned which, unsigned block)
{
    return (which ? 1000 : 2000) + 0.001 * block;
}

static double one_step_and_fine(unsigned which, unsigned block)
{
    return which ? 1000 : fine(0, block);
}

static double close_steps(unsigned which, unsigned block)
{
    return (which ? 1000 : 2000) + (block % 2 ? 1 : 0);
}

static void a_step_hides_half_of_itself(void **state)
{
    (void)state;
    assert_true(isinf(quantization_of(one_step_each)));
    assert_true(fabs(quantization_of(two_steps_and_one) - (50.0 / 2000 + 50.0 / 1000)) < 1e-12);
    assert_true(quantization_of(three_steps) <= 0);
    assert_true(quantization_of(fine) <= 0);
    assert_true(fabs(quantization_of(one_step_and_fine) - 0.0005 / 1000) < 1e-9);
}

/* On a clock as fine as may be, two blocks have two times. */
static void two_blocks_hide_nothing(void **state)
{
    double reference[] = {2000.7, 2011.1}, candidate[] = {1000.3, 1005.9};
    struct pair pair = {.n = 2, .reference_ns = reference, .candidate_ns = candidate};
    (void)state;
    assert_true(pair_quantization(&pair) <= 0);
    reference[1] = reference[0];
    assert_true(pair_quantization(&pair) > 0.001); /* one that comes again may be on a step */
}

static void no_block_hides_nothing(void **state)
{
    struct pair pair = {.n = 0};
    (void)state;
    assert_true(pair_quantization(&pair) <= 0);
}

static struct cell_record *judged(script time)
{
    static const struct stop_config config = {
        .min_blocks = 32, .look_every = 8, .max_blocks = 96, .group_blocks = 4, .delta = {0.005, 0.02}};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cudal2-nn", true);
    for (unsigned i = 0; i < N; i++) {
        unsigned block = fixture_block(r, config.group_blocks);
        for (unsigned c = 0; c < 2; c++)
            series_add(&r->contenders[c].timings[r->headline], block, time(c, i));
    }
    stop_judge(&config, r);
    return r;
}

static void expect_judged(script time, bool converged, bool coarse)
{
    struct cell_record *r = judged(time);
    assert_int_equal(r->converged, converged);
    assert_int_equal(r->coarse, coarse);
    record_free(r);
}

static void width_zero_is_no_certainty(void **state)
{
    (void)state;
    expect_judged(one_step_each, false, true);
    expect_judged(two_steps_and_one, false, true);
    expect_judged(one_step_and_fine, true, false);
    expect_judged(close_steps, true, true); /* to be told, but half a nanosecond of a thousand is enough */
    expect_judged(fine, true, false);
}

static const cJSON *first(const cJSON *cell, const char *list)
{
    assert_non_null(tree_member(cell, list));
    assert_non_null(tree_member(cell, list)->child);
    return tree_member(cell, list)->child;
}

/* Of the candidate over the reference; for "aa" the candidate plays a copy of the reference. */
static const cJSON *interval_in(script time, const char *list, cJSON **cell)
{
    const struct peak peak = {0, 0, 0};
    struct cell_record *r = judged(time);
    if (strcmp(list, "aa") == 0) {
        r->contenders[1].candidate = false;
        strcpy(r->contenders[1].copy_of, "cublas-nn");
    }
    *cell = cell_json_of(r, &peak);
    record_free(r);
    return tree_member(first(*cell, list), "ci95");
}

static void expect_interval(script time, double from, double to)
{
    cJSON *cell;
    const cJSON *ci = interval_in(time, "speedups", &cell);
    assert_int_equal(cJSON_GetArraySize(ci), 2);
    assert_true(fabs(ci->child->valuedouble - from) < 5e-5);
    assert_true(fabs(ci->child->next->valuedouble - to) < 5e-5);
    cJSON_Delete(cell);
}

static void an_interval_is_no_narrower(void **state)
{
    cJSON *cell;
    (void)state;
    /* The one later step in eight is trimmed away, in every group: of width 0, as far as times go. */
    expect_interval(two_steps_and_one, 2 * exp(-0.075) - 1, 2 * exp(0.075) - 1);
    expect_interval(fine, fine(0, 0) / fine(1, 0) - 1, fine(0, 0) / fine(1, 0) - 1);
    assert_true(cJSON_IsNull(interval_in(one_step_each, "speedups", &cell)));
    assert_true(fabs(tree_number(first(cell, "speedups"), "geomean") - 0.5) < 1e-9);
    cJSON_Delete(cell);
}

static void an_unknown_interval_excludes_nothing(void **state)
{
    cJSON *cell;
    (void)state;
    assert_true(cJSON_IsNull(interval_in(one_step_each, "aa", &cell)));
    assert_null(tree_member(first(cell, "aa"), "excludes_one"));
    cJSON_Delete(cell);
    interval_in(two_steps_and_one, "aa", &cell);
    assert_true(tree_true(first(cell, "aa"), "excludes_one"));
    cJSON_Delete(cell);
}

static void the_result_says_so(void **state)
{
    const struct peak peak = {0, 0, 0};
    (void)state;
    struct cell_record *r = judged(one_step_each), *back = NULL;
    struct error err = {0};
    cJSON *written = record_to_json(r);
    if (record_from_json(json_root(written, "record"), &back, &err))
        fail_msg("%s", err.text);
    cJSON *cell = cell_json_of(back, &peak);
    assert_true(tree_true(cell, "coarse"));
    assert_false(tree_true(cell, "converged"));
    assert_true(cJSON_IsNull(tree_member(cell, "worst_half_width")));
    cJSON_Delete(cell);
    cJSON_Delete(written);
    record_free(back);
    record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_hides_half_of_itself),
                                       cmocka_unit_test(no_block_hides_nothing),
                                       cmocka_unit_test(two_blocks_hide_nothing),
                                       cmocka_unit_test(width_zero_is_no_certainty),
                                       cmocka_unit_test(the_result_says_so),
                                       cmocka_unit_test(an_interval_is_no_narrower),
                                       cmocka_unit_test(an_unknown_interval_excludes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
