/* record/record: what a cell is called in text, and which statuses refute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/record.h"

static void keys(void **state)
{
    char key[RECORD_KEY_MAX];
    struct cudal2_problem p = {.m = 64, .n = 128, .k = 16384, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    (void)state;
    record_key(&p, MODE_OFFLINE, key);
    assert_string_equal(key, "offline/f16-f32-64x128x16384");
}

static bool refuted(const char *word)
{
    return verdict_is_refuted(verdict_of(word));
}

static void what_refutes(void **state)
{
    (void)state;
    assert_true(refuted("wrong_result") && refuted("precision_class"));
    assert_true(refuted("stream_escape") && refuted("implausible_speed"));
    assert_true(refuted("tamper_suspected") && refuted("leak"));
    assert_false(refuted("ok") || refuted("crash") || refuted("wrong"));
    assert_false(refuted("unsupported") || refuted("left_out"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(what_refutes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
