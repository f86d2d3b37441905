/* record/parameters: one value out of a kernel's parameter text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "record/parameters.h"

static void values_are_found_by_whole_name(void **state)
{
    (void)state;
    const char *text = "BM=64,BN=256,CLUSTER_M=2,M=7,DOWN=0,LAST=-3";
    assert_true(parameters_value(text, "BM") == 64);
    assert_true(parameters_value(text, "BN") == 256);
    assert_true(parameters_value(text, "M") == 7);
    assert_true(parameters_value(text, "CLUSTER_M") == 2);
    assert_true(parameters_value(text, "DOWN") == 0);
    assert_true(parameters_value(text, "LAST") == -3);
}

static void what_is_not_there_is_nan(void **state)
{
    (void)state;
    assert_true(isnan(parameters_value("", "BM")));
    assert_true(isnan(parameters_value("BM=64", "B")));
    assert_true(isnan(parameters_value("BM=64", "BMX")));
    assert_true(isnan(parameters_value("BM=", "BM")));
    assert_true(isnan(parameters_value("BM=6x,BN=1", "BM")));
    assert_true(isnan(parameters_value(",,BM", "BM")));
    assert_true(parameters_value(",,BM=1", "BM") == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_whole_name),
        cmocka_unit_test(what_is_not_there_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
