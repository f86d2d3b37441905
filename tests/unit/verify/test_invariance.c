/* verify/invariance.c on the scripted device: whose bits depend on M, on the variant or on the launch, and whose do
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "verify/invariance.h"

static struct fixture f;

static void open_fixture(size_t n)
{
    fixture_open(&f, n);
    f.config.invariance = true;
    for (size_t i = 0; i < n; i++) { /* another problem than the cell's must be one that it takes */
        struct cudal2_contender *is = &f.contenders[i].is;
        is->devices = f.device->info.device_bit;
        is->dtypes = CUDAL2_BIT(f.bench.problem.dtype);
        is->accumulates = CUDAL2_BIT(f.bench.problem.accumulate);
    }
}

static void check(void)
{
    struct error err;
    fixture_start(&f);
    assert_int_equal(invariance_check(&f.bench, &err), 0);
}

static const cJSON *found(size_t entrant, const char *member)
{
    return cJSON_GetObjectItem(f.bench.record->contenders[entrant].invariance, member);
}

static void assert_found(size_t entrant, bool invariant, bool deterministic)
{
    assert_true(cJSON_IsBool(found(entrant, "batch_invariant")) && cJSON_IsBool(found(entrant, "deterministic")));
    assert_int_equal(cJSON_IsTrue(found(entrant, "batch_invariant")), invariant);
    assert_int_equal(cJSON_IsTrue(found(entrant, "deterministic")), deterministic);
}

static void same_sums_are_both(void **state)
{
    static const int sizes[] = {300, 64, 8, 7, 1};
    (void)state;
    open_fixture(1);
    check();
    assert_found(0, true, true);
    for (int i = 0; i < 5; i++)
        assert_int_equal(cJSON_GetArrayItem(found(0, "m"), i)->valueint, sizes[i]);
    assert_int_equal(cJSON_GetArraySize(found(0, "m")), 5);
    assert_int_equal(f.actors[0].launches, 5 * INVARIANCE_RUNS);
    assert_int_equal(f.actors[0].setups, 1 + 2 * 5);
    assert_int_equal(f.actors[0].teardowns, 2 * 5); /* its own state for the cell is still there */
    assert_null(found(0, "differs"));
    fixture_close(&f);
}

static void sums_that_depend_on_m_are_found(void **state)
{
    (void)state;
    open_fixture(2);
    f.actors[0].half_step = 2;
    f.actors[0].half_step_above = 100; /* on M 300 alone */
    check();
    assert_found(0, false, true);
    assert_non_null(strstr(found(0, "differs")->valuestring, "M 64, row 0, column "));
    assert_non_null(strstr(found(0, "differs")->valuestring, " as with M 300"));
    assert_found(1, true, true);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok"); /* a property, no fault */
    fixture_close(&f);
}

static void the_cells_own_m_counts(void **state)
{
    (void)state;
    open_fixture(1);
    f.bench.problem.m = 320;
    f.actors[0].half_step = 2;
    f.actors[0].half_step_above = 310;
    check();
    assert_found(0, false, true);
    assert_int_equal(cJSON_GetArrayItem(found(0, "m"), 0)->valueint, 320);
    assert_int_equal(cJSON_GetArraySize(found(0, "m")), 5);
    fixture_close(&f);
}

static void bits_that_change_between_launches_are_found(void **state)
{
    (void)state;
    open_fixture(1);
    f.actors[0].unsteady = true;
    check();
    assert_false(cJSON_IsTrue(found(0, "deterministic")));
    assert_non_null(strstr(found(0, "unsteady")->valuestring, "M 300, row 299, column 7: bits "));
    fixture_close(&f);
}

static void variants_must_agree(void **state)
{
    (void)state;
    open_fixture(2);
    f.actors[0].n_variants = f.actors[1].n_variants = 3;
    f.actors[0].variant_half_step[2] = 2; /* the last that it lists sums otherwise */
    fixture_start(&f);
    struct error err;
    for (size_t i = 0; i < 2; i++) {
        snprintf(f.bench.entrants[i].variant, sizeof f.bench.entrants[i].variant, "v0");
        assert_true(entrant_setup(&f.bench, &f.bench.entrants[i]));
    }
    assert_int_equal(invariance_check(&f.bench, &err), 0);
    assert_found(0, false, true);
    assert_found(1, true, true);
    assert_int_equal(found(1, "variants")->valueint, 3);
    assert_int_equal(f.actors[1].launches, 5 * (INVARIANCE_RUNS + 2)); /* one often, the others once */
    assert_string_equal(f.bench.entrants[0].variant, "v0");
    fixture_close(&f);
}

static void one_m_alone_says_nothing_of_invariance(void **state)
{
    (void)state;
    open_fixture(2);
    f.bench.problem.m = 1;
    f.actors[0].most_rows = 1;
    f.actors[1].most_rows = 7;
    f.bench.record->problem = f.bench.problem;
    check();
    assert_null(found(0, "batch_invariant"));
    assert_string_equal(found(0, "reason")->valuestring, "too many rows");
    assert_true(cJSON_IsTrue(found(0, "deterministic")));
    assert_found(1, true, true);
    assert_int_equal(cJSON_GetArraySize(found(1, "m")), 2);
    fixture_close(&f);
}

static void nobody_is_asked_by_default(void **state)
{
    (void)state;
    fixture_open(&f, 1);
    check();
    assert_null(f.bench.record->contenders[0].invariance);
    assert_int_equal(f.actors[0].launches, 0);
    fixture_close(&f);
}

static void who_has_failed_or_is_a_copy_is_left_out(void **state)
{
    (void)state;
    open_fixture(2);
    snprintf(f.bench.record->contenders[1].copy_of, RECORD_NAME_MAX, "a-nn");
    fixture_start(&f);
    entrant_fail(&f.bench, &f.bench.entrants[0], VERDICT_WRONG_RESULT, "verify", "on purpose");
    struct error err;
    assert_int_equal(invariance_check(&f.bench, &err), 0);
    assert_null(f.bench.record->contenders[0].invariance);
    assert_null(f.bench.record->contenders[1].invariance);
    fixture_close(&f);
}

static void a_device_that_is_lost_ends_the_worker(void **state)
{
    struct error err;
    (void)state;
    open_fixture(1);
    f.actors[0].break_from = 3;
    fixture_start(&f);
    assert_int_equal(invariance_check(&f.bench, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "a-nn"));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_sums_are_both),
        cmocka_unit_test(sums_that_depend_on_m_are_found),
        cmocka_unit_test(the_cells_own_m_counts),
        cmocka_unit_test(bits_that_change_between_launches_are_found),
        cmocka_unit_test(variants_must_agree),
        cmocka_unit_test(one_m_alone_says_nothing_of_invariance),
        cmocka_unit_test(nobody_is_asked_by_default),
        cmocka_unit_test(who_has_failed_or_is_a_copy_is_left_out),
        cmocka_unit_test(a_device_that_is_lost_ends_the_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
