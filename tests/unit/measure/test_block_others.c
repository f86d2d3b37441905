/* measure/block on the scripted clock: how often the other timings come, what is prepared for them, and in whose cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "bench_fixture.h"
#include "measure/block.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"

static struct fixture f;
static struct order order;

static void open_block(size_t n, double duration_ns)
{
    fixture_open_block(&f, n, duration_ns);
    order_begin(&order, (unsigned)n, 5);
}

static void measure(unsigned block)
{
    struct error err;
    if (block_measure(&f.bench, block, &order, &err) != 0)
        fail_msg("%s", err.text);
}

/* Blocks of so many in which the event timing was taken, with other_timings_every at 2. */
static unsigned other_blocks(double duration_ns, enum mode mode, unsigned blocks, unsigned *last)
{
    open_block(1, duration_ns);
    f.bench.mode = f.bench.record->mode = mode;
    f.config.other_timings_every = 2;
    for (unsigned block = 0; block < blocks; block++)
        measure(block);
    const struct cell_record *r = f.bench.record;
    const struct series *s = &r->contenders[0].timings[TIMING_EVENT];
    unsigned n = (unsigned)s->n;
    *last = s->block[n - 1];
    assert_int_equal(r->contenders[0].timings[TIMING_WALL].n, n);
    assert_int_equal(r->null_graph.n, n);
    for (size_t i = 0; i < n; i++)
        assert_true(s->ns[i] >= duration_ns && s->ns[i] < duration_ns + 1e4); /* one launch, whatever the passes */
    fixture_close(&f);
    return n;
}

static void other_timings_are_rarer_where_they_are_dear(void **state)
{
    unsigned last;
    (void)state;
    assert_int_equal(other_blocks(1e3, MODE_OFFLINE, 32, &last), 16);
    assert_int_equal(last, 30);
    assert_int_equal(other_blocks(30e3, MODE_OFFLINE, 32, &last), 16);
    assert_int_equal(other_blocks(30.1e3, MODE_OFFLINE, 32, &last), 5); /* 0, 4, 8, 16, 24 */
    assert_int_equal(last, 24);
    assert_int_equal(other_blocks(1e3, MODE_SERVER, 32, &last), 5);
    assert_int_equal(last, 24);
    assert_int_equal(other_blocks(1e3, MODE_SERVER, 8, &last), 2);
    assert_int_equal(last, 4);
}

static void other_timings_are_rarer_later(void **state)
{
    unsigned last;
    (void)state;
    assert_int_equal(other_blocks(1e3, MODE_OFFLINE, 64, &last), 16 + 4);
    assert_int_equal(last, 56);
    assert_int_equal(other_blocks(100e3, MODE_OFFLINE, 64, &last), 9);
    assert_int_equal(other_blocks(1e3, MODE_SERVER, 64, &last), 9);
}

/* How often the cache is emptied in a block of two contenders without an untimed launch ahead. */
static uint64_t flushes_of(bool shared, bool in_blocks, enum protocol protocol, enum cache_state cache)
{
    open_block(2, 10e3);
    f.config.other_timings_every = 1000;
    f.config.protocol = protocol;
    f.config.cache[MODE_OFFLINE] = cache;
    f.bench.shared_sets = shared;
    f.bench.in_blocks = in_blocks;
    uint64_t before = fake_counts(f.device).flushes;
    measure(1);
    uint64_t flushes = fake_counts(f.device).flushes - before;
    fixture_close(&f);
    return flushes;
}

static void who_shares_matrices_finds_an_empty_cache(void **state)
{
    (void)state;
    assert_int_equal(flushes_of(true, true, PROTOCOL_ADAPTIVE, CACHE_WARM), 2);
    assert_int_equal(flushes_of(true, true, PROTOCOL_ADAPTIVE, CACHE_FLUSH), 2);
    assert_int_equal(flushes_of(false, true, PROTOCOL_ADAPTIVE, CACHE_WARM), 0);
    assert_int_equal(flushes_of(true, false, PROTOCOL_ADAPTIVE, CACHE_WARM), 0); /* in a race everyone has the same */
    assert_int_equal(flushes_of(true, true, PROTOCOL_PAPER, CACHE_WARM), 0);     /* its loop is two launches */
}

/* How often a graph is replayed in a block of two contenders, with the other timings and the empty graph or without. */
static uint64_t replays_of(enum mode mode, enum cache_state cache, bool others)
{
    open_block(2, 10e3);
    f.bench.mode = f.bench.record->mode = mode;
    f.config.other_timings_every = others ? 1 : 1000;
    f.config.cache[mode] = cache;
    uint64_t before = fake_counts(f.device).measures;
    measure(others ? 0 : 1);
    uint64_t replays = fake_counts(f.device).measures - before;
    fixture_close(&f);
    return replays;
}

/* Before the gap, each by its own graph; the empty one too. Launches without a graph have none to replay. */
static void what_is_timed_from_idle_is_what_primed_it(void **state)
{
    (void)state;
    assert_int_equal(replays_of(MODE_SERVER, CACHE_WARM, false), 2 * 2);
    assert_int_equal(replays_of(MODE_SERVER, CACHE_WARM, true), 2 * 2 + 2);
    assert_int_equal(replays_of(MODE_SERVER, CACHE_FLUSH, false), 2);
    assert_int_equal(replays_of(MODE_SERVER, CACHE_LEFT, false), 2);
    assert_int_equal(replays_of(MODE_OFFLINE, CACHE_WARM, false), 2);
    assert_int_equal(replays_of(MODE_OFFLINE, CACHE_WARM, true), 2 + 1);
}

static void who_has_no_graph_is_primed_by_a_launch(void **state)
{
    double gap_ns = 1000, ns = 0;
    struct error err;
    (void)state;
    open_block(1, 10e3);
    struct entrant *e = &f.bench.entrants[0];
    f.device->ops->release_segment(f.device, e->row.segment);
    assert_int_equal(f.device->ops->prepare(f.device, &e->work, &e->row.shape, RUNG_BLOCKED, &e->row.segment, &err), 0);
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    uint64_t before = fake_counts(f.device).measures;
    unsigned launches = f.actors[0].launches;
    assert_int_equal(segment_time(&f.bench, e, TIMING_DEVICE, &gap_ns, &ns, &err), 0);
    assert_int_equal(fake_counts(f.device).measures, before + 1);
    assert_int_equal(f.actors[0].launches - launches, 1 + e->row.shape.launches + device_shape_untimed(&e->row.shape));
    fixture_close(&f);
}

/* Busy time that one timing adds for a contender that was estimated at 10 us. */
static double busy_of(enum timing timing, enum cache_state cache, size_t sets, double duration_ns)
{
    double gap_ns = -1, ns = 0;
    struct error err;
    fixture_open(&f, 1);
    struct entrant *e = &f.bench.entrants[0];
    f.config.cache[MODE_OFFLINE] = cache;
    f.bench.sets_each = f.bench.n_sets = e->n_sets = sets;
    f.actors[0].duration_ns = duration_ns;
    fixture_start(&f);
    e->estimate_ns = 10e3;
    double before = f.bench.record->busy_seconds;
    assert_int_equal(segment_time(&f.bench, e, timing, &gap_ns, &ns, &err), 0);
    double busy = 1e9 * (f.bench.record->busy_seconds - before);
    fixture_close(&f);
    return busy;
}

/* Nobody times what comes ahead, so it counts by the estimate; and no more than that counts of what holds launch cost,
 * nor more than the time that has passed. */
static void launches_that_nobody_times_count_as_busy(void **state)
{
    (void)state;
    assert_true(fabs(busy_of(TIMING_EVENT, CACHE_WARM, 1, 10e3) - 2 * 10e3) < 1);
    assert_true(fabs(busy_of(TIMING_WALL, CACHE_WARM, 1, 10e3) - 2 * 10e3) < 1);
    assert_true(fabs(busy_of(TIMING_EVENT, CACHE_LEFT, 1, 10e3) - 10e3) < 1);
    assert_true(fabs(busy_of(TIMING_EVENT, CACHE_ROTATE, 4, 10e3) - 10e3) < 1); /* nothing comes ahead */
    assert_true(busy_of(TIMING_EVENT, CACHE_WARM, 1, 100) < 10e3 + 10e3);
}

static void a_graph_of_one_counts_as_busy(void **state)
{
    double ns = 0;
    struct error err;
    (void)state;
    open_block(1, 10e3);
    struct entrant *e = &f.bench.entrants[0];
    e->graph_work = e->work;
    double before = f.bench.record->busy_seconds;
    assert_int_equal(segment_time_equal_path(&f.bench, e, TIMING_EVENT, -1, &ns, &err), 0);
    assert_true(ns >= 10e3 && fabs(1e9 * (f.bench.record->busy_seconds - before) - 2 * 10e3) < 1);
    fixture_close(&f);
}

/* By events the first launch may load its code: that is neither an estimate nor the device's work. */
static void loading_is_no_estimate(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 1);
    f.bench.headline = f.bench.record->headline = TIMING_EVENT;
    f.actors[0].duration_ns = 4000;
    fixture_start(&f);
    f.noise[f.actors[0].launches] = 1250; /* 5 ms */
    double before = f.bench.record->busy_seconds;
    assert_int_equal(segment_estimate(&f.bench, &f.bench.entrants[0], &err), 0);
    assert_true(f.bench.entrants[0].estimate_ns < 10e3);
    assert_true(f.bench.record->busy_seconds - before < 30e-6);
    fixture_close(&f);
}

/* An event-timed launch is no graph, and no graph primes it. */
static void what_is_launched_is_primed_by_a_launch(void **state)
{
    double gap_ns = 1000, ns = 0;
    struct error err;
    (void)state;
    open_block(1, 10e3);
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    uint64_t before = fake_counts(f.device).measures;
    unsigned launches = f.actors[0].launches;
    assert_int_equal(segment_time(&f.bench, &f.bench.entrants[0], TIMING_EVENT, &gap_ns, &ns, &err), 0);
    assert_int_equal(fake_counts(f.device).measures, before);
    assert_int_equal(f.actors[0].launches, launches + 2);
    fixture_close(&f);
}

/* The empty graph comes from idle as well, and where entrants are not primed it is not. */
static void the_empty_graph_waits_like_the_others(void **state)
{
    static const struct {
        enum cache_state cache;
        unsigned replays;
    } cases[] = {{CACHE_WARM, 2}, {CACHE_FLUSH, 1}, {CACHE_ROTATE, 1}, {CACHE_LEFT, 1}};
    struct error err;
    double ns = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_block(1, 10e3);
        f.bench.mode = f.bench.record->mode = MODE_SERVER;
        f.config.cache[MODE_SERVER] = cases[i].cache;
        uint64_t from = f.device->ops->now(f.device), before = fake_counts(f.device).measures;
        assert_int_equal(segment_null(&f.bench, 1e6, &ns, &err), 0);
        assert_true(f.device->ops->now(f.device) - from >= 1000000);
        assert_int_equal(fake_counts(f.device).measures - before, cases[i].replays);
        fixture_close(&f);
    }
}

static unsigned graphs_made;

static int same_work(struct device *d, const struct device_work *work, struct device_work *out, struct error *err)
{
    (void)d;
    (void)err;
    *out = *work;
    graphs_made++;
    return 0;
}

static void nothing_to_release(struct device *d, struct device_work *graph)
{
    (void)d;
    (void)graph;
}

/* Graphs of one are made for the groups that time them and for no other: in a cell of 16 groups every third. */
static void equal_paths_are_prepared_where_they_are_taken(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.config.other_timings_every = 3;
    f.config.stop.group_blocks = 1;
    graphs_made = 0;
    fixture_start(&f);
    f.bench.entrants[0].has_variants = true;
    struct device_ops ops = *f.bench.device->ops;
    ops.graph_work = same_work;
    ops.release_graph_work = nothing_to_release;
    f.bench.device->ops = &ops;
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(f.bench.record->groups, 16);
    assert_int_equal(graphs_made, 6);
    const struct series *s = &f.bench.record->contenders[0].equal_path[TIMING_EVENT];
    assert_int_equal(s->n, 6);
    for (size_t i = 0; i < s->n; i++)
        assert_int_equal(s->block[i], 3 * i);
    fixture_close(&f);
}

static void a_long_launch_has_no_equal_path(void **state)
{
    (void)state;
    for (int is_long = 0; is_long < 2; is_long++) {
        open_block(1, 10e3);
        struct device_ops ops = *f.bench.device->ops;
        ops.graph_work = same_work;
        ops.release_graph_work = nothing_to_release;
        f.bench.device->ops = &ops;
        f.bench.entrants[0].has_variants = true;
        f.bench.fastest_ns = is_long ? 1.6e6 : 1.59e6;
        segment_prepare_equal_path(&f.bench, &f.bench.entrants[0]);
        assert_int_equal(f.bench.entrants[0].has_graph_work, !is_long);
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_timings_are_rarer_where_they_are_dear),
        cmocka_unit_test(who_shares_matrices_finds_an_empty_cache),
        cmocka_unit_test(other_timings_are_rarer_later),
        cmocka_unit_test(what_is_timed_from_idle_is_what_primed_it),
        cmocka_unit_test(who_has_no_graph_is_primed_by_a_launch),
        cmocka_unit_test(what_is_launched_is_primed_by_a_launch),
        cmocka_unit_test(the_empty_graph_waits_like_the_others),
        cmocka_unit_test(launches_that_nobody_times_count_as_busy),
        cmocka_unit_test(a_graph_of_one_counts_as_busy),
        cmocka_unit_test(loading_is_no_estimate),
        cmocka_unit_test(equal_paths_are_prepared_where_they_are_taken),
        cmocka_unit_test(a_long_launch_has_no_equal_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
