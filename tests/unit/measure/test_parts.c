/* What a group costs beside its blocks, on the scripted clock: where a record says that measuring's time went. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "device/probe.h"
#include "measure/cell_loop.h"
#include "measure/room.h"

static struct fixture f;

static void parts_add_up_to_the_measuring(void **state)
{
    double start, sum = 0;
    (void)state;
    fixture_open(&f, 3);
    fixture_start(&f);
    start = (double)f.device->ops->now(f.device);
    struct error err;
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    for (int i = 0; i < PART_COUNT; i++) {
        assert_true(f.bench.record->part_seconds[i] >= 0);
        sum += f.bench.record->part_seconds[i];
    }
    assert_true(fabs(sum - 1e-9 * ((double)f.device->ops->now(f.device) - start)) < 1e-9);
    assert_true(f.bench.record->part_seconds[PART_HEADLINE] > 0);
    assert_true(f.bench.record->part_seconds[PART_OTHERS] > 0);
    assert_true(f.bench.record->part_seconds[PART_HEADLINE] < sum);
    fixture_close(&f);
}

static void run_loop(void)
{
    struct error err;
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
}

/* ---- what setups leave changed ---- */

static unsigned looked;             /* for changes */
static const struct actor *culprit; /* its later setups change the process */
static unsigned told;               /* of its setups that were told of */

static void look_for_changes(struct device *d, char what[128])
{
    (void)d;
    looked++;
    what[0] = '\0';
    if (culprit != NULL && culprit->setups > 1 && culprit->setups != told) {
        told = culprit->setups;
        strcpy(what, "a signal handler");
    }
}

static struct probe_ops watch_setups(size_t n)
{
    fixture_open(&f, n);
    struct probe_ops probes = *f.device->probes;
    probes.changes = look_for_changes;
    f.config.honesty = true;
    f.config.stop.min_blocks = f.config.stop.max_blocks = 4;
    f.config.stop.group_blocks = 1;
    looked = told = 0;
    culprit = NULL;
    return probes;
}

/* Contenders of a group are set up in a row: before the first, and behind each. */
static void changes_are_looked_for_once_between_two_setups(void **state)
{
    (void)state;
    const struct probe_ops probes = watch_setups(3);
    f.device->probes = &probes;
    run_loop();
    unsigned groups = f.bench.record->groups;
    assert_true(groups > 1);
    assert_int_equal(looked, 2 * 3 + (groups - 1) * (3 + 1)); /* by themselves before the first group */
    fixture_close(&f);
}

static void who_changes_the_process_is_found_in_a_row(void **state)
{
    (void)state;
    const struct probe_ops probes = watch_setups(3);
    f.device->probes = &probes;
    culprit = &f.actors[1];
    run_loop();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "device_state_changed");
    assert_string_equal(record_verdict(&f.bench.record->contenders[2]), "ok");
    fixture_close(&f);
}

/* ---- who is named while contenders are torn down ---- */

static char named[256]; /* those who came on the stage page, "-" for the harness */

static void note_name(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    size_t used = strlen(named);
    (void)context;
    (void)deadline_seconds;
    assert_string_equal(stage, "teardown");
    snprintf(named + used, sizeof named - used, "%s ", contender[0] ? contender : "-");
}

static void tear_all_down(void)
{
    named[0] = '\0';
    bench_teardown_all(&f.bench);
}

/* Each is left for the next one, so that what it has changed is looked for once, under its name; the last one, or one
 * alone, for the harness. */
static void who_is_torn_down_is_named_until_the_next(void **state)
{
    char expected[256];
    (void)state;
    fixture_open(&f, 3);
    fixture_start(&f);
    f.bench.report = note_name;
    const struct contender_record *r = f.bench.record->contenders;
    entrant_teardown(&f.bench, &f.bench.entrants[1]);
    snprintf(expected, sizeof expected, "%s - ", r[1].name);
    assert_string_equal(named, expected);
    tear_all_down();
    snprintf(expected, sizeof expected, "%.100s %.100s - ", r[0].name, r[2].name);
    assert_string_equal(named, expected);
    tear_all_down();
    assert_string_equal(named, ""); /* there was nobody */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(f.actors[i].setups, f.actors[i].teardowns);
    fixture_close(&f);
}

/* ---- what a look at the device's health costs ---- */

static unsigned warm_from; /* from this block on something slows it, which drops no block */

static int warm_up(struct bench *bench, struct error *err)
{
    const struct device_health health = {
        .known = true, .sm_clock_mhz = 1980, .throttle_reasons = bench->record->blocks > warm_from ? 4 : 0};
    (void)err;
    fake_set_health(bench->device, &health);
    return 0;
}

static void look_at_health(unsigned from)
{
    fixture_open(&f, 2);
    f.config.stop.min_blocks = f.config.stop.max_blocks = 12;
    f.config.stop.group_blocks = 1;
    f.bench.between_blocks = warm_up;
    warm_from = from;
    run_loop();
    assert_int_equal(f.bench.record->groups, 12);
}

/* Each group asks what slows the device, and all of the rest only when that has changed. */
static void health_is_asked_for_when_it_is_news(void **state)
{
    (void)state;
    look_at_health(100);
    assert_int_equal(fake_counts(f.device).healths, 1);
    assert_int_equal(fake_counts(f.device).throttles, 11);
    assert_int_equal(f.bench.record->n_health, 1);
    fixture_close(&f);
    look_at_health(5);
    assert_int_equal(fake_counts(f.device).healths, 2);
    assert_int_equal(fake_counts(f.device).throttles, 11);
    assert_int_equal(f.bench.record->n_health, 2);
    assert_int_equal(f.bench.record->health[1].block, 5);
    assert_int_equal(f.bench.record->health[1].health.sm_clock_mhz, 1980);
    fixture_close(&f);
}

/* Who slows a group down is asked for in every group: blocks are dropped for it (test_measure.c). */
static void a_slowed_device_is_news_each_time(void **state)
{
    const struct device_health hot = {.known = true, .slowdown = true, .throttle_reasons = 64};
    (void)state;
    fixture_open(&f, 2);
    f.config.stop.min_blocks = f.config.stop.max_blocks = 6;
    f.config.stop.group_blocks = 1;
    fake_set_health(f.device, &hot);
    run_loop();
    assert_int_equal(f.bench.record->n_health, 6);
    assert_int_equal(f.bench.record->dropped_blocks, 6);
    fixture_close(&f);
}

/* ---- what the empty kernel costs ---- */

/* Segments that a cell of 12 groups prepares. */
static uint64_t count_prepares(unsigned others_every)
{
    fixture_open(&f, 2);
    f.config.stop.min_blocks = f.config.stop.max_blocks = 12;
    f.config.stop.group_blocks = 1;
    f.config.other_timings_every = others_every;
    run_loop();
    assert_int_equal(f.bench.record->groups, 12);
    assert_int_equal(f.bench.record->null_graph.n, (11 + others_every) / others_every);
    uint64_t prepares = fake_counts(f.device).prepares;
    fixture_close(&f);
    return prepares;
}

/* It is captured where it is timed, not in every group. */
static void the_empty_kernel_is_prepared_where_it_is_timed(void **state)
{
    (void)state;
    uint64_t always = count_prepares(1);
    assert_int_equal(count_prepares(4), always - 12 + 3);
    assert_int_equal(count_prepares(12), always - 12 + 1);
}

/* ---- what places cost ---- */

enum { GROUPS = 24 };

static const void *places[GROUPS];
static unsigned arena_of[GROUPS], seen;

static int note_place(struct bench *bench, struct error *err)
{
    (void)err;
    assert_true(seen < GROUPS);
    arena_of[seen] = bench->arenas.at;
    places[seen++] = bench->operands->nn[0].a;
    return 0;
}

/* Allocations of a cell of GROUPS groups. */
static uint64_t count_allocations(unsigned most)
{
    struct error err;
    fixture_open(&f, 3);
    f.config.stop.min_blocks = f.config.stop.max_blocks = GROUPS;
    f.config.stop.group_blocks = 1;
    f.bench.arenas.most = most;
    f.bench.between_blocks = note_place;
    seen = 0;
    fixture_start(&f);
    bench_teardown_all(&f.bench);
    bench_release_operands(&f.bench);
    uint64_t before = fake_counts(f.device).allocs;
    assert_int_equal(bench_move(&f.bench, 1, &err), 0); /* as the worker's cell begins */
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_int_equal(f.bench.record->groups, GROUPS);
    assert_int_equal(seen, GROUPS);
    return fake_counts(f.device).allocs - before;
}

/* Where memory is dear to take a cell takes it four times, whatever its groups, and no two groups share a place. */
static void places_cost_four_allocations(void **state)
{
    (void)state;
    assert_int_equal(count_allocations(ARENAS_MOST), ARENAS_MOST);
    for (unsigned i = 0; i < GROUPS; i++)
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(places[i], places[j]);
    for (unsigned i = 1; i < GROUPS; i++)
        assert_int_not_equal(arena_of[i], arena_of[i - 1]);
    fixture_close(&f);
}

static void places_may_be_new_each_time(void **state)
{
    (void)state;
    assert_int_equal(count_allocations(1), GROUPS);
    fixture_close(&f);
}

/* What is kept counts against what the cell may hold. */
static void kept_places_take_room(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.bench.arenas.most = ARENAS_MOST;
    f.bench.memory_limit = 800u << 20;
    assert_int_equal(bench_move(&f.bench, 1, &err), 0);
    uint64_t one = f.bench.arenas.kept[0].bytes;
    f.bench.memory_held = one;
    assert_int_equal(bench_room(&f.bench), f.bench.memory_limit - one);
    assert_int_equal(bench_move(&f.bench, 2, &err), 0);
    assert_int_equal(f.bench.arenas.n, 2);
    assert_int_equal(bench_room(&f.bench), f.bench.memory_limit - 2 * one);
    f.bench.memory_limit = 9 * one; /* of which two are held: the rest is no eight */
    assert_int_equal(bench_move(&f.bench, 3, &err), 0);
    assert_int_equal(f.bench.arenas.n, 2);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_measuring),
        cmocka_unit_test(changes_are_looked_for_once_between_two_setups),
        cmocka_unit_test(who_changes_the_process_is_found_in_a_row),
        cmocka_unit_test(who_is_torn_down_is_named_until_the_next),
        cmocka_unit_test(health_is_asked_for_when_it_is_news),
        cmocka_unit_test(a_slowed_device_is_news_each_time),
        cmocka_unit_test(the_empty_kernel_is_prepared_where_it_is_timed),
        cmocka_unit_test(places_cost_four_allocations),
        cmocka_unit_test(places_may_be_new_each_time),
        cmocka_unit_test(kept_places_take_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
