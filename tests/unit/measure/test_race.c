/* measure/race on the scripted clock: what a variant is launched before it leaves, and who wins. */
#include "measure/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "bench_fixture.h"

static struct fixture f;
static struct race_result result;

static void open_race_at(const double *ns, size_t n, unsigned visits)
{
    fixture_open(&f, 1);
    f.bench.visits = visits;
    f.bench.sets_each = f.bench.n_sets = f.bench.entrants[0].n_sets = visits;
    f.actors[0].n_variants = n;
    memcpy(f.actors[0].variant_ns, ns, n * sizeof *ns);
    fixture_start(&f);
}

static void open_race(const double *ns, size_t n)
{
    open_race_at(ns, n, 1);
}

static void race(void)
{
    struct error err;
    assert_int_equal(race_run(&f.bench, &f.bench.entrants[0], &result, &err), 0);
}

static void close_race(void)
{
    assert_int_equal(f.actors[0].setups, f.actors[0].teardowns);
    assert_int_equal(fake_counts(f.device).live_segments, 0);
    free(result.ranked);
    fixture_close(&f);
}

static double time_of(int variant)
{
    const cJSON *tuning = f.bench.record->contenders[0].tuning;
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(tuning, "race_ns"), variant)->valuedouble;
}

/* The scripted device launches once more where a segment is prepared. */
static void a_hopeless_long_one_is_launched_once(void **state)
{
    const double ns[] = {300e3, 600e3};
    (void)state;
    open_race(ns, 2);
    race();
    assert_int_equal(f.actors[0].launches, 2 + 1 + 2); /* the looks, one at the fastest again, the only one left */
    assert_string_equal(result.ranked[0].key, "v0");
    assert_int_equal(result.n, 2);
    assert_true(time_of(1) == 603e3); /* by events, that is with the launch */
    close_race();
}

/* The graph of a look is the one that its estimate times; who is left then has one for the heats. */
static void a_look_prepares_its_graph_once(void **state)
{
    const double ns[] = {10e3, 40e3};
    (void)state;
    for (unsigned visits = 1; visits <= 2; visits++) {
        open_race_at(ns, 2, visits);
        uint64_t before = fake_counts(f.device).prepares;
        race();
        assert_string_equal(result.ranked[0].key, "v0");
        assert_true(time_of(1) == 40e3);
        assert_int_equal(fake_counts(f.device).prepares - before, 2 + 1);
        close_race();
    }
}

static const struct device_ops *usual;
static unsigned set_up_by_then; /* when the device was waited for */

static int note_sync(struct device *d, struct error *err)
{
    set_up_by_then = f.actors[0].setups;
    return usual->sync(d, err);
}

/* Everybody is set up on new places while they are filled, and nothing is timed before that has ended. */
static void a_move_is_waited_for_in_the_end(void **state)
{
    const double ns[] = {10e3, 10.1e3};
    (void)state;
    open_race(ns, 2);
    uint64_t syncs = fake_counts(f.device).syncs, allocs = fake_counts(f.device).allocs;
    usual = f.device->ops;
    struct device_ops ops = *usual;
    ops.sync = note_sync;
    f.device->ops = &ops;
    race();
    f.device->ops = usual;
    assert_true(fake_counts(f.device).allocs > allocs); /* it has moved */
    assert_int_equal(fake_counts(f.device).syncs, syncs + 1);
    assert_int_equal(set_up_by_then, 2 + 2);
    close_race();
}

/* A library's list is to be had from the library, a candidate's from nowhere else. */
static void only_candidates_keys_are_told(void **state)
{
    const double ns[] = {20e3, 10e3};
    (void)state;
    for (int i = 0; i < 2; i++) {
        open_race(ns, 2);
        f.contenders[0].role = i == 0 ? ROLE_CANDIDATE : ROLE_BASELINE;
        race();
        const cJSON *told = cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].tuning, "keys");
        assert_int_equal(cJSON_GetArraySize(told), i == 0 ? 2 : 0);
        close_race();
    }
}

/* The library's own choice is in the final however far behind it is first seen. */
static void the_first_one_always_starts(void **state)
{
    const double ns[] = {600e3, 300e3, 600e3};
    (void)state;
    open_race(ns, 3);
    race();
    assert_string_equal(result.ranked[0].key, "v1");
    assert_true(time_of(0) == 600e3); /* of its segments, without the launch */
    assert_true(time_of(2) == 603e3); /* of the look after which it left */
    close_race();
}

static bool named;

static void look_for_tag(void *context, const char *contender, const char *stage, double seconds)
{
    char tag[VARIANT_TAG_MAX], wanted[64];
    (void)context, (void)contender, (void)seconds;
    variant_tag("v1", tag);
    snprintf(wanted, sizeof wanted, "tune:%s", tag);
    named |= strcmp(stage, wanted) == 0;
}

/* Who costs the worker there is a baseline's variant, not the baseline; a candidate answers for all of its own. */
static void stages_name_a_baselines_variant(void **state)
{
    const double ns[] = {20e3, 10e3};
    (void)state;
    for (int i = 0; i < 2; i++) {
        open_race(ns, 2);
        f.contenders[0].role = i == 0 ? ROLE_CANDIDATE : ROLE_BASELINE;
        f.bench.report = look_for_tag;
        named = false;
        race();
        assert_int_equal(named, i == 1);
        assert_false(f.bench.entrants[0].blame_variant); /* in blocks stages are short */
        f.bench.report = NULL;
        close_race();
    }
}

/* Looks are launches of the contender's as well: all three, the fastest again, and what is raced. */
static void looks_count_as_busy(void **state)
{
    const double ns[] = {300e3, 600e3, 900e3};
    (void)state;
    open_race(ns, 3);
    race();
    double looks = 303e3 + 603e3 + 903e3 + 303e3, raced = 300e3 * (f.actors[0].launches - 5);
    assert_true(fabs(f.bench.record->busy_seconds - 1e-9 * (looks + raced)) < 1e-9);
    close_race();
}

/* Of this race alone, whatever the cell spent before it. */
static void a_race_says_what_it_cost(void **state)
{
    const double ns[] = {300e3, 600e3, 900e3};
    (void)state;
    open_race(ns, 3);
    f.bench.record->busy_seconds = 5;
    race();
    const cJSON *tuning = f.bench.record->contenders[0].tuning;
    double busy = cJSON_GetObjectItemCaseSensitive(tuning, "busy_seconds")->valuedouble;
    double seconds = cJSON_GetObjectItemCaseSensitive(tuning, "seconds")->valuedouble;
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(tuning, "raced")->valueint, 3);
    assert_true(fabs(busy - (f.bench.record->busy_seconds - 5)) < 1e-6 && busy > 2e-3);
    assert_true(seconds >= busy - 1e-3 && seconds < 1);
    close_race();
}

static void rounds_end_with_the_rivals(void **state)
{
    const double ns[] = {300e3, 306e3, 330e3, 360e3};
    (void)state;
    open_race(ns, 4);
    for (int i = 0; i < 1024; i++)
        f.noise[i] = 1;
    race();
    /* v3 leaves after the heat, v2 after the first round of the final, v1 stays within 6% / sqrt(5). */
    assert_int_equal(f.actors[0].launches, 4 + 1 + 4 * 2 + 3 + 4 * 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(result.ranked[i].key[1], '0' + i);
    assert_true(time_of(1) == 306e3);
    close_race();
}

/* It would be over the cut by what its code takes to load. */
static void loading_is_not_launching(void **state)
{
    const double ns[] = {100e3, 90e3};
    (void)state;
    open_race(ns, 2);
    f.actors[0].variant_load_ns[1] = 1e6;
    race();
    assert_string_equal(result.ranked[0].key, "v1");
    assert_true(time_of(1) == 90e3);
    close_race();
}

/* A first launch at clocks that nobody keeps does not throw the others out. */
static void a_lucky_first_look_is_doubted(void **state)
{
    const double ns[] = {300e3, 285e3};
    (void)state;
    open_race(ns, 2);
    f.noise[0] = 0.7;
    race();
    assert_string_equal(result.ranked[0].key, "v1");
    close_race();
}

static void short_ones_are_timed_as_graphs(void **state)
{
    const double ns[] = {4000, 3900, 9000};
    (void)state;
    open_race(ns, 3);
    race();
    assert_string_equal(result.ranked[0].key, "v1");
    assert_true(time_of(0) == 4000 && time_of(2) == 9000); /* without the launch */
    close_race();
}

/* Where matrices lie can make a kernel 40% slower: one that is fast at the first place only must not win. */
static void a_lucky_place_does_not_win(void **state)
{
    const double ns[] = {20e3, 16e3};
    (void)state;
    for (unsigned visits = 1; visits <= 4; visits += 3) {
        open_race_at(ns, 2, visits);
        f.actors[0].variant_first_ns[0] = 14e3;
        race();
        assert_string_equal(result.ranked[0].key, visits == 1 ? "v0" : "v1");
        close_race();
    }
}

/* Some kernels take 1.4 times as long in half of all allocations. */
static void a_lucky_allocation_does_not_win(void **state)
{
    const double ns[] = {14e3, 14.3e3, 15.2e3};
    (void)state;
    open_race(ns, 3);
    f.actors[0].variant_moved_ns[0] = 20e3;
    race();
    assert_string_equal(result.ranked[0].key, "v1");
    assert_true(time_of(0) > 19.9e3 && time_of(0) < 20.1e3); /* heats count no more */
    assert_int_equal(f.actors[0].setups, 3 + 3);             /* once for each finalist and place */
    close_race();
}

/* Segments that are measured in a race of two that are 2% apart. */
static uint64_t measures_at(double fastest_ns)
{
    const double ns[] = {fastest_ns, 1.02 * fastest_ns};
    open_race(ns, 2);
    uint64_t before = fake_counts(f.device).measures;
    race();
    uint64_t measures = fake_counts(f.device).measures - before;
    close_race();
    return measures;
}

/* The rounds after a move decide: each finalist's new graph has been replayed once by then. */
static void short_ones_are_replayed_after_a_move(void **state)
{
    (void)state;
    assert_int_equal(measures_at(19e3), measures_at(21e3) + 2);
}

/* From 200 us on one launch is a segment, and what is moved is large. */
static void long_races_stay_where_they_are(void **state)
{
    const double ns[] = {210e3, 211e3};
    (void)state;
    open_race(ns, 2);
    f.actors[0].variant_moved_ns[0] = 300e3;
    race();
    assert_string_equal(result.ranked[0].key, "v0");
    assert_int_equal(f.actors[0].setups, 2);
    close_race();
}

/* At the power limit another one is faster than after gaps as the blocks have them, so much so that heats in a row
 * would have sent the winner home. */
static void long_races_rest_as_the_blocks_do(void **state)
{
    const double ns[] = {2300e3, 2700e3};
    (void)state;
    for (int server = 0; server < 2; server++) {
        open_race(ns, 2);
        f.config.gap = (struct gap_config){GAP_FIXED, 2e6};
        f.bench.mode = server ? MODE_SERVER : MODE_OFFLINE;
        f.actors[0].variant_rested_ns[0] = 2200e3;
        f.actors[0].variant_rested_ns[1] = 2100e3;
        race();
        assert_string_equal(result.ranked[0].key, server ? "v1" : "v0");
        assert_true(!server || time_of(1) == 2100e3);
        close_race();
    }
}

static void a_variant_that_cannot_be_set_up_again_leaves(void **state)
{
    const double ns[] = {14e3, 14.1e3, 14.2e3};
    (void)state;
    open_race(ns, 3);
    f.actors[0].refuse_setups_from = 5; /* the second finalist's, on the second places */
    race();
    assert_string_equal(result.ranked[0].key, "v0");
    assert_int_equal(result.n, 1);
    close_race();
}

static void a_failing_variant_leaves_the_others_racing(void **state)
{
    const double ns[] = {300e3, 310e3, 320e3};
    (void)state;
    for (int launch = 1; launch < 12; launch++) {
        open_race(ns, 3);
        f.actors[0].fail_launches_from = launch;
        race();
        assert_in_range(result.n, 0, 2); /* whoever is launched from there on is out */
        close_race();
    }
}

static double told(const char *key)
{
    const cJSON *tuning = f.bench.record->contenders[0].tuning;
    return cJSON_GetObjectItemCaseSensitive(tuning, key)->valuedouble;
}

/* The fastest stands last in the list: within little time nobody comes to it, and what was looked at still races. */
static void a_race_keeps_to_its_time(void **state)
{
    const double ns[] = {300e3, 302e3, 301e3, 303e3, 304e3, 305e3, 306e3, 290e3};
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        open_race(ns, 8);
        f.config.race_seconds = limited ? 3e-3 : 0;
        double before = (double)f.device->ops->now(f.device);
        race();
        double took = (double)f.device->ops->now(f.device) - before;
        assert_string_equal(result.ranked[0].key, limited ? "v0" : "v7");
        assert_true(told("variants") == 8);
        assert_true(limited ? told("raced") >= 3 && told("raced") < 8 : told("raced") == 8);
        assert_int_equal(result.n, told("raced"));
        assert_true(limited ? took < 2 * 3e6 : took > 2 * 3e6); /* a round that has begun ends */
        close_race();
    }
}

/* Of a first call what is left is for the race, which is all that it leaves: the next one has no limit of that kind. */
static void a_first_call_ends_its_race(void **state)
{
    const double ns[] = {300e3, 302e3, 301e3, 303e3, 304e3, 305e3, 306e3, 290e3};
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        open_race(ns, 8);
        f.actors[0].race_ns = limited ? 3e6 : 0;
        double before = (double)f.device->ops->now(f.device);
        race();
        double took = (double)f.device->ops->now(f.device) - before;
        assert_string_equal(result.ranked[0].key, limited ? "v0" : "v7");
        assert_true(limited ? told("raced") >= 3 && told("raced") < 8 : told("raced") == 8);
        assert_true(limited ? took < 2 * 3e6 : took > 2 * 3e6);
        assert_true(fabs(1e9 * told("whole_seconds") - took) < 1e6 && f.bench.race_until_ns == 0);
        bool counts = f.bench.entrants[0].contender->role == ROLE_CANDIDATE;
        assert_true(fabs(f.bench.choice_ns - (counts ? took : 0)) < 1);
        close_race();
    }
}

/* However little it is: the library's own choice. And the paper's rounds are what they are. */
static void no_time_leaves_the_first_one(void **state)
{
    const double ns[] = {300e3, 100e3};
    (void)state;
    for (int paper = 0; paper < 2; paper++) {
        open_race(ns, 2);
        f.config.race_seconds = 1e-9;
        f.config.protocol = paper ? PROTOCOL_PAPER : PROTOCOL_ADAPTIVE;
        race();
        assert_string_equal(result.ranked[0].key, paper ? "v1" : "v0");
        assert_true(told("raced") == (paper ? 2 : 1));
        close_race();
    }
}

/* A library whose list has nothing for a problem is not at fault. */
static void no_variant_for_a_problem_is_unsupported(void **state)
{
    static const struct {
        int status;
        enum verdict verdict;
    } cases[] = {{-CUDAL2_UNSUPPORTED, VERDICT_UNSUPPORTED}, {-CUDAL2_LIBRARY_ERROR, VERDICT_SETUP_ERROR}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_race((const double[]){1e4, 2e4}, 2);
        f.actors[0].variants_status = cases[i].status;
        race();
        assert_int_equal(f.bench.record->contenders[0].verdict, cases[i].verdict);
        assert_string_equal(f.bench.record->contenders[0].stage, "tune");
        close_race();
    }
}

/* Nor is one whose list has some, each of which says at its setup that it cannot do it. */
static void variants_that_all_refuse_are_unsupported(void **state)
{
    static const struct {
        int status;
        enum verdict verdict;
    } cases[] = {{CUDAL2_UNSUPPORTED, VERDICT_UNSUPPORTED}, {CUDAL2_LIBRARY_ERROR, VERDICT_SETUP_ERROR}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_race((const double[]){1e4, 2e4}, 2);
        f.actors[0].refuse_setups_from = 1;
        f.actors[0].refuse_status = cases[i].status;
        race();
        assert_int_equal(f.bench.record->contenders[0].verdict, cases[i].verdict);
        close_race();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hopeless_long_one_is_launched_once),
        cmocka_unit_test(a_look_prepares_its_graph_once),
        cmocka_unit_test(a_move_is_waited_for_in_the_end),
        cmocka_unit_test(only_candidates_keys_are_told),
        cmocka_unit_test(stages_name_a_baselines_variant),
        cmocka_unit_test(the_first_one_always_starts),
        cmocka_unit_test(looks_count_as_busy),
        cmocka_unit_test(a_race_says_what_it_cost),
        cmocka_unit_test(a_race_keeps_to_its_time),
        cmocka_unit_test(a_first_call_ends_its_race),
        cmocka_unit_test(no_time_leaves_the_first_one),
        cmocka_unit_test(rounds_end_with_the_rivals),
        cmocka_unit_test(loading_is_not_launching),
        cmocka_unit_test(a_lucky_first_look_is_doubted),
        cmocka_unit_test(short_ones_are_timed_as_graphs),
        cmocka_unit_test(a_lucky_place_does_not_win),
        cmocka_unit_test(a_lucky_allocation_does_not_win),
        cmocka_unit_test(short_ones_are_replayed_after_a_move),
        cmocka_unit_test(long_races_stay_where_they_are),
        cmocka_unit_test(long_races_rest_as_the_blocks_do),
        cmocka_unit_test(a_variant_that_cannot_be_set_up_again_leaves),
        cmocka_unit_test(a_failing_variant_leaves_the_others_racing),
        cmocka_unit_test(no_variant_for_a_problem_is_unsupported),
        cmocka_unit_test(variants_that_all_refuse_are_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
