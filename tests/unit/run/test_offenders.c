/* run/offenders: what a variant that costs a worker costs its contender. */
#include "run/offenders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct exclusion crash_of(unsigned variant)
{
    struct exclusion e = {.name = "cublaslt-exhaustive-nn", .verdict = VERDICT_CRASH, .reason = "signal 11"};
    snprintf(e.stage, sizeof e.stage, "tune:%06x", variant);
    return e;
}

/* One after the other is out alone; the last that fits takes the whole contender along, so that the cell has an end. */
static void one_variant_is_out_until_they_are_too_many(void **state)
{
    static struct offenders o;
    static struct cell_request request;
    (void)state;
    for (unsigned i = 0; i < CELL_MAX_EXCLUSIONS; i++) {
        const struct exclusion blamed = crash_of(i);
        assert_true(offenders_blame(&o, &request, &blamed));
        assert_int_equal(request.n_exclusions, i + 1);
        const char *stage = request.exclusions[i].stage;
        assert_string_equal(stage, i + 1 < CELL_MAX_EXCLUSIONS ? blamed.stage : "tune");
        assert_false(offenders_blame(&o, &request, &blamed));
    }
    assert_in_range(o.n_variants, 1, OFFENDER_MAX_VARIANTS);
    const struct exclusion more = crash_of(1000);
    assert_false(offenders_blame(&o, &request, &more));
}

static void a_variant_is_out_of_other_cells_too(void **state)
{
    struct offenders o = {0};
    static struct cell_request first, second;
    const struct exclusion blamed = crash_of(7);
    (void)state;
    assert_true(offenders_blame(&o, &first, &blamed));
    offenders_exclude(&o, &second);
    assert_int_equal(second.n_exclusions, 1);
    assert_string_equal(second.exclusions[0].stage, blamed.stage);
}

/* `cells` cells in each of which the contender ends as it is told: '.' ok, 'x' early_exit, 'h' hang, '-' unsupported.
 */
static bool is_left_out_after(const char *cells)
{
    static struct cell_request request;
    static struct cell_record record = {.n_contenders = 1};
    struct contender_record *contender = record.contenders;
    struct offenders o = {0};
    memset(&request, 0, sizeof request);
    snprintf(contender->name, sizeof contender->name, "theirs-tn");
    for (const char *c = cells; *c; c++) {
        record_set_verdict(contender, *c == '.' ? "ok" : *c == 'x' ? "early_exit" : *c == 'h' ? "hang" : "unsupported");
        offenders_count(&o, &record);
    }
    offenders_exclude(&o, &request);
    return request.n_exclusions == 1;
}

/* A plugin may hold another kernel for each shape: what one of them does says little of the others. */
static void who_fails_now_and_then_goes_on(void **state)
{
    (void)state;
    assert_false(is_left_out_after("xx"));
    assert_true(is_left_out_after("xxx"));
    assert_true(is_left_out_after("-x--x---x-----"));
    assert_true(is_left_out_after(".x..x...x..."));
    assert_false(is_left_out_after(".x..x...x...."));
    assert_true(is_left_out_after("....................h..h..h..............."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_variant_is_out_until_they_are_too_many),
        cmocka_unit_test(a_variant_is_out_of_other_cells_too),
        cmocka_unit_test(who_fails_now_and_then_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
