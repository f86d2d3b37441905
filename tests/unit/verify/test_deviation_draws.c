/* verify/deviation on the scripted device: who is over a bound by little is judged on other inputs as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "half_cell.h"

static void one_stray_element_breaks_the_largest(void **state)
{
    (void)state;
    open_cell(256, CUDAL2_ACC_F32);
    f.actors[0].stray = 0.3;
    verify();
    assert_string_equal(status_of(0), "wrong_result");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "largest deviation"));
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "so on 5 sets of inputs"));
    assert_int_equal(f.actors[0].launches, 2 + 5 + 1); /* exact match, draws, probe */
    fixture_close(&f);
}

/* An honest output may be over its bound on one set of inputs: what it is on others counts. */
static void other_inputs_tell_where_one_set_may_not(void **state)
{
    (void)state;
    open_cell(256, CUDAL2_ACC_F32);
    f.actors[0].stray = 0.3;
    f.actors[0].stray_until = 2 + 4 + 1;
    verify();
    assert_string_equal(status_of(0), "ok");
    assert_true(cJSON_GetObjectItem(f.bench.record->contenders[0].verification, "draws")->valuedouble == 5);
    assert_null(cJSON_GetObjectItem(f.bench.record->contenders[1].verification, "draws"));
    assert_true(shown(0, 0) < 0.1); /* of the last set */
    fixture_close(&f);
}

static void what_is_far_off_has_no_second_try(void **state)
{
    (void)state;
    open_cell(256, CUDAL2_ACC_F32);
    f.actors[0].stray = 3;
    f.actors[0].stray_until = 2 + 1;
    verify();
    assert_string_equal(status_of(0), "wrong_result");
    assert_int_equal(f.actors[0].launches, 2 + 1 + 1);
    fixture_close(&f);
}

/* Timed launches of a candidate that accumulates in 16 bits as finely as it may are allowed three times what it has
 * shown, though that is over its bound; others never more than the bound. */
static void allowed_is_what_was_shown_with_its_margin(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F16);
    f.actors[0].half_step = 1;
    f.actors[1].half_step = f.actors[2].half_step = 16;
    verify();
    assert_string_equal(status_of(0), "ok");
    const double *allowed = &f.bench.entrants[0].error_allowed;
    assert_true(*allowed > 2.8 * shown(0, 1) && *allowed < 3.2 * shown(0, 1));
    fixture_close(&f);
    open_cell(1024, CUDAL2_ACC_F32);
    f.actors[0].half_step = 512; /* 1.5 times the error of storing */
    verify();
    double bound = cJSON_GetArrayItem(cJSON_GetObjectItem(f.bench.record->verification, "bound"), 1)->valuedouble;
    assert_true(*allowed <= bound * 1.01 && *allowed < 2.8 * shown(0, 1));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stray_element_breaks_the_largest),
        cmocka_unit_test(other_inputs_tell_where_one_set_may_not),
        cmocka_unit_test(what_is_far_off_has_no_second_try),
        cmocka_unit_test(allowed_is_what_was_shown_with_its_margin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
