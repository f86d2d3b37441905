/*
 * compare/judge by simulation: how often two runs of the same program raise an alarm, and how often a real loss does.
 *
 * A group value is ln(t_reference / t_candidate) of one cell in one run: the cell's own value, a run-to-run effect of
 * 0.4% that all its groups share, and noise between groups of 0.95%. With these numbers the plain rank test calls about
 * a fifth of a thousand unchanged cells changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "compare/judge.h"

#define CELLS 1000
#define ROUNDS 10
#define RUN_EFFECT 0.004
#define NOISE 0.0095
#define DELTA 0.0202 /* -ln(1 - 2%) */
#define LOSS 0.0488  /* ln(1.05): a time that is 5% longer */

struct world {
    struct random random;
    struct trial trials[CELLS];
    double centre[CELLS]; /* what both runs lie around */
    double base[CELLS][ROUNDS], fresh[CELLS][ROUNDS];
};

static double gauss(struct random *r)
{
    return sqrt(-2 * log(1 - random_unit(r))) * cos(6.283185307179586 * random_unit(r));
}

static void draw_run(struct random *r, double centre, size_t rounds, double *values)
{
    double here = centre + RUN_EFFECT * gauss(r);
    for (size_t i = 0; i < rounds; i++)
        values[i] = here + NOISE * gauss(r);
}

/* Two runs; the first `slowed` cells of the second one lose 5%. */
static void draw(struct world *w, size_t slowed, size_t rounds)
{
    for (size_t c = 0; c < CELLS; c++) {
        w->centre[c] = 0.3 * gauss(&w->random);
        draw_run(&w->random, w->centre[c], rounds, w->base[c]);
        draw_run(&w->random, w->centre[c] - (c < slowed ? LOSS : 0), rounds, w->fresh[c]);
        w->trials[c] = (struct trial){.base = {w->base[c], rounds}, .fresh = {w->fresh[c], rounds}, .delta = DELTA};
    }
    assert_int_equal(judge_trials(w->trials, CELLS), 0);
}

static size_t count(const struct trial *trials, size_t from, size_t to, enum judgement verdict)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += trials[i].verdict == verdict;
    return n;
}

/* What --confirm does: the suspects' second run is drawn again, and they are a family of their own. */
static void confirm(struct world *w, size_t slowed, size_t rounds)
{
    struct trial again[CELLS];
    size_t cell[CELLS];
    size_t n = 0;
    for (size_t c = 0; c < CELLS; c++) {
        if (!judge_suspects(w->trials[c].verdict))
            continue;
        draw_run(&w->random, w->centre[c] - (c < slowed ? LOSS : 0), rounds, w->fresh[c]);
        cell[n] = c;
        again[n++] = w->trials[c];
    }
    assert_int_equal(judge_trials(again, n), 0);
    for (size_t i = 0; i < n; i++)
        w->trials[cell[i]] = again[i];
}

static struct world *world_new(uint64_t seed)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    random_seed(&w->random, seed);
    return w;
}

static size_t plain_alarms(const struct world *w)
{
    size_t n = 0;
    for (size_t c = 0; c < CELLS; c++)
        n += stats_below_p(w->trials[c].fresh, w->trials[c].base, 0) <= 0.025 ||
             stats_below_p(w->trials[c].base, w->trials[c].fresh, 0) <= 0.025;
    return n;
}

static void unchanged_runs_raise_no_alarm(void **state)
{
    struct world *w = world_new(20251);
    size_t runs = 200;
    size_t slower_runs = 0;
    size_t faster_runs = 0;
    size_t ambiguous = 0;
    size_t plain = 0;
    (void)state;
    for (size_t run = 0; run < runs; run++) {
        draw(w, 0, ROUNDS);
        slower_runs += count(w->trials, 0, CELLS, JUDGED_SLOWER) > 0;
        faster_runs += count(w->trials, 0, CELLS, JUDGED_FASTER) > 0;
        ambiguous += count(w->trials, 0, CELLS, JUDGED_AMBIGUOUS);
        if (run < 10)
            plain += plain_alarms(w);
    }
    print_message("200 A/A pairs: %zu with SLOWER, %zu with FASTER, %.2f AMBIGUOUS a pair; plain test: %zu of 1000\n",
                  slower_runs, faster_runs, (double)ambiguous / (double)runs, plain / 10);
    assert_in_range(plain / 10, 180, 300); /* the world is as rough as claimed */
    assert_true(slower_runs <= runs / 20);
    assert_true(faster_runs <= runs / 20);
    assert_true(ambiguous <= 5 * runs);
    free(w);
}

static void losses_are_found(void **state)
{
    struct world *w = world_new(20252);
    size_t runs = 50;
    size_t slowed = 20;
    size_t first = 0;
    size_t suspects = 0;
    size_t found = 0;
    size_t false_alarms = 0;
    (void)state;
    for (size_t run = 0; run < runs; run++) {
        draw(w, slowed, ROUNDS);
        first += count(w->trials, 0, slowed, JUDGED_SLOWER);
        suspects += count(w->trials, 0, slowed, JUDGED_SLOWER) + count(w->trials, 0, slowed, JUDGED_AMBIGUOUS);
        confirm(w, slowed, ROUNDS);
        found += count(w->trials, 0, slowed, JUDGED_SLOWER);
        false_alarms += count(w->trials, slowed, CELLS, JUDGED_SLOWER);
    }
    double all = (double)(runs * slowed);
    print_message("5%% slower in 20 cells: found %.3f at first look, suspected %.3f, confirmed %.3f, %zu false\n",
                  (double)first / all, (double)suspects / all, (double)found / all, false_alarms);
    assert_true((double)first >= 0.80 * all);
    assert_true((double)found >= 0.95 * all);
    assert_true(false_alarms <= runs / 20);
    free(w);
}

/* With 8 groups one cell alone cannot stand out among 1000 (1/12870 > 0.05/1000): it is AMBIGUOUS, never lost, and the
 * second look, in a small family, finds it. */
static void few_groups_need_the_second_look(void **state)
{
    struct world *w = world_new(20253);
    size_t suspected = 0;
    size_t found = 0;
    (void)state;
    for (size_t run = 0; run < 40; run++) {
        draw(w, 1, 8);
        assert_true(w->trials[0].verdict != JUDGED_SLOWER);
        suspected += w->trials[0].verdict == JUDGED_AMBIGUOUS;
        confirm(w, 1, 8);
        found += w->trials[0].verdict == JUDGED_SLOWER;
    }
    print_message("one of 1000 with 8 groups: suspected %zu, found %zu of 40\n", suspected, found);
    assert_true(suspected >= 38);
    assert_true(found >= 36);
    free(w);
}

/* ---- the rules one by one, on exact values ---- */

static struct trial judged(const double *base, const double *fresh, size_t n, double delta)
{
    struct trial t = {.base = {base, n}, .fresh = {fresh, n}, .delta = delta};
    assert_int_equal(judge_trials(&t, 1), 0);
    return t;
}

static void single_verdicts(void **state)
{
    const double base[] = {0.500, 0.501, 0.502, 0.503, 0.504};
    const double lost[] = {0.450, 0.451, 0.452, 0.453, 0.454};
    const double little[] = {0.490, 0.491, 0.492, 0.493, 0.494};
    const double ragged[] = {0.475, 0.476, 0.477, 0.488, 0.489};
    (void)state;
    struct trial t = judged(base, lost, 5, 0.02);
    assert_int_equal(t.verdict, JUDGED_SLOWER);
    assert_true(fabs(t.change + 0.05) < 1e-12);
    assert_true(fabs(t.p_slower - 1.0 / 252) < 1e-12);
    assert_int_equal(judged(lost, base, 5, 0.02).verdict, JUDGED_FASTER);
    assert_int_equal(judged(base, base, 5, 0.02).verdict, JUDGED_SAME);
    assert_int_equal(judged(base, little, 5, 0.02).verdict, JUDGED_SAME); /* real, and too small to count */
    assert_int_equal(judged(base, little, 5, 0.005).verdict, JUDGED_SLOWER);
    assert_int_equal(judged(base, lost, 5, 0.06).verdict, JUDGED_SAME);
    assert_int_equal(judged(base, ragged, 5, 0.02).verdict, JUDGED_AMBIGUOUS);
    assert_int_equal(judged(ragged, base, 5, 0.02).verdict, JUDGED_SAME); /* nobody needs to suspect a gain */
    assert_true(judge_suspects(JUDGED_SLOWER) && judge_suspects(JUDGED_AMBIGUOUS));
    assert_false(judge_suspects(JUDGED_SAME) || judge_suspects(JUDGED_MISSING) || judge_suspects(JUDGED_INVALID));
    assert_int_equal(judge_trials(NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_runs_raise_no_alarm),
        cmocka_unit_test(losses_are_found),
        cmocka_unit_test(few_groups_need_the_second_look),
        cmocka_unit_test(single_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
