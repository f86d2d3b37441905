/* measure/race_plan: who leaves a race when, in exact numbers, and what that costs on the races of a committed run. */
#include "measure/race_plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/gzip_read.h"
#include "model/problem.h"
#include "base/random.h"
#include "stats/interval.h"

#define MOST 100
/* The races of AutoTuning and cudal2 in a grid of 2026-11-21 (its first line says which). */
#define RACES "tests/fixtures/data/race-times-h200.txt.gz"

static const struct race_terms offline = {.segments = true, .rounds = 12};

static void long_launches_have_short_races(void **state)
{
    (void)state;
    struct race_plan plan = race_plan(&offline, 29e3);
    assert_true(plan.start_cut == 2.0 && plan.spread == 0.03);
    assert_int_equal(plan.heats, 2);
    assert_int_equal(plan.finals, 6);
    assert_int_equal(plan.moves_at, 2);
    assert_false(plan.keeps_times);
    plan = race_plan(&offline, 30e3);
    assert_true(plan.start_cut == 1.5 && plan.spread == 0.04);
    plan = race_plan(&offline, 200e3);
    assert_true(plan.start_cut == 1.3 && plan.spread == 0.06);
    assert_int_equal(plan.heats, 1);
    assert_int_equal(plan.finals, 5);
    assert_int_equal(plan.moves_at, 0);
    assert_true(plan.keeps_times);
}

static void single_launches_have_more_rounds(void **state)
{
    struct race_terms terms = {.server = true, .rounds = 12};
    (void)state;
    struct race_plan plan = race_plan(&terms, 5e3);
    assert_int_equal(plan.heats, 4);
    assert_int_equal(plan.finals, 16);
    assert_int_equal(plan.moves_at, 12);
    assert_int_equal(plan.finalists, 6);
    assert_true(plan.final_cut == 1.15 && plan.spread == 0 && plan.gap_share == 0.1 && !plan.heats_rest);
    plan = race_plan(&terms, 2e6);
    assert_int_equal(plan.heats, 2);
    assert_int_equal(plan.finals, 8);
    assert_int_equal(plan.moves_at, 0);
    assert_int_equal(plan.finalists, 12);
    assert_true(plan.gap_share == 1 && plan.heats_rest && plan.keeps_times && plan.heat_cut == 1.2);
    terms.server = false;
    plan = race_plan(&terms, 5e3);
    assert_int_equal(plan.heats, 4);
    assert_int_equal(plan.finals, 8);
    assert_int_equal(plan.moves_at, 8);
    assert_true(plan.start_cut == 2.0 && plan.final_cut == 1.10 && plan.gap_share == 0);
    plan = race_plan(&terms, 2e6);
    assert_int_equal(plan.heats, 2);
    assert_int_equal(plan.finals, 4);
    assert_int_equal(plan.moves_at, 0);
    assert_int_equal(plan.finalists, 4);
}

static void paper_loses_nobody(void **state)
{
    const struct race_terms terms = {.paper = true, .rounds = 150};
    const struct race_standing last = {.round = 149, .place = 99, .ratio = 50, .n = 100};
    (void)state;
    struct race_plan plan = race_plan(&terms, 5e3);
    assert_int_equal(plan.heats, 0);
    assert_int_equal(plan.finals, 150);
    assert_int_equal(plan.moves_at, 0);
    assert_true(isinf(plan.start_cut));
    assert_true(race_goes_on(&plan, &last));
    assert_int_equal(race_most_rounds(&terms), 150);
}

static void rounds_never_exceed_the_most(void **state)
{
    static const double fastest[] = {2e3, 50e3, 500e3, 5e6, INFINITY};
    (void)state;
    for (unsigned rounds = 1; rounds < 40; rounds++) {
        for (int kind = 0; kind < 3; kind++) {
            const struct race_terms terms = {.segments = kind == 0, .server = kind == 1, .rounds = rounds};
            for (size_t i = 0; i < sizeof fastest / sizeof *fastest; i++) {
                struct race_plan plan = race_plan(&terms, fastest[i]);
                assert_in_range(plan.heats + plan.finals, 1, race_most_rounds(&terms));
                assert_true(plan.heats >= 1);
            }
        }
    }
}

static bool goes_on(const struct race_plan *plan, struct race_standing standing)
{
    return race_goes_on(plan, &standing);
}

static void cuts_are_exact(void **state)
{
    struct race_plan plan = race_plan(&offline, 5e3);
    (void)state;
    assert_true(goes_on(&plan, (struct race_standing){.round = 0, .place = 80, .ratio = 1.2, .n = 1}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 0, .place = 1, .ratio = 1.21, .n = 1}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 0, .first = true, .place = 1, .ratio = 1.3, .n = 1}));
    assert_true(goes_on(&plan, (struct race_standing){.round = 1, .place = 5, .ratio = 1.1, .n = 2}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 1, .place = 6, .ratio = 1.1, .n = 2}));
    assert_true(goes_on(&plan, (struct race_standing){.round = 1, .first = true, .place = 9, .ratio = 1.19, .n = 2}));
    assert_true(goes_on(&plan, (struct race_standing){.round = 2, .place = 9, .ratio = 1.5, .n = 1}));
    assert_true(goes_on(&plan, (struct race_standing){.round = 3, .place = 4, .ratio = 1.0299, .n = 2}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 3, .place = 5, .ratio = 1.0299, .n = 2}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 3, .place = 1, .ratio = 1.0301, .n = 2}));
    assert_true(goes_on(&plan, (struct race_standing){.round = 6, .place = 2, .ratio = 1.0149, .n = 5}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 6, .place = 2, .ratio = 1.0151, .n = 5}));
    assert_false(goes_on(&plan, (struct race_standing){.round = 6, .place = 3, .ratio = 1.001, .n = 5}));
}

/* ---- the races of a committed run, again ---- */

/* What a variant takes, and what is seen of it. */
struct runner {
    double ns, look, times[32], median;
    size_t n, lasted;
    bool alive;
};

/* Of all races of one class of launches. */
struct tally {
    size_t races;
    double regret;   /* sum of: the winner's time over the least, minus 1 */
    double launches; /* sum of: launches, for each variant; only where a segment is one launch */
    size_t variants;
    size_t off; /* winners over 1% slower than the best */
};

typedef struct race_plan (*planner)(double fastest_ns);

struct replay {
    struct random random;
    planner plan;
    double scale; /* of the noise */
    struct tally classes[3];
};

static struct race_plan present_plan(double fastest_ns)
{
    return race_plan(&offline, fastest_ns);
}

/* What that run itself had; its first estimate took three launches, or five of short ones. */
static struct race_plan former_plan(double fastest_ns)
{
    bool is_long = fastest_ns > 1e6;
    return (struct race_plan){.start_cut = is_long ? 1.3 : 2.0,
                              .heats = is_long ? 2 : 4,
                              .finals = is_long ? 4 : 8,
                              .heat_cut = INFINITY,
                              .final_cut = 1.10,
                              .finalists = is_long ? 4 : 8};
}

static double gauss(struct random *random)
{
    return sqrt(-2 * log(1 - random_unit(random))) * cos(2 * acos(-1) * random_unit(random));
}

/* Standard deviation of a time against the others of its round, at most, in the journals of the grid. */
static double spread_of(double ns)
{
    return ns < 30e3 ? 0.007 : ns < 200e3 ? 0.0105 : ns < 1e6 ? 0.013 : 0.02;
}

/* One time in a hundred is up to 12% slow. */
static double seen(struct replay *r, double ns, double spread)
{
    double slow = random_unit(&r->random) < 0.01 ? 0.12 * random_unit(&r->random) : 0;
    return ns * exp(r->scale * spread * gauss(&r->random)) * (1 + r->scale * slow);
}

static size_t place_of(const struct runner *runners, size_t n, const struct runner *of)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++)
        place += runners[i].alive && runners[i].median < of->median;
    return place;
}

static double best_of(const struct runner *runners, size_t n)
{
    double best = INFINITY;
    for (size_t i = 0; i < n; i++)
        best = runners[i].alive ? fmin(best, runners[i].median) : best;
    return best;
}

static void leave_behind(const struct race_plan *plan, struct runner *runners, size_t n, unsigned round)
{
    bool on[MOST];
    double best = best_of(runners, n);
    for (size_t i = 0; i < n; i++) {
        const struct race_standing s = {round, i == 0, place_of(runners, n, &runners[i]), runners[i].median / best,
                                        runners[i].n};
        on[i] = runners[i].alive && race_goes_on(plan, &s);
    }
    for (size_t i = 0; i < n; i++)
        runners[i].alive = on[i];
}

static void run_round(struct replay *r, struct runner *runners, size_t n, double spread)
{
    for (size_t i = 0; i < n; i++) {
        struct runner *one = &runners[i];
        if (!one->alive)
            continue;
        one->times[one->n++] = seen(r, one->ns, spread);
        one->median = stats_median(one->times, one->n);
        one->lasted++;
    }
}

static const struct runner *winner_of(const struct runner *runners, size_t n)
{
    const struct runner *best = &runners[0];
    for (size_t i = 1; i < n; i++) {
        bool longer = runners[i].lasted > best->lasted;
        if (longer || (runners[i].lasted == best->lasted && runners[i].median < best->median))
            best = &runners[i];
    }
    return best;
}

static const struct runner *run_race(struct replay *r, struct runner *runners, size_t n, double least)
{
    double spread = spread_of(least), fastest = INFINITY;
    for (size_t i = 0; i < n; i++) {
        runners[i].look = seen(r, runners[i].ns, 1.3 * spread);
        fastest = fmin(fastest, runners[i].look);
    }
    struct race_plan plan = r->plan(fastest);
    for (size_t i = 0; i < n; i++) {
        runners[i].alive = runners[i].look <= plan.start_cut * fastest;
        runners[i].median = runners[i].look;
    }
    for (unsigned round = 0; round < plan.heats + plan.finals; round++) {
        for (size_t i = 0; i < n && round == plan.heats && !plan.keeps_times; i++)
            runners[i].n = 0;
        run_round(r, runners, n, round < plan.heats && !plan.keeps_times ? 2 * spread : spread);
        if (round + 1 < plan.heats + plan.finals)
            leave_behind(&plan, runners, n, round);
    }
    return winner_of(runners, n);
}

/* A line of the fixture: what each variant of a race took, ns. */
static void race_again(struct replay *r, const char *line)
{
    struct runner runners[MOST] = {0};
    size_t n = 0;
    double least = INFINITY;
    char *end;
    for (double ns = strtod(line, &end); end != line && n < MOST; ns = strtod(line, &end)) {
        runners[n++].ns = ns;
        least = fmin(least, ns);
        line = end;
    }
    if (n < 2)
        return;
    struct tally *t = &r->classes[least < 200e3 ? 0 : least < 1e6 ? 1 : 2];
    double lost = run_race(r, runners, n, least)->ns / least - 1;
    t->races++;
    t->regret += lost;
    t->off += lost > 0.01;
    t->variants += n;
    for (size_t i = 0; i < n; i++)
        t->launches += 1 + (double)runners[i].lasted;
}

static void replay(struct replay *r, planner plan, double scale)
{
    struct error err;
    char *text, *rest;
    size_t length;
    *r = (struct replay){.plan = plan, .scale = scale};
    random_seed(&r->random, 20211121);
    if (gzip_read_file(RACES, 1u << 20, &text, &length, &err) != 0)
        fail_msg("%s", err.text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        race_again(r, line);
    free(text);
}

static void quiet_races_find_the_best(void **state)
{
    struct replay r;
    (void)state;
    replay(&r, present_plan, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(r.classes[i].races > 200);
        assert_true(r.classes[i].regret == 0);
    }
}

static double mean_loss(const struct tally *t)
{
    return t->regret / (double)t->races;
}

static void print_tally(const char *name, int class, const struct tally *t)
{
    print_message("%s, class %d: %zu races, mean loss %.3f%%, over 1%%: %.2f%%, rounds of a variant %.2f\n", name,
                  class, t->races, 100 * mean_loss(t), 100 * (double)t->off / (double)t->races,
                  t->launches / (double)t->variants);
}

/* docs/method.md, section 2, gives these figures. */
static void noisy_races_lose_little(void **state)
{
    static const double most_loss[] = {0.0006, 0.002, 0.004};
    struct replay now, then;
    (void)state;
    replay(&now, present_plan, 1);
    replay(&then, former_plan, 1);
    for (int i = 0; i < 3; i++) {
        const struct tally *t = &now.classes[i], *old = &then.classes[i];
        print_tally("now", i, t);
        print_tally("then", i, old);
        assert_true(mean_loss(t) < most_loss[i]);
        assert_true(mean_loss(t) < mean_loss(old) + 0.0005);
        assert_true(t->launches < 0.6 * (old->launches + 2 * (double)old->variants));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_launches_have_short_races),
        cmocka_unit_test(single_launches_have_more_rounds),
        cmocka_unit_test(paper_loses_nobody),
        cmocka_unit_test(rounds_never_exceed_the_most),
        cmocka_unit_test(cuts_are_exact),
        cmocka_unit_test(quiet_races_find_the_best),
        cmocka_unit_test(noisy_races_lose_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
