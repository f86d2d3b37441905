/* measure/stop: scripted series that converge, do not, or pretend to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/random.h"
#include "measure/stop.h"
#include "record_fixture.h"

static const struct stop_config config = {
    .min_blocks = 32, .look_every = 8, .max_blocks = 96, .group_blocks = 8, .delta = {0.005, 0.02}};

/* Time of contender `which` in a block, ns. */
typedef double (*script)(unsigned which, unsigned block, struct random *random);

/* Adds blocks and asks after each until a decision falls; *looks counts when worst_half_width changed. */
static enum stop_decision run(struct cell_record *r, script time, unsigned *looks)
{
    struct random random;
    enum stop_decision decision = STOP_CONTINUE;
    random_seed(&random, 5);
    r->worst_half_width = -1;
    while (decision == STOP_CONTINUE && r->blocks < 200) {
        unsigned block = fixture_block(r, config.group_blocks);
        for (unsigned i = 0; i < r->n_contenders; i++)
            if (r->contenders[i].verdict == VERDICT_OK)
                series_add(&r->contenders[i].timings[r->headline], block, time(i, block, &random));
        double before = r->worst_half_width;
        decision = stop_decide(&config, r);
        *looks += r->worst_half_width != before;
    }
    return decision;
}

static struct cell_record *pair_of(enum mode mode)
{
    struct cell_record *r = fixture_record(64, mode);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cudal2-nn", true);
    return r;
}

static double quiet(unsigned which, unsigned block, struct random *random)
{
    (void)block;
    return (which ? 900 : 1000) * (1 + 0.002 * random_unit(random));
}

static double loud(unsigned which, unsigned block, struct random *random)
{
    (void)which;
    (void)block;
    return 1000 * (1 + 0.5 * random_unit(random));
}

/* Both drift together by a factor of two: the ratio does not. */
static double drifting_together(unsigned which, unsigned block, struct random *random)
{
    return quiet(which, block, random) * (1 + block / 100.0);
}

/* The ratio itself wanders slowly. Taking blocks as independent would promise 0.2% after 32 of them; between the groups
 * the ratio moves by ten times that. */
static double wandering(unsigned which, unsigned block, struct random *random)
{
    (void)random;
    return which ? 1000 : 1000 * (1 + 0.02 * sin(block / 32.0));
}

static double third_is_loud(unsigned which, unsigned block, struct random *random)
{
    return which == 2 ? loud(which, block, random) : quiet(which, block, random);
}

static void converges_at_the_first_look(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    assert_int_equal(run(r, quiet, &looks), STOP_CONVERGED);
    assert_int_equal(r->blocks, 32);
    assert_int_equal(looks, 1);
    assert_true(r->converged);
    assert_true(r->worst_half_width > 0 && r->worst_half_width <= 0.005);
    assert_string_equal(r->worst_pair, "cudal2-nn / cublas-nn");
    record_free(r);
}

static void common_drift_cancels(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    assert_int_equal(run(r, drifting_together, &looks), STOP_CONVERGED);
    assert_int_equal(r->blocks, 32);
    record_free(r);
}

static void gives_up_at_the_cap(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    assert_int_equal(run(r, loud, &looks), STOP_CAPPED);
    assert_int_equal(r->blocks, 96);
    assert_int_equal(looks, 9); /* 32, 40, ..., 96 */
    assert_false(r->converged);
    assert_true(r->worst_half_width > 0.005);
    record_free(r);
}

/* Intervals narrow with the square root of the time: 2% after a quarter of the cap becomes 1%. */
static void hope_ends_by_the_square_root(void **state)
{
    struct stop_config s = {.delta = {0.005, 0.02}, .max_cell_seconds = {4, 16}, .hopeless_share = 0.25};
    struct cell_record *r = record_new();
    (void)state;
    assert_non_null(r);
    r->worst_half_width = 0.0126; /* 0.0063 at the cap, 1.26 times what is wanted */
    r->blocks = 9;                /* of so few none is dropped, and with one more the interval narrows at once */
    assert_false(stop_is_hopeless(&s, r, 1.99));
    assert_true(stop_is_hopeless(&s, r, 2));
    r->blocks = 10;
    assert_true(stop_is_hopeless(&s, r, 1));
    assert_false(stop_is_hopeless(&s, r, 0.99)); /* too early to tell */
    assert_false(stop_is_hopeless(&s, r, 4));    /* the cap's own business */
    r->worst_half_width = 0.0124;
    assert_false(stop_is_hopeless(&s, r, 1));
    assert_true(stop_is_hopeless(&s, r, 2)); /* as wide after twice the time */
    r->worst_half_width = INFINITY;
    assert_true(stop_is_hopeless(&s, r, 1));
    r->worst_half_width = NAN; /* nothing to compare */
    assert_false(stop_is_hopeless(&s, r, 1));
    r->worst_half_width = 0.0126;
    s.hopeless_within[MODE_SERVER] = 2;
    assert_true(stop_is_hopeless(&s, r, 1)); /* another mode's */
    s.hopeless_within[MODE_OFFLINE] = 2;
    assert_false(stop_is_hopeless(&s, r, 1));
    s.hopeless_within[MODE_SERVER] = 0;
    r->worst_half_width = 0.0504;
    r->mode = MODE_SERVER;
    assert_true(stop_is_hopeless(&s, r, 4));
    assert_false(stop_is_hopeless(&s, r, 3.9));
    s.hopeless_within[MODE_SERVER] = 2.5;
    assert_false(stop_is_hopeless(&s, r, 4)); /* over 5%: not left at that */
    s.hopeless_within[MODE_SERVER] = 2.6;
    assert_true(stop_is_hopeless(&s, r, 4));
    s.hopeless_share = 0;
    assert_false(stop_is_hopeless(&s, r, 4));
    record_free(r);
}

static void a_wandering_ratio_is_not_stopped_early(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    run(r, wandering, &looks);
    assert_true(r->blocks > 40);
    record_free(r);
}

static void server_mode_has_its_own_delta(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_SERVER);
    (void)state;
    assert_int_equal(run(r, wandering, &looks), STOP_CONVERGED);
    assert_int_equal(r->blocks, 32);
    record_free(r);
}

static void every_pair_counts(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    fixture_contender(r, "cublas-tn", false);
    assert_int_equal(run(r, third_is_loud, &looks), STOP_CAPPED);
    assert_string_equal(r->worst_pair, "cudal2-nn / cublas-tn");
    record_free(r);
}

static void a_failed_contender_does_not_hold_the_cell(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    fixture_fail(fixture_contender(r, "cublas-tn", false), "crash", "signal 11");
    assert_int_equal(run(r, third_is_loud, &looks), STOP_CONVERGED);
    record_free(r);
}

static void a_copy_is_held_against_its_original(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    strcpy(fixture_contender(r, "cudal2-nn#2", true)->copy_of, "cudal2-nn");
    assert_int_equal(run(r, third_is_loud, &looks), STOP_CAPPED);
    assert_string_equal(r->worst_pair, "cudal2-nn#2 / cudal2-nn");
    record_free(r);
}

static void baselines_alone_are_held_against_the_first(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    (void)state;
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    assert_int_equal(run(r, third_is_loud, &looks), STOP_CAPPED);
    assert_string_equal(r->worst_pair, "torch.matmul / cublas-tn");
    record_free(r);
}

static void nothing_to_compare_ends_at_the_minimum(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    (void)state;
    fixture_contender(r, "torch.matmul", false);
    assert_int_equal(run(r, loud, &looks), STOP_INCOMPARABLE);
    assert_int_equal(r->blocks, 32);
    assert_false(r->converged);
    assert_true(isnan(r->worst_half_width));
    assert_string_equal(r->worst_pair, "");
    record_free(r);
}

/* Different rungs of the ladder hold different things: that pair can never converge and is not waited for. */
static void another_rung_is_not_waited_for(void **state)
{
    unsigned looks = 0;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    (void)state;
    strcpy(fixture_contender(r, "cublas-tn", false)->rung, "events");
    assert_int_equal(run(r, third_is_loud, &looks), STOP_CONVERGED);
    record_free(r);
}

/* One group of the four was throttled: a fifth takes its place, and the interval is that of four others. */
static void throttled_groups_do_not_count(void **state)
{
    unsigned looks = 0;
    struct cell_record *whole = pair_of(MODE_SERVER);
    struct cell_record *r = pair_of(MODE_SERVER);
    (void)state;
    fixture_slowdown(r, 7);
    run(whole, quiet, &looks);
    run(r, quiet, &looks);
    assert_true(r->worst_half_width != whole->worst_half_width);
    assert_int_equal(whole->blocks, 32);
    assert_int_equal(r->blocks, 40);
    assert_true(r->converged);
    record_free(r);
    record_free(whole);
}

/* Loud on average 1.25 times what it is given. */
static double noisy(double ns, struct random *random)
{
    return ns * (1 + 0.5 * random_unit(random));
}

static double third_is_slow_and_loud(unsigned which, unsigned block, struct random *random)
{
    return which == 2 ? noisy(1100, random) : quiet(which, block, random);
}

static double third_is_fast_and_loud(unsigned which, unsigned block, struct random *random)
{
    return which == 2 ? noisy(500, random) : quiet(which, block, random);
}

static double fourth_is_loud(unsigned which, unsigned block, struct random *random)
{
    return which == 2   ? 1.2 * quiet(which, block, random)
           : which == 3 ? noisy(400, random)
                        : quiet(which, block, random);
}

static void assert_ends(struct cell_record *r, script time, enum stop_decision decision, const char *worst)
{
    unsigned looks = 0;
    assert_int_equal(run(r, time, &looks), decision);
    assert_string_equal(r->worst_pair, worst);
    record_free(r);
}

/* Tables speak of the faster layout. */
static void the_slower_layout_is_not_waited_for(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "cudal2-tn", true);
    assert_ends(r, third_is_slow_and_loud, STOP_CONVERGED, "cudal2-nn / cublas-nn");
    r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "cudal2-tn", true);
    assert_ends(r, third_is_fast_and_loud, STOP_CAPPED, "cudal2-tn / cublas-nn");
}

/* The third has two speeds, by group: slower than the second by its median, faster on one half of the groups. */
static double third_has_two_speeds(unsigned which, unsigned block, struct random *random)
{
    double speeds = block / config.group_blocks % 2 == 0 ? 800 : 1300;
    return which == 2 ? speeds : quiet(which, block, random);
}

/* -max takes the third's slow blocks, for it was the faster on the others: an interval that the faster layout has not.
 */
static void what_tables_show_is_waited_for(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "cudal2-tn", true);
    assert_ends(r, third_has_two_speeds, STOP_CAPPED, "cudal2-max / cublas-nn");
    r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "mine-tn", false); /* a baseline's -max is a reference, and its one layout as wide */
    assert_ends(r, third_has_two_speeds, STOP_CAPPED, "cudal2-nn / mine-tn");
}

static void families_are_judged_apart(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "mine-tn", true);
    assert_ends(r, third_is_slow_and_loud, STOP_CAPPED, "mine-tn / cublas-nn");
}

/* A baseline's slower layout is a reference like any other. */
static void both_layouts_of_a_baseline_count(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "cublas-tn", false);
    assert_ends(r, third_is_slow_and_loud, STOP_CAPPED, "cudal2-nn / cublas-tn");
}

/* The slower layout's copy shows what the program adds, and a copy that happens to be faster is no other layout. */
static void copies_count_whatever_the_layout(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, "cudal2-tn", true);
    strcpy(fixture_contender(r, "cudal2-tn+copy", true)->copy_of, "cudal2-tn");
    assert_ends(r, fourth_is_loud, STOP_CAPPED, "cudal2-tn+copy / cudal2-tn");
    r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cudal2-nn", true);
    struct contender_record *copy = fixture_contender(r, "cudal2-nn+copy", true);
    strcpy(copy->copy_of, "cudal2-nn");
    strcpy(copy->family, "cudal2");
    fixture_contender(r, "cublas-nn", false);
    /* the copy reads 10% less than the original, the baseline is loud */
    assert_ends(r, third_is_slow_and_loud, STOP_CAPPED, "cudal2-nn / cublas-nn");
}

/* A faster layout that is out, or whose times hold other things, is no reason to let go of the slower one. */
static void only_a_comparable_layout_takes_its_place(void **state)
{
    (void)state;
    struct cell_record *r = pair_of(MODE_OFFLINE);
    struct contender_record *gone = fixture_contender(r, "cudal2-tn", true);
    series_add(&gone->timings[r->headline], 0, 400); /* it was faster while it was there */
    fixture_fail(gone, "wrong_result", "C[3][4]");
    assert_ends(r, third_is_fast_and_loud, STOP_CONVERGED, "cudal2-nn / cublas-nn");
    r = pair_of(MODE_OFFLINE);
    strcpy(fixture_contender(r, "cudal2-tn", true)->rung, "events");
    assert_ends(r, third_is_fast_and_loud, STOP_CONVERGED, "cudal2-nn / cublas-nn");
}

/* ---- baselines that decide ---- */

static void assert_ends_near(struct cell_record *r, double near, script time, enum stop_decision decision)
{
    struct stop_config s = config;
    struct random random;
    enum stop_decision got = STOP_CONTINUE;
    s.near_baselines = near;
    random_seed(&random, 5);
    while (got == STOP_CONTINUE && r->blocks < 200) {
        unsigned block = fixture_block(r, config.group_blocks);
        for (unsigned i = 0; i < r->n_contenders; i++)
            series_add(&r->contenders[i].timings[r->headline], block, time(i, block, &random));
        got = stop_decide(&s, r);
    }
    assert_int_equal(got, decision);
    record_free(r);
}

static double third_is_far_and_loud(unsigned which, unsigned block, struct random *random)
{
    return which == 2 ? noisy(1200, random) : quiet(which, block, random); /* 1.5 times the fastest, the least 1.2 */
}

static struct cell_record *pair_and(const char *name, bool candidate)
{
    struct cell_record *r = pair_of(MODE_OFFLINE);
    fixture_contender(r, name, candidate);
    return r;
}

/* Far is what is far behind the fastest baseline, whatever the candidate takes. */
static void a_far_baseline_is_not_waited_for(void **state)
{
    (void)state;
    assert_ends_near(pair_and("torch.matmul", false), 1.05, third_is_far_and_loud, STOP_CONVERGED);
    assert_ends_near(pair_and("cublas-tn", false), 1.05, third_is_far_and_loud, STOP_CONVERGED);
    assert_ends_near(pair_and("torch.matmul", false), 2, third_is_far_and_loud, STOP_CAPPED);
    assert_ends_near(pair_and("torch.matmul", false), 0, third_is_far_and_loud, STOP_CAPPED);
    assert_ends_near(pair_and("torch.matmul", false), 1.05, third_is_fast_and_loud, STOP_CAPPED);
}

/* A layout of two speeds makes -max wide, and both are far. */
static double third_and_fourth_are_far(unsigned which, unsigned block, struct random *random)
{
    double speeds = block / config.group_blocks % 2 == which % 2 ? 1300 : 1900;
    return which >= 2 ? speeds : quiet(which, block, random);
}

static void the_max_of_a_far_family_is_not_waited_for(void **state)
{
    (void)state;
    for (int far = 0; far < 2; far++) {
        struct cell_record *r = pair_and("mine-nn", false);
        fixture_contender(r, "mine-tn", false);
        assert_ends_near(r, far ? 1.05 : 0, third_and_fourth_are_far, far ? STOP_CONVERGED : STOP_CAPPED);
    }
}

/* One that no candidate can be compared with says nothing of who is far. */
static void the_fastest_is_one_that_is_compared(void **state)
{
    (void)state;
    struct cell_record *r = pair_and("torch.matmul", false);
    strcpy(r->contenders[2].rung, "events");
    assert_ends_near(r, 1.05, third_is_fast_and_loud, STOP_CONVERGED);
    r = pair_and("torch.matmul", false);
    strcpy(r->contenders[0].rung, "events"); /* the quiet one, so the loud one decides */
    assert_ends_near(r, 1.05, third_is_far_and_loud, STOP_CAPPED);
}

/* Whatever is far, what the program adds must be known, and among baselines alone all count. */
static void copies_and_baselines_alone_count_as_ever(void **state)
{
    (void)state;
    struct cell_record *r = pair_and("cudal2-nn+copy", true);
    strcpy(r->contenders[2].copy_of, "cudal2-nn");
    assert_ends_near(r, 1.05, third_is_far_and_loud, STOP_CAPPED);
    r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "mine-nn", false);
    assert_ends_near(r, 1.05, third_is_far_and_loud, STOP_CAPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_at_the_first_look),
        cmocka_unit_test(common_drift_cancels),
        cmocka_unit_test(gives_up_at_the_cap),
        cmocka_unit_test(hope_ends_by_the_square_root),
        cmocka_unit_test(a_wandering_ratio_is_not_stopped_early),
        cmocka_unit_test(server_mode_has_its_own_delta),
        cmocka_unit_test(every_pair_counts),
        cmocka_unit_test(a_failed_contender_does_not_hold_the_cell),
        cmocka_unit_test(a_copy_is_held_against_its_original),
        cmocka_unit_test(baselines_alone_are_held_against_the_first),
        cmocka_unit_test(nothing_to_compare_ends_at_the_minimum),
        cmocka_unit_test(another_rung_is_not_waited_for),
        cmocka_unit_test(throttled_groups_do_not_count),
        cmocka_unit_test(the_slower_layout_is_not_waited_for),
        cmocka_unit_test(what_tables_show_is_waited_for),
        cmocka_unit_test(families_are_judged_apart),
        cmocka_unit_test(both_layouts_of_a_baseline_count),
        cmocka_unit_test(copies_count_whatever_the_layout),
        cmocka_unit_test(only_a_comparable_layout_takes_its_place),
        cmocka_unit_test(a_far_baseline_is_not_waited_for),
        cmocka_unit_test(the_max_of_a_far_family_is_not_waited_for),
        cmocka_unit_test(the_fastest_is_one_that_is_compared),
        cmocka_unit_test(copies_and_baselines_alone_count_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
