/* The table of timings: complete, and what is asked of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/timing.h"

static void every_timing_is_described(void **state)
{
    (void)state;
    for (int t = 0; t < TIMING_COUNT; t++) {
        const struct timing_info *info = &timing_table[t];
        assert_true(strlen(timing_names[t]) > 0 && strlen(timing_names[t]) < 16); /* struct line keeps 16 bytes */
        assert_int_equal(timing_find(timing_names[t]), t);
        assert_true(strstr(timing_equal_names[t], timing_names[t]) != NULL);
        assert_true(info->help != NULL && strchr(info->help, '"') == NULL); /* it stands in JSON as it is */
        assert_true(info->devices != 0 && info->modes != 0);
        assert_true(!info->overlaps || timing_is_segment((enum timing)t));
        assert_int_not_equal(timing_is_segment((enum timing)t), timing_is_single((enum timing)t));
    }
    assert_null(timing_names[TIMING_COUNT]);
    assert_int_equal(timing_find("gpu"), -1);
    assert_int_equal(timing_find(NULL), -1);
}

static void files_know_these_names(void **state)
{
    (void)state;
    assert_string_equal(timing_names[TIMING_DEVICE], "device");
    assert_string_equal(timing_names[TIMING_DEVICE_ROW], "device-row");
    assert_string_equal(timing_names[TIMING_EVENT], "event");
    assert_string_equal(timing_names[TIMING_WALL], "wall");
    assert_string_equal(timing_equal_names[TIMING_EVENT], "equal_path_event");
    assert_string_equal(timing_equal_names[TIMING_WALL], "equal_path_wall");
}

static void devices_have_their_timings(void **state)
{
    uint32_t gpu = timing_bits(CUDAL2_ON_CUDA), cpu = timing_bits(CUDAL2_ON_CPU);
    (void)state;
    assert_int_equal(cpu, CUDAL2_BIT(TIMING_WALL));
    assert_int_equal(gpu, (1u << TIMING_COUNT) - 1);
    assert_int_equal(timing_defaults(), gpu & ~CUDAL2_BIT(TIMING_DEVICE_ROW));
    assert_true(timing_any_segment(gpu));
    assert_false(timing_any_segment(cpu));
}

/* No launch is ahead of one that comes from idle: there a row is what stands alone. */
static void what_cannot_be_taken_is_replaced(void **state)
{
    uint32_t gpu = timing_bits(CUDAL2_ON_CUDA), cpu = timing_bits(CUDAL2_ON_CPU);
    (void)state;
    for (int t = 0; t < TIMING_COUNT; t++) {
        assert_int_equal(timing_choose((enum timing)t, gpu, MODE_OFFLINE), t);
        assert_int_equal(timing_choose((enum timing)t, cpu, MODE_OFFLINE), TIMING_WALL);
    }
    assert_int_equal(timing_choose(TIMING_DEVICE_ROW, gpu, MODE_SERVER), TIMING_DEVICE);
    assert_int_equal(timing_choose(TIMING_EVENT, gpu, MODE_SERVER), TIMING_EVENT);
    assert_int_equal(timing_choose(TIMING_DEVICE_ROW, cpu, MODE_SERVER), TIMING_WALL);
}

static void older_rows_are_called_what_they_are(void **state)
{
    (void)state;
    assert_string_equal(timing_overlapping_name("device"), "device-row");
    assert_string_equal(timing_overlapping_name("device-row"), "device-row");
    assert_string_equal(timing_overlapping_name("event"), "event");
    assert_string_equal(timing_overlapping_name("else"), "else");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_timing_is_described),           cmocka_unit_test(files_know_these_names),
        cmocka_unit_test(devices_have_their_timings),          cmocka_unit_test(what_cannot_be_taken_is_replaced),
        cmocka_unit_test(older_rows_are_called_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
