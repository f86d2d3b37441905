/* base/stamp: a start stamp that nobody finds among values of just now, and one that is compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/stamp.h"

static void it_says_how_long_ago(void **state)
{
    struct stamp s;
    double ns = 0;
    (void)state;
    uint64_t before = clock_now_ns();
    stamp_take(&s);
    uint64_t after = clock_now_ns();
    assert_true(stamp_until(&s, after, &ns));
    assert_true(ns >= 0 && ns <= (double)(after - before));
    double later = 0;
    assert_true(stamp_until(&s, after + 1000, &later));
    assert_true(later == ns + 1000);
}

/* Of its words one looks like a time of this hour: the one that is shown. */
static void the_one_that_counts_looks_like_no_time(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct stamp s;
        uint64_t words[sizeof s / sizeof(uint64_t)], now;
        int like = 0;
        stamp_take(&s);
        now = clock_now_ns();
        memcpy(words, &s, sizeof s);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            like += words[k] <= now && now - words[k] < 3600000000000u;
        assert_int_equal(like, 1);
    }
}

static void who_moves_what_is_shown_is_found_and_gains_nothing(void **state)
{
    struct stamp s;
    double ns = 0, moved = 0;
    (void)state;
    stamp_take(&s);
    uint64_t end = clock_now_ns() + 1000000;
    assert_true(stamp_until(&s, end, &ns));
    s.shown += 100000;
    assert_false(stamp_until(&s, end, &moved));
    assert_true(moved == ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_how_long_ago),
        cmocka_unit_test(the_one_that_counts_looks_like_no_time),
        cmocka_unit_test(who_moves_what_is_shown_is_found_and_gains_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
