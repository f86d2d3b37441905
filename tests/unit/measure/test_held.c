/*
 * Graphs that begin when the host has handed all of them over: on the CUDA device over a driver of the test's own, on
 * the scripted clock in both modes, and what two runs make of it that differ there.
 */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"
#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* ---- the CUDA device ---- */

static int launch_one(void *context, size_t set, char *why)
{
    (void)context;
    (void)set;
    (void)why;
    append(&(struct op){.kind = OP_KERNEL, .node_type = CU_NODE_KERNEL, .ns = 1000});
    return CUDAL2_OK;
}

static const struct device_work work = {launch_one, NULL, 0};
static const struct device_shape one = {.launches = 1, .n_sets = 1};

static double measured(enum device_rung rung)
{
    struct device_segment *s;
    struct error err;
    double ns = -1;
    if (d->ops->prepare(d, &work, &one, rung, &s, &err) != 0 || d->ops->measure(d, s, &ns, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->ops->rung(s), rung);
    d->ops->release_segment(d, s);
    return ns;
}

static bool near(double got, double expected)
{
    return fabs(got - expected) < 0.01;
}

static void a_held_graph_has_no_host_in_it(void **state)
{
    (void)state;
    assert_true(d->info.holds);
    mock.hand_over_ns = 3000;
    mock.waits = 0;
    assert_true(near(measured(RUNG_GRAPH), 1000));
    assert_int_equal(mock.waits, 1);
    assert_true(near(measured(RUNG_GRAPH), 1000)); /* a second hold waits for a second hand-over */
    assert_int_equal(mock.waits, 2);
}

static void other_rungs_are_not_held(void **state)
{
    (void)state;
    mock.waits = 0;
    assert_true(near(measured(RUNG_BLOCKED), 1000));
    assert_true(near(measured(RUNG_EVENTS), 1000));
    assert_int_equal(mock.waits, 0);
}

/* The driver of this device has no such call for it: graphs are timed as they were. */
static void a_refused_hold_is_found_when_the_device_opens(void **state)
{
    struct error err;
    (void)state;
    d->ops->close(d);
    mock.refuse_wait = CU_NOT_SUPPORTED;
    if (cuda_open_with(resolve, 0, &d, &err) != 0)
        fail_msg("%s", err.text);
    assert_false(d->info.holds);
    mock.hand_over_ns = 3000;
    assert_true(near(measured(RUNG_GRAPH), 4000));
}

/* As under CUDA_LAUNCH_BLOCKING: a launch that never came back would be the end of the program. */
static void a_driver_that_serialises_is_found_when_the_device_opens(void **state)
{
    struct error err;
    (void)state;
    d->ops->close(d);
    mock.serialises = true;
    if (cuda_open_with(resolve, 0, &d, &err) != 0)
        fail_msg("%s", err.text);
    assert_false(d->info.holds);
    mock.waits = 0;
    assert_true(near(measured(RUNG_GRAPH), 1000));
    assert_int_equal(mock.waits, 0);
}

/* Too many nodes for one held graph: it is timed, and says that it was not held. */
static void a_large_graph_is_not_held(void **state)
{
    const struct device_shape most = {.launches = 256, .n_sets = 1}, more = {.launches = 257, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    (void)state;
    assert_int_equal(d->ops->prepare(d, &work, &most, RUNG_GRAPH, &s, &err), 0);
    assert_true(d->ops->held(s));
    d->ops->release_segment(d, s);
    assert_int_equal(d->ops->prepare(d, &work, &more, RUNG_GRAPH, &s, &err), 0);
    assert_false(d->ops->held(s));
    d->ops->release_segment(d, s);
}

/* The mock fails a test whose stream waits for ever. */
static void who_cannot_launch_does_not_hold_the_stream(void **state)
{
    struct device_segment *s;
    struct error err;
    double ns;
    (void)state;
    assert_int_equal(d->ops->prepare(d, &work, &one, RUNG_GRAPH, &s, &err), 0);
    mock.refuse_graph = CU_NOT_SUPPORTED;
    assert_int_equal(d->ops->measure(d, s, &ns, &err), EXIT_CODE_INTERNAL);
    assert_non_null(strstr(err.text, "cuGraphLaunch"));
    assert_int_equal(d->ops->sync(d, &err), 0);
    mock.refuse_graph = CU_OK;
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(near(ns, 1000));
    mock.refuse_wait = CU_NOT_SUPPORTED;
    assert_int_equal(d->ops->measure(d, s, &ns, &err), EXIT_CODE_INTERNAL);
    assert_non_null(strstr(err.text, "cuStreamWaitValue32"));
    assert_int_equal(mock.n, 0); /* and nothing was launched */
    d->ops->release_segment(d, s);
}

/* The count of holds is compared modulo 2^32. */
static void the_count_of_holds_may_wrap(void **state)
{
    struct cuda_device *c = cuda_of(d);
    (void)state;
    c->hold_count = UINT32_MAX - 1;
    c->signals->handed_over = UINT32_MAX - 1;
    mock.hand_over_ns = 3000;
    for (int i = 0; i < 4; i++)
        assert_true(near(measured(RUNG_GRAPH), 1000));
    assert_int_equal(c->hold_count, 2);
}

/* ---- cells on the scripted clock ---- */

static struct fixture f;

/* Where a host takes 3 us over the rest of a graph. */
static void open_cell(enum mode mode, bool holds, double duration_ns, uint32_t second_flags)
{
    struct error err;
    fixture_open_held(&f, 2, holds, 3000);
    f.bench.mode = f.bench.record->mode = mode;
    fixture_start(&f);
    f.bench.entrants[1].work.flags = second_flags;
    for (size_t i = 0; i < 2; i++) {
        f.actors[i].duration_ns = f.bench.entrants[i].estimate_ns = duration_ns;
        assert_int_equal(segment_prepare(&f.bench, &f.bench.entrants[i], SEGMENT_TARGET_NS, duration_ns, &err), 0);
    }
    segment_note_held(&f.bench);
}

/* The device time of the first contender, and whether the record says that it was held. */
static void expect_cell(enum mode mode, bool holds, double duration_ns, double expected_ns, bool held)
{
    struct error err;
    double gap_ns = mode == MODE_SERVER ? 1000 : -1, ns = 0;
    open_cell(mode, holds, duration_ns, 0);
    assert_int_equal(segment_time(&f.bench, &f.bench.entrants[0], TIMING_DEVICE, &gap_ns, &ns, &err), 0);
    assert_true(near(ns, expected_ns));
    assert_int_equal(f.bench.record->held, held);
    fixture_close(&f);
}

static void launches_from_idle_are_held(void **state)
{
    (void)state;
    expect_cell(MODE_SERVER, true, 2000, 2000, true);
}

static void a_record_says_where_they_were_not(void **state)
{
    (void)state;
    expect_cell(MODE_SERVER, false, 2000, 5000, false);
}

/* A segment that begins with primers has the host's part behind it when it is timed; a long launch has none. */
static void launches_in_a_row_need_no_hold(void **state)
{
    (void)state;
    expect_cell(MODE_OFFLINE, false, 2000, 2000, false);
    expect_cell(MODE_OFFLINE, true, 2000, 2000, false);
    expect_cell(MODE_OFFLINE, false, 250e3, 253e3, false);
    expect_cell(MODE_OFFLINE, true, 250e3, 250e3, true);
}

/* A whole cell, by the loop that prepares and times it. */
static void the_loop_says_it(void **state)
{
    struct error err;
    (void)state;
    for (int holds = 0; holds < 2; holds++) {
        fixture_open_held(&f, 2, holds, 3000);
        f.bench.mode = f.bench.record->mode = MODE_SERVER;
        fixture_start(&f);
        assert_int_equal(cell_loop_run(&f.bench, &err), 0);
        assert_int_equal(f.bench.record->held, holds);
        fixture_close(&f);
    }
}

/* Who is on another rung is not held, and does not speak for those who are. */
static void other_rungs_do_not_count(void **state)
{
    (void)state;
    open_cell(MODE_SERVER, true, 2000, CUDAL2_NO_CAPTURE);
    assert_int_equal(f.device->ops->rung(f.bench.entrants[1].row.segment), RUNG_BLOCKED);
    assert_false(f.device->ops->held(f.bench.entrants[1].row.segment));
    assert_true(f.bench.record->held);
    fixture_close(&f);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-held-XXXXXX";
    const struct CMUnitTest scripted[] = {
        cmocka_unit_test(launches_from_idle_are_held),
        cmocka_unit_test(a_record_says_where_they_were_not),
        cmocka_unit_test(launches_in_a_row_need_no_hold),
        cmocka_unit_test(other_rungs_do_not_count),
        cmocka_unit_test(the_loop_says_it),
    };
    const struct CMUnitTest mocked[] = {
        ON_MOCK(a_held_graph_has_no_host_in_it),
        ON_MOCK(other_rungs_are_not_held),
        ON_MOCK(a_refused_hold_is_found_when_the_device_opens),
        ON_MOCK(who_cannot_launch_does_not_hold_the_stream),
        ON_MOCK(a_driver_that_serialises_is_found_when_the_device_opens),
        ON_MOCK(a_large_graph_is_not_held),
        ON_MOCK(the_count_of_holds_may_wrap),
    };
    int failed = cmocka_run_group_tests(scripted, NULL, NULL);
    if (!mock_environment(cache))
        return failed ? failed : 77;
    return mock_leave(cache, failed + cmocka_run_group_tests(mocked, NULL, NULL));
}
