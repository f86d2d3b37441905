/* measure/ on the scripted clock: what is timed, in which order, after which gap, and when it stops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "measure/arrivals.h"
#include "measure/cell_loop.h"
#include "measure/segment.h"

static struct fixture f;

static void run_loop(size_t n)
{
    struct error err;
    (void)n;
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
}

static void segment_length_follows_fastest(void **state)
{
    (void)state;
    fixture_open(&f, 1);
    struct device_shape s = segment_shape(&f.bench, SEGMENT_TARGET_NS, 4000, 4000);
    assert_int_equal(s.launches, 50);
    assert_int_equal(s.primers, 7); /* an eighth */
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 10e3, 10e3).primers, 3);
    assert_int_equal(segment_shape(&f.bench, 50e3, 4000, 4000).primers, 2);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 12.5e3, 12.5e3).primers, 2);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 3200, 3200).primers, 8);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 100e3, 100e3).primers, 2);
    assert_int_equal(segment_shape(&f.bench, 50e3, 4000, 4000).launches, 13);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 100, 100).launches, 64);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 200e3, 200e3).launches, 1);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 200e3, 200e3).primers, 0);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 4000, 1e6).launches, 4);
    f.bench.mode = MODE_SERVER;
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 4000, 4000).launches, 1);
    assert_int_equal(segment_shape(&f.bench, SEGMENT_TARGET_NS, 4000, 4000).primers, 0);
    fixture_close(&f);
}

static void gaps_have_their_distribution(void **state)
{
    struct random r;
    struct gap_config gap = {GAP_POISSON, 2e6};
    double sum = 0;
    double over_mean = 0;
    (void)state;
    random_seed(&r, 3);
    for (int i = 0; i < 100000; i++) {
        double g = arrivals_draw(&gap, &r);
        assert_true(g >= 0 && g <= 2e7);
        assert_true(g <= arrivals_longest(&gap));
        sum += g;
        over_mean += g > 2e6;
    }
    assert_true(fabs(sum / 1e5 / 2e6 - 1) < 0.02);
    assert_true(fabs(over_mean / 1e5 - exp(-1)) < 0.01);
    gap.kind = GAP_UNIFORM;
    for (int i = 0; i < 1000; i++) {
        double g = arrivals_draw(&gap, &r);
        assert_true(g >= 1e6 && g < 3e6);
    }
    assert_true(arrivals_longest(&gap) == 3e6);
    gap.kind = GAP_FIXED;
    assert_true(arrivals_draw(&gap, &r) == 2e6);
    assert_true(arrivals_longest(&gap) == 2e6);
}

static void keep_deadline(void *context, const char *contender, const char *stage, double seconds)
{
    (void)contender, (void)stage;
    *(double *)context = seconds;
}

/* With one launch in a minute every contender would be called hung. */
static void waiting_for_a_launch_is_no_hang(void **state)
{
    double seconds = 0;
    (void)state;
    fixture_open(&f, 1);
    f.bench.report = keep_deadline;
    f.bench.report_context = &seconds;
    f.config.gap = (struct gap_config){GAP_FIXED, 60e9};
    bench_stage(&f.bench, NULL, "measure", 30);
    assert_true(seconds >= 30 && seconds < 30.1);
    f.bench.mode = MODE_SERVER;
    bench_stage(&f.bench, NULL, "measure", 30);
    assert_true(seconds >= 90 && seconds < 90.1);
    f.bench.mode = MODE_OFFLINE;
    f.bench.problem.m = f.bench.problem.n = f.bench.problem.k = 65536; /* nor is what takes long by its size */
    bench_stage(&f.bench, &f.bench.entrants[0], "verify", 30);
    assert_true(seconds > 300);
    fixture_close(&f);
}

static void offline_device_time_is_the_work_alone(void **state)
{
    (void)state;
    fixture_open(&f, 3);
    run_loop(3);
    const struct cell_record *r = f.bench.record;
    for (size_t i = 0; i < 3; i++) {
        const struct series *s = &r->contenders[i].timings[TIMING_DEVICE];
        assert_int_equal(s->n, r->blocks);
        for (size_t j = 0; j < s->n; j++)
            assert_true(fabs(s->ns[j] - 1000.0 * (double)(i + 1)) < 1e-3);
        /* Event and wall see the 3 us launch and, for wall, the 2 us synchronise as well. */
        assert_true(r->contenders[i].timings[TIMING_EVENT].ns[0] >= s->ns[0]);
        assert_true(r->contenders[i].timings[TIMING_WALL].ns[0] >= s->ns[0] + 5000 - 1e-3);
    }
    assert_true(r->converged);
    assert_int_equal(r->blocks, 16);
    assert_int_equal(r->groups, 4);
    fixture_close(&f);
}

static void other_timings_come_every_fourth_block(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    run_loop(2);
    const struct series *s = &f.bench.record->contenders[1].timings[TIMING_WALL];
    assert_int_equal(s->n, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(s->block[i], 4 * i);
    fixture_close(&f);
}

static void every_block_has_everyone_once(void **state)
{
    (void)state;
    fixture_open(&f, 4);
    run_loop(4);
    const struct cell_record *r = f.bench.record;
    int first[4] = {0};
    for (unsigned b = 0; b < r->blocks; b++) {
        int seen[4] = {0};
        for (int i = 0; i < 4; i++)
            seen[r->order[b][i] - '0']++;
        for (int i = 0; i < 4; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(r->group_of[b], b / 4);
        first[r->order[b][0] - '0']++;
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(first[i], r->blocks / 4);
    fixture_close(&f);
}

static void server_waits_before_each_launch(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    f.idle_penalty_ns = 5000;
    run_loop(2);
    const struct cell_record *r = f.bench.record;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(r->contenders[i].gaps.n, r->blocks);
        for (unsigned b = 0; b < r->blocks; b++) {
            assert_true(r->contenders[i].gaps.ns[b] >= 2e6);
            assert_true(r->contenders[i].timings[TIMING_DEVICE].ns[b] >= 1000.0 * (double)(i + 1) + 5000 - 1e-6);
        }
    }
    fixture_close(&f);
}

/* One launch by itself would find its set in the cache: that is emptied, and no launch of the contender's own comes
 * ahead that could bring it back. */
static void a_rotated_launch_by_itself_finds_the_cache_emptied(void **state)
{
    static const enum timing timings[] = {TIMING_DEVICE, TIMING_EVENT};
    struct error err;
    double gap_ns = 2e6, ns = 0;
    (void)state;
    fixture_open(&f, 1);
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    f.config.cache[MODE_SERVER] = CACHE_ROTATE;
    f.bench.sets_each = f.bench.n_sets = f.bench.entrants[0].n_sets = 3;
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
    for (size_t i = 0; i < sizeof timings / sizeof *timings; i++) {
        unsigned before = f.actors[0].launches;
        uint64_t flushes = fake_counts(f.device).flushes;
        assert_int_equal(segment_time(&f.bench, e, timings[i], &gap_ns, &ns, &err), 0);
        assert_int_equal(f.actors[0].launches - before, 1);
        assert_int_equal(fake_counts(f.device).flushes - flushes, 1);
    }
    fixture_close(&f);
}

/* As in the paper's loop: nothing runs between two timed launches, and nothing is emptied, though all have the same
 * matrices and blocks are on; the warm state launches once untimed, or empties the cache. */
static void what_the_rival_left_stays(void **state)
{
    static const struct {
        enum cache_state cache;
        bool shared;
        unsigned launches, flushes;
    } cases[] = {
        {CACHE_LEFT, false, 1, 0}, {CACHE_LEFT, true, 1, 0}, {CACHE_WARM, false, 2, 0}, {CACHE_WARM, true, 2, 1}};
    struct error err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double gap_ns = -1, ns = 0;
        fixture_open(&f, 1);
        f.config.cache[MODE_OFFLINE] = cases[i].cache;
        fixture_start(&f);
        struct entrant *e = &f.bench.entrants[0];
        assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
        f.bench.shared_sets = cases[i].shared;
        f.bench.in_blocks = true;
        unsigned launches = f.actors[0].launches;
        uint64_t flushes = fake_counts(f.device).flushes;
        assert_int_equal(segment_time(&f.bench, e, TIMING_EVENT, &gap_ns, &ns, &err), 0);
        assert_int_equal(f.actors[0].launches - launches, cases[i].launches);
        assert_int_equal(fake_counts(f.device).flushes - flushes, cases[i].flushes);
        fixture_close(&f);
    }
}

/* Two contenders alike, under noise that no interval narrows in. */
static void open_noisy(void)
{
    struct random r;
    fixture_open(&f, 2);
    random_seed(&r, 9);
    for (size_t i = 0; i < 1024; i++)
        f.noise[i] = 1 + 2 * random_unit(&r);
    f.actors[0].duration_ns = f.actors[1].duration_ns = 300e3;
}

/* Hot in the fourth group alone, after which the cell would have stopped. */
static int heat_the_fourth_group(struct bench *bench, struct error *err)
{
    const struct device_health health = {.known = true, .slowdown = bench->record->blocks / 4 == 3};
    (void)err;
    fake_set_health(bench->device, &health);
    return 0;
}

static void a_group_that_was_slowed_decides_nothing(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.bench.between_blocks = heat_the_fourth_group;
    run_loop(2);
    assert_true(f.bench.record->converged);
    assert_int_equal(f.bench.record->dropped_blocks, 4);
    assert_int_equal(f.bench.record->blocks, 20);
    fixture_close(&f);
}

static void noise_is_capped_not_converged(void **state)
{
    (void)state;
    open_noisy();
    run_loop(2);
    assert_false(f.bench.record->converged);
    assert_int_equal(f.bench.record->blocks, 64);
    assert_true(f.bench.record->worst_half_width > 0.005);
    fixture_close(&f);
}

/* The same noise under a cap that it would still be too wide at: no time is spent on it after the first look. */
static void noise_without_hope_ends_early(void **state)
{
    (void)state;
    for (int hopeless = 0; hopeless < 2; hopeless++) {
        open_noisy();
        f.config.stop.max_cell_seconds[MODE_OFFLINE] = 0.5;
        f.config.stop.hopeless_share = hopeless ? 0.001 : 0;
        run_loop(2);
        assert_false(f.bench.record->converged);
        assert_int_equal(f.bench.record->blocks, hopeless ? 16 : 64);
        assert_true(f.bench.record->worst_half_width > 0.005);
        fixture_close(&f);
    }
}

static void run_out_of_time(double cell_seconds)
{
    fixture_open(&f, 2);
    f.config.stop.max_cell_seconds[MODE_OFFLINE] = cell_seconds;
    f.config.stop.group_blocks = 2;
    for (size_t i = 0; i < 1024; i++)
        f.noise[i] = 1 + 0.001 * (double)(i % 7);
    run_loop(2);
}

/* Time runs out before the first look: the record still says how wide the interval is. */
static void a_cell_out_of_time_knows_its_width(void **state)
{
    (void)state;
    run_out_of_time(1e-6);
    assert_int_equal(f.bench.record->blocks, 2);
    assert_false(f.bench.record->converged);
    assert_true(isinf(f.bench.record->worst_half_width)); /* one group has no interval */
    fixture_close(&f);
    run_out_of_time(4e-3);
    assert_in_range(f.bench.record->blocks, 4, 15); /* fewer than the first look wants */
    assert_false(f.bench.record->converged);
    assert_true(f.bench.record->worst_half_width > 0 && f.bench.record->worst_half_width < 0.1);
    fixture_close(&f);
}

/* However little time there is. */
static void a_cell_out_of_time_gets_its_least(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.config.stop.max_cell_seconds[MODE_OFFLINE] = 1e-6;
    f.config.stop.group_blocks = 1;
    f.config.stop.least_blocks = 5;
    run_loop(2);
    assert_int_equal(f.bench.record->blocks, 5);
    assert_false(f.bench.record->converged);
    fixture_close(&f);
}

/* More than the first look at its intervals needs, too, but nothing once it has converged. */
static void what_has_not_converged_gets_more_than_the_first_look(void **state)
{
    const double widths[] = {1e-9, 0.9};
    const unsigned blocks[] = {13, 4};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        fixture_open(&f, 2);
        f.config.stop.max_cell_seconds[MODE_OFFLINE] = 1e-6;
        f.config.stop.group_blocks = 1;
        f.config.stop.min_blocks = 4;
        f.config.stop.look_every = 2;
        f.config.stop.delta[MODE_OFFLINE] = widths[i];
        f.config.stop.least_blocks = 13;
        for (size_t j = 0; j < 1024; j++)
            f.noise[j] = 1 + 0.001 * (double)(j % 7);
        run_loop(2);
        assert_int_equal(f.bench.record->blocks, blocks[i]);
        fixture_close(&f);
    }
}

/* Gaps fill the time there; without a cap of its own the common one holds. */
static void server_mode_has_a_cap_of_its_own(void **state)
{
    const double caps[][MODE_COUNT] = {{60, 1e-6}, {1e-6, 0}, {1e-6, 60}};
    (void)state;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        fixture_open(&f, 2);
        f.bench.mode = MODE_SERVER;
        memcpy(f.config.stop.max_cell_seconds, caps[i], sizeof caps[i]);
        f.config.stop.group_blocks = 1;
        f.config.stop.least_blocks = 5;
        run_loop(2);
        assert_true((f.bench.record->blocks == 5) == (i < 2));
        fixture_close(&f);
    }
}

/* In every group's record, though only the first group had to find it out. */
static void a_lower_rung_has_its_reason(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.contenders[1].is.flags = CUDAL2_SYNCS;
    run_loop(2);
    const struct cell_record *r = f.bench.record;
    assert_true(r->groups > 1);
    assert_string_equal(r->contenders[0].rung, "graph");
    assert_string_equal(r->contenders[0].rung_reason, "");
    assert_string_equal(r->contenders[1].rung, "events");
    assert_true(strlen(r->contenders[1].rung_reason) > 0);
    fixture_close(&f);
}

static void faulty_launch_leaves_others_running(void **state)
{
    (void)state;
    fixture_open(&f, 3);
    f.actors[1].fail_launches_from = 300;
    run_loop(3);
    const struct cell_record *r = f.bench.record;
    assert_string_equal(record_verdict(&r->contenders[1]), "launch_error");
    assert_non_null(strstr(r->contenders[1].reason, "launch refused on purpose"));
    assert_int_equal(r->contenders[0].timings[TIMING_DEVICE].n, r->blocks);
    assert_int_equal(r->contenders[2].timings[TIMING_DEVICE].n, r->blocks);
    fixture_close(&f);
}

static void implausible_speed_is_refused(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.device->info.peak_flops = 2.0 * 8 * 8 * 16 / 1500e-9; /* the floor is 1500 ns: contender a claims 1000 */
    run_loop(2);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    fixture_close(&f);
}

/* The rate of the problem's own dtype counts; what is not told apart is held against the other. */
static void the_floor_is_of_the_dtype(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    f.device->info.peak_flops = 2.0 * 8 * 8 * 16 / 500e-9;
    f.device->info.peak_flops_f32 = 2.0 * 8 * 8 * 16 / 1500e-9;
    f.bench.problem.dtype = CUDAL2_F32;
    assert_false(bench_is_plausible(&f.bench, 1000));
    f.bench.problem.dtype = CUDAL2_F16;
    assert_true(bench_is_plausible(&f.bench, 1000));
    assert_false(bench_is_plausible(&f.bench, 499));
    fixture_close(&f);
}

/* A and B come from memory where caches are flushed, and only there. */
static void flushed_traffic_is_a_floor(void **state)
{
    (void)state;
    fixture_open(&f, 2);
    double inputs = (8 + 8) * 16.0 * (double)dtype_bytes(f.bench.problem.dtype);
    f.device->info.peak_bytes_per_s = inputs / 3000e-9; /* half of them take 1500 ns */
    f.config.cache[MODE_OFFLINE] = CACHE_WARM;
    assert_true(bench_is_plausible(&f.bench, 1000));
    f.config.cache[MODE_OFFLINE] = CACHE_FLUSH;
    assert_false(bench_is_plausible(&f.bench, 1000));
    assert_true(bench_is_plausible(&f.bench, 1501));
    fixture_close(&f);
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    fixture_open(&f, 3);
    size_t before = fake_bytes_in_use(f.device);
    run_loop(3);
    for (size_t i = 0; i < 3; i++) {
        entrant_teardown(&f.bench, &f.bench.entrants[i]);
        assert_int_equal(f.actors[i].setups, f.actors[i].teardowns);
        assert_int_equal(f.actors[i].setups, f.bench.record->groups);
    }
    f.device->ops->release_segment(f.device, f.bench.null_segment);
    f.bench.null_segment = NULL;
    assert_int_equal(fake_counts(f.device).live_segments, 0);
    bench_release_operands(&f.bench);
    assert_int_equal(fake_bytes_in_use(f.device), before);
    fixture_close(&f);
}

static void lost_device_ends_the_worker(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    fixture_start(&f);
    fake_break(f.device, "sticky error 719");
    assert_int_equal(cell_loop_run(&f.bench, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "sticky error 719"));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segment_length_follows_fastest),
        cmocka_unit_test(gaps_have_their_distribution),
        cmocka_unit_test(waiting_for_a_launch_is_no_hang),
        cmocka_unit_test(offline_device_time_is_the_work_alone),
        cmocka_unit_test(other_timings_come_every_fourth_block),
        cmocka_unit_test(every_block_has_everyone_once),
        cmocka_unit_test(server_waits_before_each_launch),
        cmocka_unit_test(a_rotated_launch_by_itself_finds_the_cache_emptied),
        cmocka_unit_test(what_the_rival_left_stays),
        cmocka_unit_test(a_group_that_was_slowed_decides_nothing),
        cmocka_unit_test(noise_is_capped_not_converged),
        cmocka_unit_test(noise_without_hope_ends_early),
        cmocka_unit_test(a_cell_out_of_time_knows_its_width),
        cmocka_unit_test(a_cell_out_of_time_gets_its_least),
        cmocka_unit_test(what_has_not_converged_gets_more_than_the_first_look),
        cmocka_unit_test(server_mode_has_a_cap_of_its_own),
        cmocka_unit_test(a_lower_rung_has_its_reason),
        cmocka_unit_test(faulty_launch_leaves_others_running),
        cmocka_unit_test(implausible_speed_is_refused),
        cmocka_unit_test(the_floor_is_of_the_dtype),
        cmocka_unit_test(flushed_traffic_is_a_floor),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(lost_device_ends_the_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
