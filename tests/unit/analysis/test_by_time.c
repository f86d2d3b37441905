/* Sums of times, classes of time and percentiles of launches, against numbers made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "analysis/by_time.h"

static void close_to(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9))
        fail_msg("%.12g is not %.12g", actual, expected);
}

static void a_time_falls_into_one_class(void **state)
{
    static const double ns[] = {1, 4999, 5000, 9999, 10e3, 29999, 30e3, 99999, 100e3, 999999, 1e6, 1e12};
    (void)state;
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        assert_int_equal(time_class_of(ns[i]), i / 2);
    assert_int_equal(time_class_of(0), TIME_CLASSES);
    assert_int_equal(time_class_of(-1), TIME_CLASSES);
    assert_int_equal(time_class_of((double)NAN), TIME_CLASSES);
    for (size_t i = 1; i < TIME_CLASSES; i++)
        assert_true(time_classes[i].from_ns == time_classes[i - 1].to_ns);
}

/* 4 us with a lead of 1, 8 us with one of 1, and 1988 us with none: in the mean 58.7% faster, in the time 0.3%. */
static void long_launches_take_the_time(void **state)
{
    static const struct timed_lead leads[] = {{4e3, 1, 1e3}, {8e3, 1, 1e3}, {1988e3, 0, 1491e3}};
    struct by_time all;
    (void)state;
    by_time_of(leads, 3, TIME_CLASSES, &all);
    assert_int_equal(all.n, 3);
    assert_int_equal(all.wins, 2);
    close_to(all.geomean, cbrt(4) - 1);
    close_to(all.weighted, 2000.0 / 1994 - 1);
    close_to(all.candidate_floor, 1493.0 / 1994);
    close_to(all.reference_floor, 1493.0 / 2000);
}

static void a_class_has_its_own_shapes(void **state)
{
    static const struct timed_lead leads[] = {{4e3, 1, 1e3}, {2e3, -0.5, 1e3}, {8e3, 1, 1e3}, {1988e3, 0, 1e3}};
    struct by_time of;
    (void)state;
    by_time_of(leads, 4, 0, &of);
    assert_int_equal(of.n, 2);
    assert_int_equal(of.wins, 1);
    close_to(of.geomean, 0);            /* twice as fast, half as fast */
    close_to(of.weighted, 6.0 / 6 - 1); /* 4 + 2 us against 2 + 4 */
    close_to(of.candidate_floor, 2.0 / 6);
    by_time_of(leads, 4, 2, &of);
    assert_int_equal(of.n, 0);
    assert_true(isnan(of.geomean) && isnan(of.weighted) && isnan(of.candidate_floor));
}

/* A shape without a time, or without an estimate, is nowhere; one without a floor has no part in that alone. */
static void what_is_not_known_does_not_count(void **state)
{
    static const struct timed_lead leads[] = {
        {NAN, 0.5, 1e3}, {4e3, NAN, 1e3}, {4e3, -1, 1e3}, {4e3, 0.25, NAN}, {5e3, 0.25, 2e3}};
    struct by_time all;
    (void)state;
    by_time_of(leads, 5, TIME_CLASSES, &all);
    assert_int_equal(all.n, 2);
    close_to(all.weighted, 0.25);
    close_to(all.candidate_floor, 0.5);
    close_to(all.reference_floor, 0.4);
    by_time_of(leads + 3, 1, TIME_CLASSES, &all);
    assert_int_equal(all.n, 1);
    assert_true(isnan(all.candidate_floor) && isnan(all.reference_floor));
}

static void percentiles_have_leads_of_their_own(void **state)
{
    static const struct launch_pair pairs[] = {{{8, 20, 30, 40}, {8, 10, 20, 40}},
                                               {{9, 20, 30, 80}, {100, 40, 60, 80}}};
    struct launch_tails tails;
    (void)state;
    launch_tails_of(pairs, 2, &tails);
    assert_int_equal(tails.n, 2);
    close_to(tails.launches, 108);
    close_to(tails.fewest, 8);
    close_to(tails.lead_p50, 0);                 /* 2 and 1/2 */
    close_to(tails.lead_p95, sqrt(0.75) - 1);    /* 3/2 and 1/2 */
    close_to(tails.lead_p99, 0);                 /* 1 and 1 */
    close_to(tails.candidate_tail, sqrt(8) - 1); /* 4 and 2 */
    close_to(tails.reference_tail, sqrt(8) - 1); /* 2 and 4 */
}

/* A result file has no 99th percentile. */
static void a_percentile_that_is_not_there_is_not_known(void **state)
{
    static const struct launch_pair pairs[] = {{{NAN, 20, 30, NAN}, {NAN, 10, 20, NAN}}};
    struct launch_tails tails;
    (void)state;
    launch_tails_of(pairs, 1, &tails);
    close_to(tails.lead_p50, 1);
    close_to(tails.lead_p95, 0.5);
    close_to(tails.launches, 0); /* nobody counted them */
    assert_true(isnan(tails.lead_p99) && isnan(tails.candidate_tail) && isnan(tails.reference_tail));
    launch_tails_of(pairs, 0, &tails);
    assert_int_equal(tails.n, 0);
    assert_true(isnan(tails.lead_p50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_falls_into_one_class),
        cmocka_unit_test(long_launches_take_the_time),
        cmocka_unit_test(a_class_has_its_own_shapes),
        cmocka_unit_test(what_is_not_known_does_not_count),
        cmocka_unit_test(percentiles_have_leads_of_their_own),
        cmocka_unit_test(a_percentile_that_is_not_there_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
