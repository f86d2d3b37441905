/* gather/skew: which dates of a journal say that clocks do not agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gather/skew.h"

#define NOW "2026-03-01T00:00:30Z"

static void test_clocks_that_agree(void **state)
{
    struct skew s = {.told = false};
    (void)state;
    assert_null(skew_see(&s, "2026-02-28T23:00:00Z", NOW));
    assert_null(skew_see(&s, "2026-02-28T22:59:00Z", NOW)); /* a minute is nothing */
    assert_null(skew_see(&s, "2026-03-01T00:01:30Z", NOW));
}

static void test_a_clock_that_is_ahead(void **state)
{
    struct skew s = {.told = false};
    (void)state;
    assert_string_equal(skew_see(&s, "2026-03-01T00:01:31Z", NOW), "is in the future here");
    assert_null(skew_see(&s, "2027-03-01T00:01:31Z", NOW)); /* once */
}

static void test_a_clock_that_goes_back(void **state)
{
    struct skew s = {.told = false};
    (void)state;
    assert_null(skew_see(&s, "2026-03-01T00:00:00Z", NOW));
    assert_string_equal(skew_see(&s, "2026-02-28T23:58:59Z", NOW), "is before the one ahead of it");
}

static void test_what_is_no_date(void **state)
{
    struct skew s = {.told = false};
    (void)state;
    assert_null(skew_see(&s, "", NOW));
    assert_null(skew_see(&s, "2099-01-01", NOW));
    assert_null(skew_see(&s, "2099-01-01T00:00:00Z ", NOW));
    assert_string_equal(skew_see(&s, "2099-01-01T00:00:00Z", NOW), "is in the future here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_that_agree),
        cmocka_unit_test(test_a_clock_that_is_ahead),
        cmocka_unit_test(test_a_clock_that_goes_back),
        cmocka_unit_test(test_what_is_no_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
