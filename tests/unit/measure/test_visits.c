/* measure/segment and the scripted clock: a segment that visits several places, and how long its shape may get. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "bench_fixture.h"
#include "measure/segment.h"

static struct fixture f;

/* ---- the device's part ---- */

static void sets_of_a_visit(void **state)
{
    (void)state;
    const struct device_shape shape = {.visits = 3, .launches = 6, .primers = 5, .again = 2, .n_sets = 6};
    assert_int_equal(device_shape_untimed(&shape), 5 + 2 * 2);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(device_shape_set(&shape, 0, i), i % 2);
        assert_int_equal(device_shape_set(&shape, 1, i), 2 + i % 2);
        assert_int_equal(device_shape_set(&shape, 2, i), 4 + i % 2);
    }
    const struct device_shape plain = {.launches = 6, .primers = 5, .again = 2, .first_set = 1, .n_sets = 3};
    assert_int_equal(device_shape_visits(&plain), 1);
    assert_int_equal(device_shape_untimed(&plain), 5);
    assert_int_equal(device_shape_set(&plain, 0, 2), 0);
    const struct device_shape empty = {.launches = 1};
    assert_int_equal(device_shape_set(&empty, 0, 7), 0);
}

/* Whatever the order, each of a visit's sets has its turn once in a round, and rounds are alike. */
static void an_order_leaves_nobody_out(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 70; n++) {
        unsigned moved = 0;
        for (uint64_t order = 1; order <= 9; order += 2) {
            const struct device_shape shape = {.visits = 2, .launches = 2 * n, .n_sets = 2 * n, .order = order};
            unsigned char seen[70] = {0};
            for (unsigned i = 0; i < n; i++) {
                size_t set = device_shape_set(&shape, 1, i);
                assert_in_range(set, n, 2 * n - 1);
                seen[set - n]++;
                moved += set != n + i;
                assert_int_equal(device_shape_set(&shape, 1, n + i), set);
            }
            for (unsigned i = 0; i < n; i++)
                assert_int_equal(seen[i], 1);
        }
        assert_true(n < 4 || moved > n);
    }
}

/* Which sets a segment writes is told by its launches, in whatever order. */
static void what_a_segment_uses_is_told(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        const struct device_shape shape = {.visits = 1 + i % 3,
                                           .launches = (1 + i % 3) * (1 + i % 7),
                                           .primers = i % 5,
                                           .again = i % 2,
                                           .n_sets = (1 + i % 3) * (1 + i % 11),
                                           .order = i % 4};
        bool used[64] = {false};
        for (unsigned v = 0; v < shape.visits; v++)
            for (unsigned l = 0; l < (v == 0 ? shape.primers : shape.again) + shape.launches / shape.visits; l++)
                used[device_shape_set(&shape, v, l)] = true;
        for (size_t set = 0; set < 64; set++)
            assert_int_equal(device_shape_uses(&shape, set), used[set]);
    }
}

/* What the scripted device sees of a segment. */
struct log {
    size_t sets[64];
    unsigned n, timed;
    struct device *device;
};

static int launch_set(void *context, size_t set, char *why)
{
    struct log *log = context;
    (void)why;
    log->sets[log->n++ % 64] = set;
    fake_enqueue(log->device, (uint32_t)set);
    return CUDAL2_OK;
}

/* A launch on set s takes 1000 (s + 1) ns, and 10 us more after the device has idled. */
static double by_set(void *context, const struct fake_moment *moment)
{
    struct log *log = context;
    log->timed += moment->timed;
    return 1000.0 * (double)(moment->id + 1) + (moment->idle_ns > 0 ? 10e3 : 0);
}

static void the_scripted_device_visits(void **state)
{
    (void)state;
    struct log log = {0};
    struct fake_script script = {.duration_ns = by_set, .context = &log};
    struct device_work work = {launch_set, &log, 0};
    const struct device_shape two = {.visits = 2, .launches = 4, .primers = 3, .again = 2, .n_sets = 4};
    const size_t expected[] = {0, 1, 0, 1, 0, 2, 3, 2, 3};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(fake_open(&script, &log.device, &err), 0);
    struct device *d = log.device;
    assert_int_equal(d->ops->prepare(d, &work, &two, RUNG_GRAPH, &s, &err), 0);
    log.n = 0;
    assert_int_equal(log.timed, 0);
    d->ops->wait_until(d, d->ops->now(d) + 1000); /* the first primer pays for the idle time */
    double before = (double)d->ops->now(d);
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(fabs(ns - 2500) < 1e-6); /* sets 1, 0, 2, 3; nothing of the untimed launches between */
    assert_true(fabs((double)d->ops->now(d) - before - 10e3 - 21e3) <= 1);
    assert_int_equal(log.n, 9);
    assert_int_equal(log.timed, 4);
    assert_memory_equal(log.sets, expected, sizeof expected);
    d->ops->release_segment(d, s);
    d->ops->close(d);
}

/* ---- the shape ---- */

static void open_bench(unsigned visits, size_t sets_of_visit)
{
    fixture_open(&f, 1);
    f.bench.visits = visits;
    f.bench.sets_each = visits * sets_of_visit;
    f.bench.in_blocks = true;
}

static struct device_shape shape_of(double fastest_ns, double own_ns)
{
    return segment_shape(&f.bench, SEGMENT_TARGET_NS, fastest_ns, own_ns);
}

static void launches_are_a_multiple_of_visits(void **state)
{
    (void)state;
    for (unsigned visits = 1; visits <= DEVICE_MAX_VISITS; visits++) {
        open_bench(visits, 1);
        for (double ns = 1e3; ns < 1e6; ns *= 1.1) {
            struct device_shape s = shape_of(ns, ns);
            double wanted = fmax(1, fmin(ceil(200e3 / ns), 64));
            unsigned places = ns < 8e3 && visits > 2 ? 2 : visits;
            assert_int_equal(s.launches % s.visits, 0);
            assert_true(s.visits == places || s.visits == (unsigned)wanted);
            assert_true(s.visits <= places);
            assert_int_equal(s.launches, (unsigned)wanted * s.visits); /* a visit is as long as a segment of one */
            assert_int_equal(s.n_sets, s.visits);
        }
        fixture_close(&f);
    }
}

static void sets_shrink_with_visits(void **state)
{
    (void)state;
    open_bench(4, 2);
    struct device_shape s = shape_of(10e3, 10e3);
    assert_int_equal(s.visits, 4);
    assert_int_equal(s.n_sets, 8);
    assert_int_equal(s.launches, 80);
    s = shape_of(90e3, 90e3); /* three launches a visit: three places */
    assert_int_equal(s.launches, 9);
    assert_int_equal(s.visits, 3);
    assert_int_equal(s.n_sets, 6);
    s = shape_of(300e3, 300e3);
    assert_int_equal(s.launches, 1);
    assert_int_equal(s.visits, 1);
    assert_int_equal(s.n_sets, 2);
    assert_int_equal(device_shape_untimed(&s), 0);
    fixture_close(&f);
}

static void primers_are_an_eighth(void **state)
{
    (void)state;
    open_bench(1, 1);
    for (int i = 0; i < 2; i++) { /* in a race as in the blocks */
        f.bench.in_blocks = i == 0;
        assert_int_equal(shape_of(1500, 1500).primers, 8); /* of 64 */
        assert_int_equal(shape_of(10e3, 10e3).primers, 3); /* of 20 */
        assert_int_equal(shape_of(90e3, 90e3).primers, SEGMENT_LEAST_PRIMERS);
    }
    fixture_close(&f);
}

static void each_further_visit_is_primed(void **state)
{
    (void)state;
    open_bench(4, 1);
    assert_int_equal(shape_of(10e3, 10e3).again, SEGMENT_AGAIN);
    assert_int_equal(device_shape_untimed(&(struct device_shape){.visits = 4, .primers = 48, .again = 2}), 54);
    struct device_shape s = shape_of(10e3, 10e3);
    assert_int_equal(device_shape_untimed(&s), 3 + 3 * 2);
    fixture_close(&f);
    open_bench(2, 4); /* every set of a visit is primed */
    assert_int_equal(shape_of(10e3, 10e3).again, 4);
    assert_int_equal(shape_of(150e3, 150e3).primers, 4);
    fixture_close(&f);
}

/* Of 400 us each, ten launches fill 4 ms: so many, and no more. */
static void slow_contenders_get_fewer(void **state)
{
    (void)state;
    open_bench(1, 1);
    struct device_shape s = shape_of(10e3, 400e3);
    assert_int_equal(s.launches, 10);
    assert_int_equal(s.primers, SEGMENT_LEAST_PRIMERS);
    s = shape_of(10e3, 3e6);
    assert_int_equal(s.launches, 1);
    assert_int_equal(s.primers, SEGMENT_LEAST_PRIMERS);
    s = shape_of(10e3, 100e6);
    assert_int_equal(s.launches, 1);
    assert_int_equal(s.primers, SEGMENT_LEAST_PRIMERS);
    fixture_close(&f);
    open_bench(8, 1);
    s = shape_of(10e3, 1.3e6); /* three bearable launches at three places */
    assert_int_equal(s.launches, 3);
    assert_int_equal(s.visits, 3);
    assert_int_equal(s.n_sets, 3);
    s = shape_of(10e3, 400e3);
    assert_int_equal(s.launches, 8); /* of ten bearable ones one at each place */
    assert_int_equal(s.visits, 8);
    fixture_close(&f);
}

/* As many as the blocks', and in the short segments of heats no more than there are launches. */
static void a_race_visits_the_places_too(void **state)
{
    (void)state;
    open_bench(4, 2);
    f.bench.in_blocks = false;
    struct device_shape s = shape_of(10e3, 10e3);
    assert_int_equal(s.visits, 4);
    assert_int_equal(s.n_sets, 8);
    assert_int_equal(s.launches, 80);
    s = segment_shape(&f.bench, 50e3, 20e3, 20e3);
    assert_int_equal(s.visits, 3);
    assert_int_equal(s.launches, 9);
    fixture_close(&f);
}

static void one_launch_from_idle_visits_nothing(void **state)
{
    (void)state;
    open_bench(4, 2);
    f.bench.mode = MODE_SERVER;
    struct device_shape s = shape_of(10e3, 10e3);
    assert_int_equal(s.launches, 1);
    assert_int_equal(device_shape_visits(&s), 1);
    assert_int_equal(device_shape_untimed(&s), 0);
    f.bench.mode = MODE_OFFLINE;
    f.config.cache[MODE_OFFLINE] = CACHE_FLUSH;
    s = shape_of(10e3, 10e3);
    assert_int_equal(s.launches, 1);
    assert_int_equal(device_shape_visits(&s), 1);
    fixture_close(&f);
}

static void rotating_needs_no_primer_for_every_set(void **state)
{
    (void)state;
    open_bench(1, 50);
    f.config.cache[MODE_OFFLINE] = CACHE_ROTATE;
    assert_int_equal(shape_of(50e3, 50e3).primers, SEGMENT_LEAST_PRIMERS);
    f.config.cache[MODE_OFFLINE] = CACHE_WARM;
    assert_int_equal(shape_of(50e3, 50e3).primers, 50);
    fixture_close(&f);
}

/* ---- prepared for the blocks ---- */

static void start_with_visits(size_t n, unsigned visits)
{
    fixture_open(&f, n);
    f.bench.visits = visits;
    f.bench.sets_each = visits;
    f.bench.n_sets = n * visits;
    f.bench.in_blocks = true;
    for (size_t i = 0; i < n; i++) {
        f.bench.entrants[i].first_set = i * visits;
        f.bench.entrants[i].n_sets = visits;
    }
    fixture_start(&f);
}

static void prepare_fast(struct entrant *e, double fastest_ns)
{
    struct error err;
    e->estimate_ns = fastest_ns;
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, fastest_ns, &err), 0);
}

static void the_record_counts_untimed_launches_of_all_visits(void **state)
{
    (void)state;
    start_with_visits(1, 4);
    struct entrant *e = &f.bench.entrants[0];
    prepare_fast(e, 10e3);
    assert_int_equal(e->record->launches, 80);
    assert_int_equal(e->record->primers, 3 + 3 * 2);
    assert_int_equal(e->row.shape.visits, 4);
    fixture_close(&f);
}

/* One place instead of four has as many launches: it must not be taken for what was wanted. */
static void another_number_of_visits_is_prepared_anew(void **state)
{
    (void)state;
    start_with_visits(1, 4);
    struct entrant *e = &f.bench.entrants[0];
    f.bench.visits = 1;
    f.bench.sets_each = 1;
    prepare_fast(e, 10e3);
    uint64_t before = fake_counts(f.device).prepares;
    f.bench.visits = 4;
    f.bench.sets_each = 4;
    prepare_fast(e, 10e3);
    assert_int_equal(e->row.shape.visits, 4);
    assert_int_equal(fake_counts(f.device).prepares, before + 1);
    prepare_fast(e, 10e3);
    assert_int_equal(fake_counts(f.device).prepares, before + 1);
    fixture_close(&f);
}

/* A candidate's fault must not be found while its rival is being prepared. */
static void candidates_replays_are_waited_for(void **state)
{
    (void)state;
    start_with_visits(2, 1);
    f.bench.warmed = true;
    for (size_t i = 0; i < 2; i++) {
        struct entrant *e = &f.bench.entrants[i];
        uint64_t before = fake_counts(f.device).syncs;
        e->record->candidate = i == 0;
        prepare_fast(e, 10e3);
        assert_int_equal(fake_counts(f.device).syncs - before, i == 0 ? 1 : 0);
        before = fake_counts(f.device).syncs;
        prepare_fast(e, 300e3); /* nothing is replayed */
        assert_int_equal(fake_counts(f.device).syncs, before);
    }
    fixture_close(&f);
}

static void what_is_loaded_and_settled(void **state)
{
    (void)state;
    start_with_visits(1, 1);
    struct entrant *e = &f.bench.entrants[0];
    f.bench.in_blocks = false; /* nobody has run it */
    prepare_fast(e, 300e3);
    assert_false(e->row.shape.loaded || e->row.shape.settled);
    f.bench.in_blocks = true; /* its estimate has */
    prepare_fast(e, 30e3);
    assert_true(e->row.shape.loaded && e->row.shape.settled);
    f.bench.headline = TIMING_DEVICE_ROW; /* what may overlap is asked in a cell's first blocks */
    prepare_fast(e, 60e3);
    assert_true(e->row.shape.overlap);
    assert_false(e->row.shape.loaded || e->row.shape.settled);
    f.bench.headline = TIMING_DEVICE;
    f.bench.warmed = true;
    static const double replayed[] = {2e3, 19e3, 80e3, 199e3}, settled[] = {20e3, 60e3, 200e3};
    for (size_t i = 0; i < 4; i++) {
        prepare_fast(e, replayed[i]);
        assert_true(e->row.shape.loaded);
        assert_false(e->row.shape.settled);
        if (i < 3) {
            prepare_fast(e, settled[i]);
            assert_true(e->row.shape.loaded && e->row.shape.settled);
        }
    }
    f.bench.mode = MODE_SERVER; /* where every graph is timed once */
    f.device->ops->release_segment(f.device, e->row.segment);
    e->row.segment = NULL;
    prepare_fast(e, 60e3);
    assert_true(e->row.shape.loaded);
    assert_false(e->row.shape.settled);
    fixture_close(&f);
}

/* What takes 200 us at the device's peak is estimated by its graph's only replay, in blocks; else it has run before. */
static void what_is_surely_long_is_replayed_once(void **state)
{
    struct error err;
    const double floors_ns[] = {199e3, 201e3};
    (void)state;
    start_with_visits(1, 1);
    struct entrant *e = &f.bench.entrants[0];
    f.actors[0].duration_ns = 300e3;
    for (int i = 0; i < 4; i++) {
        bool lasting = i == 3;
        f.device->info.peak_flops = problem_flops(&f.bench.problem) / (1e-9 * floors_ns[i % 2]);
        f.bench.in_blocks = i > 1;
        assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
        assert_int_equal(e->row.shape.loaded, lasting);
        assert_int_equal(e->row.shape.settled, lasting);
        assert_true(fabs(e->estimate_ns - 300e3) < 1);
        assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 300e3, &err), 0); /* it is that graph */
        assert_int_equal(e->row.shape.settled, lasting);
        assert_int_equal(e->row.replayed, !lasting);
        f.device->ops->release_segment(f.device, e->row.segment);
        e->row.segment = NULL;
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_a_visit),
        cmocka_unit_test(an_order_leaves_nobody_out),
        cmocka_unit_test(what_a_segment_uses_is_told),
        cmocka_unit_test(the_scripted_device_visits),
        cmocka_unit_test(launches_are_a_multiple_of_visits),
        cmocka_unit_test(sets_shrink_with_visits),
        cmocka_unit_test(primers_are_an_eighth),
        cmocka_unit_test(each_further_visit_is_primed),
        cmocka_unit_test(slow_contenders_get_fewer),
        cmocka_unit_test(a_race_visits_the_places_too),
        cmocka_unit_test(one_launch_from_idle_visits_nothing),
        cmocka_unit_test(rotating_needs_no_primer_for_every_set),
        cmocka_unit_test(the_record_counts_untimed_launches_of_all_visits),
        cmocka_unit_test(another_number_of_visits_is_prepared_anew),
        cmocka_unit_test(candidates_replays_are_waited_for),
        cmocka_unit_test(what_is_loaded_and_settled),
        cmocka_unit_test(what_is_surely_long_is_replayed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
