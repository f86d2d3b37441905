/* device-row on the scripted clock: a column beside device, taken where it is asked for and is a time of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/entry.h"
#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"
#include "stats/interval.h"

static struct fixture f;

/* Two contenders of 10 and 20 us, the first 8 us in a row; the bench's headline and what else is asked for. */
static void open_cell(enum timing headline, uint32_t asked)
{
    fixture_open(&f, 2);
    f.actors[0].duration_ns = 10e3;
    f.actors[0].row_ns = 8e3;
    f.actors[1].duration_ns = 20e3;
    f.bench.headline = f.bench.record->headline = headline;
    f.config.headline = headline;
    f.config.timings = timing_defaults() | asked | CUDAL2_BIT(headline);
}

static void run_cell(void)
{
    struct error err;
    fixture_start(&f);
    if (cell_loop_run(&f.bench, &err) != 0)
        fail_msg("%s", err.text);
}

static const struct series *times(size_t who, enum timing timing)
{
    return &f.bench.record->contenders[who].timings[timing];
}

static double median(size_t who, enum timing timing)
{
    return stats_median(times(who, timing)->ns, times(who, timing)->n);
}

static void is_near(double ns, double wanted)
{
    if (!(ns > 0.999 * wanted && ns < 1.001 * wanted))
        fail_msg("%g ns, not %g", ns, wanted);
}

static void both_are_columns_of_one_run(void **state)
{
    (void)state;
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    run_cell();
    is_near(median(0, TIMING_DEVICE), 10e3);
    is_near(median(0, TIMING_DEVICE_ROW), 8e3);
    is_near(median(1, TIMING_DEVICE_ROW), 20e3);
    assert_true(times(0, TIMING_DEVICE)->n > times(0, TIMING_DEVICE_ROW)->n);
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->n, times(0, TIMING_EVENT)->n); /* as often as the others */
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->block[1], times(0, TIMING_EVENT)->block[1]);
    fixture_close(&f);
}

/* The headline's times are what they are without it, and so is what is launched for them. */
static void it_leaves_the_headline_alone(void **state)
{
    double without, with;
    (void)state;
    open_cell(TIMING_DEVICE, 0);
    run_cell();
    without = median(0, TIMING_DEVICE);
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->n, 0); /* off unless asked for */
    assert_true(times(0, TIMING_EVENT)->n > 0);
    fixture_close(&f);
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    run_cell();
    with = median(0, TIMING_DEVICE);
    is_near(with, without);
    fixture_close(&f);
}

static void as_the_headline_it_has_device_beside_it(void **state)
{
    (void)state;
    open_cell(TIMING_DEVICE_ROW, 0);
    run_cell();
    is_near(median(0, TIMING_DEVICE_ROW), 8e3);
    is_near(median(0, TIMING_DEVICE), 10e3);
    assert_true(times(0, TIMING_DEVICE_ROW)->n > times(0, TIMING_DEVICE)->n);
    fixture_close(&f);
}

static void behind_events_it_is_a_column_too(void **state)
{
    (void)state;
    open_cell(TIMING_EVENT, CUDAL2_BIT(TIMING_DEVICE_ROW));
    run_cell();
    is_near(median(0, TIMING_DEVICE), 10e3);
    is_near(median(0, TIMING_DEVICE_ROW), 8e3);
    fixture_close(&f);
}

/* From idle, and with an emptied cache, a segment is one launch: nothing can overlap it. */
static void one_launch_is_no_row(void **state)
{
    (void)state;
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    run_cell();
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->n, 0);
    assert_true(times(0, TIMING_DEVICE)->n > 0 && times(0, TIMING_EVENT)->n > 0);
    fixture_close(&f);
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    f.config.cache[MODE_OFFLINE] = CACHE_FLUSH;
    run_cell();
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->n, 0);
    fixture_close(&f);
}

static void a_device_without_it_takes_the_rest(void **state)
{
    (void)state;
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    f.device->info.timings &= ~CUDAL2_BIT(TIMING_DEVICE_ROW);
    run_cell();
    assert_int_equal(times(0, TIMING_DEVICE_ROW)->n, 0);
    assert_true(times(0, TIMING_DEVICE)->n > 0 && times(0, TIMING_WALL)->n > 0);
    fixture_close(&f);
}

/* Each timing has a segment of its own while a group takes it, and none outlives the cell. */
static void its_graphs_are_released(void **state)
{
    struct error err;
    (void)state;
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 10e3, &err), 0);
    assert_false(segment_is_ready(&f.bench, e, TIMING_DEVICE_ROW));
    uint64_t live = fake_counts(f.device).live_segments;
    assert_int_equal(segment_prepare_beside(&f.bench, e, &err), 0);
    assert_int_equal(fake_counts(f.device).live_segments, live + 1);
    assert_true(segment_is_ready(&f.bench, e, TIMING_DEVICE_ROW));
    assert_true(e->beside[TIMING_DEVICE_ROW].shape.overlap);
    assert_false(e->row.shape.overlap);
    assert_int_equal(e->beside[TIMING_DEVICE_ROW].shape.launches, e->row.shape.launches);
    entrant_teardown(&f.bench, e);
    assert_int_equal(fake_counts(f.device).live_segments, live - 1); /* the empty kernel's is the bench's */
    assert_false(segment_is_ready(&f.bench, e, TIMING_DEVICE_ROW));
    fixture_close(&f);
}

/* Its first one of a cell is asked what may overlap in it (device_shape.loaded), also where the headline's graph, of a
 * launch that is surely long, was taken for loaded. */
static void a_first_row_is_new(void **state)
{
    struct error err;
    (void)state;
    for (int later = 0; later < 2; later++) {
        open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
        fixture_start(&f);
        struct entrant *e = &f.bench.entrants[0];
        f.device->info.peak_flops = problem_flops(&f.bench.problem) / 250e-6;
        f.bench.in_blocks = true;
        f.bench.warmed = later == 1;
        assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
        assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 300e3, &err), 0);
        assert_int_equal(segment_prepare_beside(&f.bench, e, &err), 0);
        assert_true(e->row.shape.loaded);
        assert_int_equal(e->beside[TIMING_DEVICE_ROW].shape.loaded, later);
        fixture_close(&f);
    }
}

/* A row on another rung would hold other things than the time beside it. */
static void another_rung_is_not_taken(void **state)
{
    struct error err;
    (void)state;
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, 10e3, &err), 0);
    e->work.flags |= CUDAL2_NO_CAPTURE; /* from now on */
    assert_int_equal(segment_prepare_beside(&f.bench, e, &err), 0);
    assert_true(e->alive);
    assert_false(segment_is_ready(&f.bench, e, TIMING_DEVICE_ROW));
    fixture_close(&f);
}

static void it_is_compared_like_any_other(void **state)
{
    struct entries *entries = calloc(1, sizeof *entries);
    struct pair pair;
    struct speedup speedup;
    (void)state;
    assert_non_null(entries);
    open_cell(TIMING_DEVICE, CUDAL2_BIT(TIMING_DEVICE_ROW));
    run_cell();
    assert_int_equal(entries_of(f.bench.record, entries), 0);
    const struct match m = {&entries->list[0], &entries->list[1], TIMING_DEVICE_ROW};
    assert_true(match_is_comparable(&m));
    assert_int_equal(match_collect(f.bench.record, &m, PAIR_HEALTHY_BLOCKS, &pair), 0);
    pair_speedup(&pair, &speedup);
    is_near(speedup.geomean, 1.5); /* 20 us over 8 */
    pair_free(&pair);
    entries_free(entries);
    free(entries);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_are_columns_of_one_run),
        cmocka_unit_test(it_leaves_the_headline_alone),
        cmocka_unit_test(as_the_headline_it_has_device_beside_it),
        cmocka_unit_test(behind_events_it_is_a_column_too),
        cmocka_unit_test(one_launch_is_no_row),
        cmocka_unit_test(a_device_without_it_takes_the_rest),
        cmocka_unit_test(its_graphs_are_released),
        cmocka_unit_test(a_first_row_is_new),
        cmocka_unit_test(another_rung_is_not_taken),
        cmocka_unit_test(it_is_compared_like_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
