/*
 * A segment whose work has been set up anew: what the CUDA device keeps of its graph and what it does not, over a
 * driver of the test's own, and which segments the measuring loop renews, on the scripted device.
 */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"
#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* What a set-up leaves: how long a launch takes, of how many kernels, and whether it can be captured. */
struct work {
    double ns;
    unsigned kernels;
    bool refuses; /* to be captured */
    unsigned eager;
};

static int launch(void *context, size_t set, char *why)
{
    struct work *w = context;
    (void)set;
    if (mock.capture != NULL && w->refuses) {
        snprintf(why, CUDAL2_WHY, "not under capture");
        return CUDAL2_LIBRARY_ERROR;
    }
    w->eager += mock.capture == NULL;
    for (unsigned i = 0; i < w->kernels; i++)
        append(&(struct op){.kind = OP_KERNEL, .node_type = CU_NODE_KERNEL, .ns = w->ns});
    return CUDAL2_OK;
}

static const struct device_shape four = {.launches = 4, .primers = 2, .n_sets = 1, .loaded = true};

static struct device_segment *prepare(struct work *w)
{
    struct device_work work = {launch, w, 0};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->ops->sync(d, &err), 0);
    return s;
}

static void renew(struct device_segment *s, const struct device_shape *shape)
{
    struct error err;
    if (d->ops->renew(d, s, shape, &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_measures(struct device_segment *s, double expected)
{
    struct error err;
    double ns = -1;
    if (d->ops->measure(d, s, &ns, &err) != 0)
        fail_msg("%s", err.text);
    assert_float_equal(ns, expected, 0.01);
}

static void release(struct device_segment *s)
{
    d->ops->release_segment(d, s);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_execs, 0);
    assert_int_equal(mock.live_events, 2); /* the device's own */
}

/* The work is captured again, so that what is measured is the new one, in the graph that the device has. */
static void a_renewed_segment_runs_the_new_work(void **state)
{
    (void)state;
    struct work w = {.ns = 1000, .kernels = 1};
    struct device_segment *s = prepare(&w);
    const int made = mock.instantiated;
    assert_measures(s, 1000);
    w.ns = 700;
    renew(s, &four);
    assert_measures(s, 700);
    assert_int_equal(mock.instantiated, made);
    assert_int_equal(mock.updated, 1);
    assert_int_equal(mock.live_graphs, 1);
    release(s);
}

/* As prepare does it: a first replay that nobody waits for, none of what is settled; the graph is uploaded either way.
 */
static void it_is_replayed_as_it_was_prepared(void **state)
{
    (void)state;
    struct device_shape settled = four;
    struct work w = {.ns = 1000, .kernels = 1};
    struct device_segment *s = prepare(&w);
    int launched = mock.graph_launches, uploaded = mock.uploads;
    renew(s, &four);
    assert_int_equal(mock.graph_launches, launched + 1);
    assert_int_equal(mock.uploads, uploaded + 1);
    assert_int_equal(mock.n, s->graph->n); /* still to run */
    assert_measures(s, 1000);
    settled.settled = true;
    launched = mock.graph_launches;
    renew(s, &settled);
    assert_int_equal(mock.graph_launches, launched);
    assert_int_equal(mock.uploads, uploaded + 2);
    assert_int_equal(mock.n, 0);
    release(s);
}

/* Another number of kernels cannot become the graph that is there. */
static void other_work_gets_a_graph_of_its_own(void **state)
{
    (void)state;
    struct work w = {.ns = 1000, .kernels = 1};
    struct device_segment *s = prepare(&w);
    const int made = mock.instantiated;
    w.kernels = 2;
    renew(s, &four);
    assert_measures(s, 2000);
    assert_int_equal(mock.instantiated, made + 1);
    assert_int_equal(mock.updated, 0);
    assert_int_equal(mock.live_execs, 1);
    renew(s, &four);
    assert_int_equal(mock.updated, 1);
    release(s);
}

/* A graph that has been good is no reason to trust the next. */
static void it_is_checked_again(void **state)
{
    (void)state;
    struct work w = {.ns = 1000, .kernels = 1};
    struct device_segment *s = prepare(&w);
    struct error err;
    w.kernels = 0;
    assert_int_equal(d->ops->renew(d, s, &four, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "stream_escape: 6 launches put 0 kernels"));
    release(s);
}

static void it_may_come_down_the_ladder(void **state)
{
    (void)state;
    struct work w = {.ns = 1000, .kernels = 1};
    struct device_segment *s = prepare(&w);
    w.refuses = true;
    renew(s, &four);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    assert_non_null(strstr(d->ops->rung_reason(s), "not under capture"));
    assert_int_equal(mock.live_execs, 0);
    assert_measures(s, 1000);
    w.refuses = false;
    renew(s, &four);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->rung_reason(s), "");
    release(s);
}

static struct fixture f;

static void open_groups(unsigned groups)
{
    fixture_open(&f, 2);
    f.config.stop.group_blocks = 1;
    f.config.stop.min_blocks = f.config.stop.max_blocks = groups;
    f.config.stop.delta[MODE_OFFLINE] = 0; /* never narrow enough */
    fixture_start(&f);
}

/* One for its estimate and one for its blocks, in the first group; the empty graph once. */
static void a_group_renews_what_the_one_before_prepared(void **state)
{
    (void)state;
    struct error err;
    open_groups(6);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(f.bench.record->groups, 6);
    assert_int_equal(fake_counts(f.device).prepares, 2 * 2 + 1);
    assert_int_equal(fake_counts(f.device).renews, 5 * 2);
    fixture_close(&f);
}

/* Same set-up, same shape: nothing to do. Same set-up, another shape: a segment of its own. */
static void only_an_earlier_setup_is_renewed(void **state)
{
    (void)state;
    struct error err;
    fixture_open_block(&f, 1, 10e3);
    struct entrant *e = &f.bench.entrants[0];
    struct fake_counts before = fake_counts(f.device);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 10e3, &err), 0);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 20e3, &err), 0);
    assert_int_equal(fake_counts(f.device).prepares, before.prepares + 1);
    assert_int_equal(fake_counts(f.device).renews, before.renews);
    assert_int_equal(bench_move(&f.bench, 7, &err), 0);
    assert_non_null(e->segment);
    assert_false(e->set_up);
    assert_true(entrant_setup(&f.bench, e));
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 20e3, &err), 0);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 20e3, &err), 0);
    assert_int_equal(fake_counts(f.device).prepares, before.prepares + 1);
    assert_int_equal(fake_counts(f.device).renews, before.renews + 1);
    fixture_close(&f);
}

/* Whoever fails between two groups leaves nothing behind. */
static void a_failure_releases_what_was_kept(void **state)
{
    (void)state;
    struct error err;
    fixture_open_block(&f, 2, 10e3);
    assert_int_equal(bench_move(&f.bench, 7, &err), 0);
    uint64_t live = fake_counts(f.device).live_segments;
    f.actors[1].refuse_setups_from = 1;
    assert_true(entrant_setup(&f.bench, &f.bench.entrants[0]));
    assert_false(entrant_setup(&f.bench, &f.bench.entrants[1]));
    assert_null(f.bench.entrants[1].segment);
    assert_int_equal(fake_counts(f.device).live_segments, live - 1);
    fixture_close(&f);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-renew-XXXXXX";
    const struct CMUnitTest scripted[] = {
        cmocka_unit_test(a_group_renews_what_the_one_before_prepared),
        cmocka_unit_test(only_an_earlier_setup_is_renewed),
        cmocka_unit_test(a_failure_releases_what_was_kept),
    };
    const struct CMUnitTest mocked[] = {
        ON_MOCK(a_renewed_segment_runs_the_new_work), ON_MOCK(it_is_replayed_as_it_was_prepared),
        ON_MOCK(other_work_gets_a_graph_of_its_own),  ON_MOCK(it_is_checked_again),
        ON_MOCK(it_may_come_down_the_ladder),
    };
    int failed = cmocka_run_group_tests(scripted, NULL, NULL);
    if (!mock_environment(cache))
        return failed ? failed : 77;
    return mock_leave(cache, failed + cmocka_run_group_tests(mocked, NULL, NULL));
}
