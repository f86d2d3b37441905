/* measure/block on the scripted clock: passes there and back, the lead, and the load before a block. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_fixture.h"
#include "measure/block.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"

enum { MOST = 4096 };

static struct fixture f;
static struct order order;
static char taken[MOST + 1]; /* first letters of those who were timed, in order */
static size_t n_taken;

static void note(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    (void)context;
    (void)deadline_seconds;
    if (strcmp(stage, "measure") != 0 || contender[0] == '\0' || n_taken == MOST)
        return;
    taken[n_taken++] = contender[0];
    taken[n_taken] = '\0';
}

static void forget(void)
{
    n_taken = 0;
    taken[0] = '\0';
}

static void open_block(size_t n, double duration_ns)
{
    fixture_open_block(&f, n, duration_ns);
    f.bench.report = note;
    order_begin(&order, (unsigned)n, 5);
    forget();
}

static void measure(unsigned block)
{
    struct error err;
    forget();
    if (block_measure(&f.bench, block, &order, &err) != 0)
        fail_msg("%s", err.text);
}

static const char *written(void)
{
    return f.bench.record->order[f.bench.record->blocks - 1];
}

static double value(size_t contender, size_t i)
{
    const struct series *s = &f.bench.record->contenders[contender].timings[f.bench.headline];
    assert_true(i < s->n);
    return s->ns[i];
}

/* ---- passes ---- */

/* The names in the order of the block's digits, once or there and back, with a lead or not. */
static void assert_taken(const char *digits, bool lead, bool back)
{
    char expected[64];
    size_t n = strlen(digits), used = 0;
    if (lead)
        expected[used++] = (char)(digits[0] - '0' + 'a');
    for (size_t i = 0; i < n; i++)
        expected[used++] = (char)(digits[i] - '0' + 'a');
    for (size_t i = n; back && i > 0; i--)
        expected[used++] = (char)(digits[i - 1] - '0' + 'a');
    expected[used] = '\0';
    assert_string_equal(taken, expected);
}

static void short_launches_run_once(void **state)
{
    (void)state;
    open_block(4, 19e3);
    measure(1);
    assert_int_equal(strlen(written()), 4);
    assert_taken(written(), false, false);
    assert_int_equal(f.bench.record->passes, 0);
    fixture_close(&f);
}

/* Segments of 0.25 ms in turn until 3 ms have passed, in every block. */
static void launches_of_20_us_wake_the_device(void **state)
{
    const double durations[] = {20e3, 25e3, 79e3};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        open_block(3, durations[i]);
        for (unsigned block = 1; block <= 2; block++) {
            double busy = f.bench.record->busy_seconds;
            measure(block);
            const struct contender_record *r = &f.bench.record->contenders[0];
            double segment_ns = durations[i] * (r->launches + r->primers);
            size_t lead = (size_t)ceil(3e6 / segment_ns); /* and no first replay */
            assert_int_equal(n_taken, lead + 3);
            for (size_t k = 0; k < n_taken; k++)
                assert_int_equal(taken[k], written()[k < lead ? k % 3 : k - lead] - '0' + 'a');
            assert_true(fabs(f.bench.record->busy_seconds - busy - 1e-9 * segment_ns * (double)n_taken) < 1e-6);
            assert_int_equal(r->timings[TIMING_DEVICE].n, block);
        }
        fixture_close(&f);
    }
}

static void long_launches_run_there_and_back(void **state)
{
    (void)state;
    open_block(3, 80e3);
    for (unsigned block = 1; block <= 3; block++) {
        measure(block);
        assert_int_equal(strlen(written()), 3); /* the way back is not written */
        assert_taken(written(), true, true);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(f.bench.record->contenders[i].timings[TIMING_DEVICE].n, block);
    }
    assert_int_equal(f.bench.record->passes, 2);
    fixture_close(&f);
}

/* Every launch takes a thousandth longer than the one before: the place in the block decides what one pass reads, and
 * nothing of it is left in the mean of both. */
static void a_drift_cancels(void **state)
{
    (void)state;
    for (int two = 0; two < 2; two++) {
        open_block(4, two ? 100e3 : 70e3);
        for (size_t i = 0; i < 1024; i++)
            f.noise[i] = 1 + 0.001 * (double)i;
        measure(1);
        double least = INFINITY, most = 0;
        for (size_t i = 0; i < 4; i++) {
            least = fmin(least, value(i, 0));
            most = fmax(most, value(i, 0));
        }
        if (two)
            assert_true(most / least - 1 < 1e-9);
        else
            assert_true(most / least - 1 > 0.01);
        fixture_close(&f);
    }
}

/* The value is the mean of this block's two segments, and of no other. */
static void a_value_is_the_mean_of_both(void **state)
{
    (void)state;
    open_block(1, 100e3);
    struct device_shape s = f.bench.entrants[0].row.shape;
    unsigned launches = s.launches + device_shape_untimed(&s);
    assert_int_equal(s.launches, 2);
    unsigned start = f.actors[0].launches + launches; /* what has run before, the empty segment too */
    const double factors[2][2] = {{1.0, 1.5}, {2.0, 4.0}};
    for (unsigned block = 0; block < 2; block++)
        for (unsigned pass = 0; pass < 2; pass++)
            for (unsigned i = 0; i < launches; i++)
                f.noise[start + (block * 3 + 1 + pass) * launches + i] = factors[block][pass];
    measure(1);
    measure(2);
    assert_true(fabs(value(0, 0) - 125e3) < 1e-6);
    assert_true(fabs(value(0, 1) - 300e3) < 1e-6);
    fixture_close(&f);
}

static void every_segment_counts_as_busy(void **state)
{
    (void)state;
    open_block(2, 100e3);
    measure(1);
    /* Two contenders there and back, the lead and two first replays, of two launches and two primers each; and three
     * first looks of each. */
    assert_true(fabs(f.bench.record->busy_seconds - ((5 + 2) * 4 + 6) * 100e-6) < 1e-9);
    fixture_close(&f);
}

static void who_fails_on_the_way_back_has_no_value(void **state)
{
    (void)state;
    open_block(3, 100e3);
    unsigned per_segment = f.actors[1].launches; /* whatever prepared it */
    measure(1);
    per_segment = (f.actors[1].launches - per_segment) / (taken[0] == 'b' ? 3 : 2);
    unsigned lead = 0;
    struct order ahead = order;
    unsigned next[3];
    order_next(&ahead, next);
    lead = next[0] == 1;
    f.actors[1].fail_launches_from = (int)(f.actors[1].launches + (1 + lead) * per_segment + 1);
    measure(2);
    const struct cell_record *r = f.bench.record;
    assert_string_equal(record_verdict(&r->contenders[1]), "launch_error");
    assert_int_equal(r->contenders[1].timings[TIMING_DEVICE].n, 1);
    assert_int_equal(r->contenders[0].timings[TIMING_DEVICE].n, 2);
    assert_int_equal(r->contenders[2].timings[TIMING_DEVICE].n, 2);
    fixture_close(&f);
}

static void who_fails_in_the_lead_leaves(void **state)
{
    (void)state;
    open_block(2, 100e3);
    struct order ahead = order;
    unsigned next[2];
    order_next(&ahead, next);
    f.actors[next[0]].fail_launches_from = (int)f.actors[next[0]].launches + 1;
    measure(1);
    const struct cell_record *r = f.bench.record;
    assert_string_equal(record_verdict(&r->contenders[next[0]]), "launch_error");
    assert_int_equal(r->contenders[next[0]].timings[TIMING_DEVICE].n, 0);
    assert_int_equal(r->contenders[next[1]].timings[TIMING_DEVICE].n, 1);
    assert_int_equal(strlen(written()), 1);
    fixture_close(&f);
}

/* ---- load before the first block ---- */

/* Segments that were taken before the lead and the block, of n contenders. */
static size_t load(size_t n, bool lead, bool back)
{
    size_t own = (size_t)lead + n * (back ? 2 : 1);
    assert_true(n_taken >= own);
    return n_taken - own;
}

static void a_cooled_device_is_loaded(void **state)
{
    (void)state;
    open_block(3, 100e3);
    f.bench.cooled = true;
    double before = (double)f.device->ops->now(f.device);
    measure(1);
    assert_int_equal(load(3, true, true), 88); /* of 0.4 ms */
    assert_false(f.bench.cooled);
    assert_true((double)f.device->ops->now(f.device) - before >= 35e6);
    assert_int_equal(f.bench.record->contenders[0].timings[TIMING_DEVICE].n, 1);
    measure(2);
    assert_int_equal(load(3, true, true), 0);
    fixture_close(&f);
}

/* Below, the clock is not held back; above, a block is load enough of its own, and once is as good as twice. */
static void load_is_for_80_us_to_1_6_ms(void **state)
{
    (void)state;
    const double durations[] = {19.9e3, 80e3, 1.59e6, 1.6e6};
    for (size_t i = 0; i < 4; i++) {
        bool lasting = i == 1 || i == 2;
        open_block(2, durations[i]);
        f.bench.cooled = true;
        measure(1);
        assert_true((load(2, i > 0, lasting) > 0) == lasting);
        assert_int_equal(f.bench.record->passes, lasting ? 2 : 0);
        fixture_close(&f);
    }
}

static void load_is_neither_timed_nor_written(void **state)
{
    (void)state;
    open_block(2, 100e3);
    f.bench.cooled = true;
    for (size_t i = 0; i < 1024; i++)
        f.noise[i] = i < 400 ? 0.5 : 1; /* cold: twice as fast */
    measure(1);
    assert_true(fabs(value(0, 0) - 100e3) < 1e-6);
    assert_int_equal(strlen(written()), 2);
    assert_true(f.bench.record->busy_seconds > 0.033); /* but the device was busy */
    fixture_close(&f);
}

static void nobody_alive_is_no_hang(void **state)
{
    (void)state;
    open_block(2, 100e3);
    f.bench.cooled = true;
    f.bench.entrants[0].alive = f.bench.entrants[1].alive = false;
    measure(1);
    assert_int_equal(n_taken, 0);
    assert_string_equal(written(), "");
    fixture_close(&f);
}

/* All fail in the first round of the load. */
static void nobody_left_is_no_hang(void **state)
{
    (void)state;
    open_block(2, 100e3);
    f.bench.cooled = true;
    for (size_t i = 0; i < 2; i++)
        f.actors[i].fail_launches_from = 1;
    measure(1);
    assert_int_equal(n_taken, 2);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "launch_error");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "launch_error");
    fixture_close(&f);
}

static void no_time_is_no_hang(void **state)
{
    (void)state;
    open_block(2, 0);
    f.bench.cooled = true;
    f.bench.fastest_ns = 100e3; /* estimated so, and now it takes none */
    measure(1);
    assert_int_equal(n_taken, 2 + 1 + 2); /* a round, the lead, one pass: no time at all is implausible */
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
    fixture_close(&f);
}

/* ---- only sustained work ---- */

static void server_mode_goes_once_without_load(void **state)
{
    (void)state;
    open_block(2, 100e3);
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    f.bench.cooled = true;
    measure(1);
    assert_taken(written(), false, false);
    assert_int_equal(f.bench.record->passes, 0);
    assert_int_equal(f.bench.record->contenders[0].gaps.n, 1);
    fixture_close(&f);
}

static void single_launches_go_once_without_load(void **state)
{
    (void)state;
    for (enum timing t = TIMING_EVENT; t <= TIMING_WALL; t++) {
        open_block(2, 100e3);
        f.bench.headline = f.bench.record->headline = t;
        f.bench.cooled = true;
        measure(1);
        assert_taken(written(), false, false);
        assert_int_equal(f.bench.record->passes, 0);
        fixture_close(&f);
    }
}

/* ---- a whole cell ---- */

static double check_ns;

static int check(struct bench *bench, struct error *err)
{
    (void)err;
    struct device *d = bench->device;
    if (bench->record->blocks == 8)
        d->ops->wait_until(d, d->ops->now(d) + (uint64_t)check_ns);
    return 0;
}

/* Busy time of a cell of 16 blocks, in which a check after the eighth takes so long. */
static double busy_of_cell(double check_takes_ns, double duration_ns)
{
    struct error err;
    fixture_open(&f, 2);
    f.actors[0].duration_ns = f.actors[1].duration_ns = duration_ns;
    f.config.other_timings_every = 1000;
    f.config.stop.max_blocks = 16; /* times that are all one value tell nothing, and the cell would go on */
    f.bench.between_blocks = check;
    check_ns = check_takes_ns;
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(f.bench.record->blocks, 16);
    double busy = f.bench.record->busy_seconds;
    fixture_close(&f);
    return busy;
}

static void load_comes_at_the_start_and_after_a_long_check(void **state)
{
    (void)state;
    double once = busy_of_cell(0, 100e3), still = busy_of_cell(2.9e6, 100e3), again = busy_of_cell(3.2e6, 100e3);
    assert_true(once > 0.035);
    assert_true(fabs(still - once) < 1e-9);
    assert_true(again - once > 0.034 && again - once < 0.037);
    assert_true(busy_of_cell(3.2e6, 10e3) < 0.03); /* short launches: neither */
}

/* A cell of four places, and how many of them its record tells of. */
static void run_visiting(double duration_ns, unsigned visits, unsigned passes)
{
    struct error err;
    fixture_open(&f, 2);
    f.bench.visits = 4;
    f.bench.sets_each = 4;
    f.bench.n_sets = 8;
    for (size_t i = 0; i < 2; i++) {
        f.actors[i].duration_ns = duration_ns;
        f.bench.entrants[i].first_set = 4 * i;
        f.bench.entrants[i].n_sets = 4;
    }
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(f.bench.record->visits, visits);
    assert_int_equal(f.bench.record->passes, passes);
    assert_int_equal(f.bench.entrants[0].row.shape.visits, visits > 1 ? visits : 1);
    fixture_close(&f);
}

static void the_cell_says_what_it_visited(void **state)
{
    (void)state;
    run_visiting(10e3, 4, 0);
    run_visiting(90e3, 3, 2); /* of three launches */
    run_visiting(110e3, 2, 2);
    run_visiting(250e3, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_launches_run_once),
        cmocka_unit_test(launches_of_20_us_wake_the_device),
        cmocka_unit_test(long_launches_run_there_and_back),
        cmocka_unit_test(a_drift_cancels),
        cmocka_unit_test(a_value_is_the_mean_of_both),
        cmocka_unit_test(every_segment_counts_as_busy),
        cmocka_unit_test(who_fails_on_the_way_back_has_no_value),
        cmocka_unit_test(who_fails_in_the_lead_leaves),
        cmocka_unit_test(a_cooled_device_is_loaded),
        cmocka_unit_test(load_is_for_80_us_to_1_6_ms),
        cmocka_unit_test(load_is_neither_timed_nor_written),
        cmocka_unit_test(nobody_alive_is_no_hang),
        cmocka_unit_test(nobody_left_is_no_hang),
        cmocka_unit_test(no_time_is_no_hang),
        cmocka_unit_test(server_mode_goes_once_without_load),
        cmocka_unit_test(single_launches_go_once_without_load),
        cmocka_unit_test(load_comes_at_the_start_and_after_a_long_check),
        cmocka_unit_test(the_cell_says_what_it_visited),
    };
    alarm(60); /* what hangs ends */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
