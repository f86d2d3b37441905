/* verify/activity: what is a fault in one launch and what is not, by logs of the test's own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "activity_fixture.h"

static void expect(const struct watched *w, enum verdict verdict, const char *text)
{
    char why[RECORD_REASON_MAX] = "";
    assert_int_equal(activity_judge(w, &no_claim, false, why), verdict);
    assert_string_equal(why, text);
}

static void test_honest_launches(void **state)
{
    struct watched w = bracketed();
    (void)state;
    expect(&w, VERDICT_OK, "");
    add(&w, OWN, 101000, 150000);
    add(&w, OTHER, 120000, 160000); /* a fork that joins, beside its sibling */
    add(&w, OWN, 160500, 199900);
    expect(&w, VERDICT_OK, "");
    add(&w, OWN, 85000, 99900);     /* a programmatic launch begins before its predecessor ends */
    add(&w, OTHER, 199000, 200900); /* clocks of two streams are a little apart */
    expect(&w, VERDICT_OK, "");
}

static void test_work_that_does_not_wait(void **state)
{
    struct watched w = bracketed();
    (void)state;
    add(&w, OTHER, 50000, 60000);
    expect(&w, VERDICT_STREAM_ESCAPE, "kernel gemm in stream 14 began while the stream of the launch (13) was held");
    w.held = false; /* then it could not know */
    expect(&w, VERDICT_OK, "");
}

static void test_work_that_is_not_waited_for(void **state)
{
    struct watched w = bracketed();
    (void)state;
    add(&w, OTHER, 150000, 260000);
    expect(&w, VERDICT_STREAM_ESCAPE,
           "kernel gemm in stream 14 ended 60.0 us after the stream of the launch had gone on");
    w.held = false;
    expect(&w, VERDICT_STREAM_ESCAPE,
           "kernel gemm in stream 14 ended 60.0 us after the stream of the launch had gone on");
}

static void test_late_work(void **state)
{
    struct watched w = bracketed();
    (void)state;
    add(&w, OWN, 700000, 710000);
    expect(&w, VERDICT_LATE_WORK, "kernel gemm in stream 13 began 400 us after the launch had been waited for");
}

static void test_beside_a_graph(void **state)
{
    struct watched w = bracketed();
    char why[RECORD_REASON_MAX] = "";
    (void)state;
    add(&w, OTHER, 120000, 130000);
    w.log.list[0].in_graph = true; /* a branch */
    assert_int_equal(activity_judge(&w, &no_claim, true, why), VERDICT_OK);
    w.log.list[0].in_graph = false;
    assert_int_equal(activity_judge(&w, &no_claim, true, why), VERDICT_STREAM_ESCAPE);
    assert_string_equal(why, "kernel gemm in stream 14 is no node of the graph and ran beside it");
    w.log.list[0].stream = OWN;
    assert_int_equal(activity_judge(&w, &no_claim, true, why), VERDICT_OK);
}

/* Overlapping work counts once: 10 + 10 us in 15. */
static void test_busy_time(void **state)
{
    struct watched w = bracketed();
    (void)state;
    assert_float_equal(activity_busy_ns(&w.log), 0, 0);
    add(&w, OWN, 110000, 120000);
    add(&w, OTHER, 115000, 125000);
    add(&w, OTHER, 116000, 117000);
    assert_float_equal(activity_busy_ns(&w.log), 15000, 0);
    add(&w, OWN, 130000, 131000);
    assert_float_equal(activity_busy_ns(&w.log), 16000, 0);
}

/* 1.5 times and 5 us: 20 us of work may have been timed at 10 us and no less. */
static void test_times(void **state)
{
    struct watched w = bracketed();
    char why[RECORD_REASON_MAX] = "";
    struct activity_claim claim = {.timed_ns = 10000};
    (void)state;
    add(&w, OWN, 110000, 130000);
    assert_int_equal(activity_judge(&w, &claim, false, why), VERDICT_OK);
    claim.timed_ns = 9990;
    assert_int_equal(activity_judge(&w, &claim, false, why), VERDICT_IMPLAUSIBLE_SPEED);
    assert_string_equal(why, "one launch keeps the GPU busy for 20.0 us, and was timed at 10.0 us");
    claim.graph = true; /* what was timed is the graph, not this */
    assert_int_equal(activity_judge(&w, &claim, false, why), VERDICT_OK);
    assert_int_equal(activity_judge(&w, &claim, true, why), VERDICT_IMPLAUSIBLE_SPEED);
}

/* Four launches of two kernels each. One pair that seems to overlap is the recorder's noise, two of three are not. */
static void test_overlapping_rows(void **state)
{
    struct watched w = bracketed();
    (void)state;
    assert_true(isnan(activity_overlap_ns(&w.log)));
    for (uint64_t i = 0; i < 8; i++)
        add(&w, OWN, 100000 + 2000 * i, 101500 + 2000 * i);
    w.log.list[1].start_ns = 101000; /* inside a launch */
    assert_float_equal(activity_overlap_ns(&w.log), 0, 0);
    w.log.list[4].start_ns = w.log.list[3].end_ns - 700;
    assert_float_equal(activity_overlap_ns(&w.log), 0, 0);
    w.log.list[6].start_ns = w.log.list[5].end_ns - 800;
    assert_float_equal(activity_overlap_ns(&w.log), 700, 0);
    w.log.n = 7;
    assert_true(isnan(activity_overlap_ns(&w.log)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_launches),
        cmocka_unit_test(test_work_that_does_not_wait),
        cmocka_unit_test(test_work_that_is_not_waited_for),
        cmocka_unit_test(test_late_work),
        cmocka_unit_test(test_beside_a_graph),
        cmocka_unit_test(test_busy_time),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_overlapping_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
