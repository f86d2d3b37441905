/*
 * A segment that visits several places, on the CUDA device over a driver of the test's own: which sets are launched in
 * which order, what stands between events, and what is captured, warmed and replayed before.
 */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* A launch on set s takes 1000 (s + 1) ns. */
struct work {
    bool fails_cold;  /* fails under capture until it has run without */
    bool fails_under; /* fails under capture */
    bool allocates;   /* its first launch has an allocation beside the kernel */
    bool escapes;     /* puts nothing on the stream */
    unsigned launches, eager;
    size_t sets[64];
};

static int launch(void *context, size_t set, char *why)
{
    struct work *w = context;
    assert_true(w->launches < 64);
    w->sets[w->launches++] = set;
    if (mock.capture != NULL && (w->fails_under || (w->fails_cold && w->eager == 0))) {
        snprintf(why, CUDAL2_WHY, "cannot allocate in a capture");
        return CUDAL2_LIBRARY_ERROR;
    }
    w->eager += mock.capture == NULL;
    if (w->allocates && w->launches == 1)
        append(&(struct op){.kind = OP_NODE, .node_type = CU_NODE_MEM_ALLOC});
    if (!w->escapes)
        append(&(struct op){.kind = OP_KERNEL, .node_type = CU_NODE_KERNEL, .ns = 1000.0 * (double)(set + 1)});
    return CUDAL2_OK;
}

/* Two visits of two sets each: timed are sets 1, 0 and 2, 3. */
static const struct device_shape two = {.visits = 2, .launches = 4, .primers = 3, .again = 2, .n_sets = 4};
static const size_t enqueued[] = {0, 1, 0, 1, 0, 2, 3, 2, 3};
#define ENQUEUED (sizeof enqueued / sizeof *enqueued)
#define MEAN_NS ((2000 + 1000 + 3000 + 4000) / 4.0)

static struct device_segment *prepare(struct work *w, const struct device_shape *shape, enum device_rung lowest)
{
    struct device_work work = {launch, w, 0};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, shape, lowest, &s, &err) != 0)
        fail_msg("%s", err.text);
    return s;
}

static void assert_measures(struct device_segment *s, double expected)
{
    struct error err;
    double ns = -1;
    if (d->ops->measure(d, s, &ns, &err) != 0)
        fail_msg("%s", err.text);
    if (ns < expected - 0.01 || ns > expected + 0.01)
        fail_msg("got %g ns, expected %g", ns, expected);
}

static void release(struct device_segment *s)
{
    d->ops->release_segment(d, s);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_execs, 0);
    assert_int_equal(mock.live_events, 2); /* the device's own */
}

static void visits_follow_each_other(void **state)
{
    (void)state;
    struct work w = {0};
    struct device_segment *s = prepare(&w, &two, RUNG_GRAPH);
    const size_t warm[] = {0, 1, 2, 3}; /* every set of every visit once */
    assert_int_equal(w.launches, 4 + ENQUEUED);
    assert_memory_equal(w.sets, warm, sizeof warm);
    assert_memory_equal(&w.sets[4], enqueued, sizeof enqueued);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_measures(s, MEAN_NS);
    assert_measures(s, MEAN_NS);
    assert_int_equal(w.launches, 4 + ENQUEUED); /* replays launch nothing */
    release(s);
}

static void every_visit_has_events_of_its_own(void **state)
{
    (void)state;
    struct work w = {0};
    struct device_segment *s = prepare(&w, &two, RUNG_GRAPH);
    const char expected[] = "kkkEkkEkkEkkE"; /* three primers, two timed; two again, two timed */
    assert_int_equal(mock.live_events, 2 + 2 * 2);
    assert_int_equal(s->graph->n, sizeof expected - 1);
    for (size_t i = 0; i < s->graph->n; i++)
        assert_int_equal(s->graph->ops[i].kind, expected[i] == 'E' ? OP_EVENT : OP_KERNEL);
    release(s);
    struct device_shape most = two;
    most.visits = DEVICE_MAX_VISITS;
    most.n_sets = DEVICE_MAX_VISITS;
    most.launches = 2 * DEVICE_MAX_VISITS;
    struct work many = {0};
    s = prepare(&many, &most, RUNG_GRAPH);
    assert_int_equal(mock.live_events, 2 + 2 * DEVICE_MAX_VISITS);
    assert_measures(s, 4500); /* of sets 0 to 7, twice each */
    release(s);
}

static void no_visits_are_one(void **state)
{
    (void)state;
    struct device_shape one = two;
    struct work w[2] = {0};
    for (unsigned visits = 0; visits < 2; visits++) {
        one.visits = visits;
        struct device_segment *s = prepare(&w[visits], &one, RUNG_GRAPH);
        assert_int_equal(mock.live_events, 2 + 2);
        assert_measures(s, MEAN_NS); /* sets 3, 0, 1, 2 */
        release(s);
    }
    assert_int_equal(w[0].launches, 4 + 3 + 4);
    assert_memory_equal(w[0].sets, w[1].sets, sizeof w[0].sets);
}

/* The lower rungs enqueue the same. */
static void every_rung_visits(void **state)
{
    (void)state;
    for (enum device_rung rung = RUNG_BLOCKED; rung <= RUNG_EVENTS; rung++) {
        struct work w = {0};
        struct device_segment *s = prepare(&w, &two, rung);
        assert_int_equal(d->ops->rung(s), rung);
        assert_int_equal(w.launches, 4 + ENQUEUED);
        assert_measures(s, MEAN_NS);
        assert_int_equal(w.launches, 4 + 2 * ENQUEUED);
        assert_memory_equal(&w.sets[4 + ENQUEUED], enqueued, sizeof enqueued);
        release(s);
    }
}

static void the_null_graph_visits(void **state)
{
    (void)state;
    struct device_segment *s;
    struct error err;
    assert_int_equal(d->ops->prepare(d, NULL, &two, RUNG_GRAPH, &s, &err), 0);
    assert_int_equal(mock.live_events, 2 + 4);
    assert_measures(s, 100);
    release(s);
}

/* What is new is launched, captured, replayed and waited for; what is loaded is captured and replayed while the host
 * goes on; what is settled is captured only. */
static void first_replays(void **state)
{
    (void)state;
    struct device_shape shape = two;
    struct work fresh = {0}, loaded = {0}, settled = {0};
    struct device_segment *s = prepare(&fresh, &shape, RUNG_GRAPH);
    assert_int_equal(mock.graph_launches, 1);
    assert_int_equal(mock.n, 0);
    release(s);
    shape.loaded = true;
    s = prepare(&loaded, &shape, RUNG_GRAPH);
    assert_int_equal(loaded.launches, ENQUEUED);
    assert_int_equal(mock.graph_launches, 2);
    assert_int_equal(mock.n, s->graph->n); /* still to run */
    struct error err;
    assert_int_equal(d->ops->sync(d, &err), 0);
    assert_int_equal(mock.n, 0);
    assert_measures(s, MEAN_NS);
    release(s);
    shape.settled = true;
    int before = mock.graph_launches;
    s = prepare(&settled, &shape, RUNG_GRAPH);
    assert_int_equal(settled.launches, ENQUEUED);
    assert_int_equal(mock.graph_launches, before);
    assert_int_equal(mock.n, 0);
    assert_measures(s, MEAN_NS);
    release(s);
}

/* The replay that nobody waited for is no part of what is measured next. */
static void a_replay_under_way_is_not_measured(void **state)
{
    (void)state;
    struct device_shape shape = two;
    struct work first = {0}, second = {0};
    shape.loaded = true;
    struct device_segment *a = prepare(&first, &shape, RUNG_GRAPH), *b = prepare(&second, &shape, RUNG_GRAPH);
    assert_int_equal(mock.n, a->graph->n + b->graph->n);
    assert_measures(b, MEAN_NS);
    assert_measures(a, MEAN_NS);
    d->ops->release_segment(d, b);
    release(a);
}

/* Loaded, and still unable to be captured cold: one that allocates in its first launch after every set-up. It is
 * launched once on every set and captured again. */
static void who_cannot_be_captured_cold_is_warmed(void **state)
{
    (void)state;
    struct device_shape shape = two;
    struct work cold = {.fails_cold = true}, allocates = {.allocates = true};
    shape.loaded = true;
    struct device_segment *s = prepare(&cold, &shape, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->rung_reason(s), "");
    assert_int_equal(cold.launches, 1 + 4 + ENQUEUED);
    assert_int_equal(cold.eager, 4);
    assert_int_equal(mock.graph_launches, 1);
    assert_measures(s, MEAN_NS);
    release(s);
    s = prepare(&allocates, &shape, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->rung_reason(s), "");
    assert_int_equal(allocates.launches, ENQUEUED + 4 + ENQUEUED);
    assert_int_equal(mock.live_graphs, 1); /* the refused one is gone */
    assert_measures(s, MEAN_NS);
    release(s);
}

/* Only who fails warm as well goes down the ladder, and is not warmed twice on the way. */
static void who_fails_warm_goes_down(void **state)
{
    (void)state;
    struct device_shape shape = two;
    for (int loaded = 0; loaded < 2; loaded++) {
        struct work w = {.fails_under = true};
        shape.loaded = loaded;
        struct device_segment *s = prepare(&w, &shape, RUNG_GRAPH);
        assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
        assert_non_null(strstr(d->ops->rung_reason(s), "cannot allocate in a capture"));
        assert_int_equal(w.eager, 4 + ENQUEUED); /* warmed, then once behind the blocker */
        assert_int_equal(w.launches, w.eager + 1u + (unsigned)loaded);
        assert_measures(s, MEAN_NS);
        release(s);
    }
}

static void an_escape_is_found_without_a_warm_launch(void **state)
{
    (void)state;
    struct device_shape shape = two;
    struct work w = {.escapes = true};
    struct device_work work = {launch, &w, 0};
    struct device_segment *s;
    struct error err;
    shape.loaded = shape.settled = true;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &s, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "9 launches put 0 kernels"));
    assert_null(s);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_events, 2);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-visits-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_MOCK(visits_follow_each_other),
        ON_MOCK(every_visit_has_events_of_its_own),
        ON_MOCK(no_visits_are_one),
        ON_MOCK(every_rung_visits),
        ON_MOCK(the_null_graph_visits),
        ON_MOCK(first_replays),
        ON_MOCK(a_replay_under_way_is_not_measured),
        ON_MOCK(who_cannot_be_captured_cold_is_warmed),
        ON_MOCK(who_fails_warm_goes_down),
        ON_MOCK(an_escape_is_found_without_a_warm_launch),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
