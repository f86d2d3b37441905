/* What choosing between layouts adds to a -max's interval: the formula against sums over a normal distribution, and the
 * share of intervals that hold the truth, by the program's own way from blocks to speedups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "record_fixture.h"
#include "analysis/entry.h"
#include "stats/choice.h"

static void close_to(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.12g is not within %g of %.12g", actual, tolerance, expected);
}

/* Var T less what the scatter within halves shows, T = (sgn(D1) D2 + sgn(D2) D1) / 4, by the rectangle rule over both
 * normal differences. */
static double missing_by_sums(double d, double s)
{
    enum { STEPS = 800 };
    double weight = 0, first = 0, second = 0;
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            double u = -8 + 16 * (i + 0.5) / STEPS, v = -8 + 16 * (j + 0.5) / STEPS;
            double w = exp(-(u * u + v * v) / 2), d1 = d + s * u, d2 = d + s * v;
            double t = (copysign(1, d1) * d2 + copysign(1, d2) * d1) / 4;
            weight += w;
            first += w * t;
            second += w * t * t;
        }
    first /= weight;
    return second / weight - first * first - s * s / 8;
}

static void formula_is_the_variance(void **state)
{
    (void)state;
    const double differences[] = {0, 0.3, 0.8, 1.1, 2, 3};
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        close_to(stats_choice_variance(differences[i] * 0.02, 0.02 / sqrt(2)),
                 missing_by_sums(differences[i] * 0.02, 0.02), 0.01 * 0.02 * 0.02);
}

static void far_apart_nothing_is_chosen(void **state)
{
    (void)state;
    close_to(stats_choice_variance(0, 1), 2 / (4 * acos(-1)), 1e-12);
    close_to(stats_choice_variance(0.5, 0.7), stats_choice_variance(-0.5, 0.7), 1e-15);
    close_to(stats_choice_variance(10, 1), 0, 1e-9);
    assert_true(stats_choice_variance(NAN, 1) == 0);
    assert_true(stats_choice_variance(0.1, NAN) == 0);
    assert_true(stats_choice_variance(0.1, 0) == 0);
}

static double normal(struct random *r)
{
    double u = random_unit(r);
    return sqrt(-2 * log(1 - u)) * cos(2 * acos(-1) * random_unit(r));
}

/* A cell of so many blocks of 10 us, 1% apart by chance; the second layout of either family is so much slower. */
static struct cell_record *cell_of(struct random *r, unsigned blocks, double gap)
{
    struct cell_record *cell = fixture_record(64, MODE_OFFLINE);
    const char *names[] = {"cublas-nn", "cublas-tn", "cudal2-nn", "cudal2-tn"};
    struct contender_record *c[4];
    cell->headline = TIMING_DEVICE;
    for (int i = 0; i < 4; i++)
        c[i] = fixture_contender(cell, names[i], i > 1);
    while (cell->blocks < blocks) {
        unsigned block = fixture_block(cell, 1);
        for (int i = 0; i < 4; i++)
            assert_int_equal(
                series_add(&c[i]->timings[TIMING_DEVICE], block, 1e4 * exp((i % 2) * gap + 0.01 * normal(r))), 0);
    }
    return cell;
}

static const struct entry *entry_named(const struct entries *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->list[i].name, name) == 0)
            return &e->list[i];
    fail_msg("no entry %s", name);
    return NULL;
}

/* Whether the interval of -max over -max holds the truth, which is 0: both families are alike. */
static bool holds(const struct cell_record *cell, struct entries *e)
{
    struct pair pair;
    struct interval interval;
    assert_int_equal(entries_of(cell, e), 0);
    struct match match = {entry_named(e, "cudal2-max"), entry_named(e, "cublas-max"), TIMING_DEVICE};
    assert_true(match_is_comparable(&match));
    assert_int_equal(match_collect(cell, &match, PAIR_HEALTHY_BLOCKS, &pair), 0);
    pair_interval(&pair, &interval);
    pair_free(&pair);
    entries_free(e);
    return fabs(interval.estimate) <= interval.half_width;
}

static double coverage(unsigned blocks, double gap)
{
    enum { RUNS = 4000 };
    struct random r;
    int inside = 0;
    struct entries *e = malloc(sizeof *e);
    assert_non_null(e);
    random_seed(&r, 20261124 + blocks);
    for (int run = 0; run < RUNS; run++) {
        struct cell_record *cell = cell_of(&r, blocks, gap);
        inside += holds(cell, e);
        record_free(cell);
    }
    free(e);
    return (double)inside / RUNS;
}

/* Without what choosing adds these are 0.92, 0.92, 0.87 and 0.91. With the difference seen in the place of the true one
 * they are somewhat too wide where the layouts are alike; choosing by medians makes the third a little too narrow. */
static void max_covers_95_percent(void **state)
{
    (void)state;
    assert_true(coverage(8, 0) > 0.945);
    assert_true(coverage(24, 0) > 0.945);
    assert_true(coverage(24, 0.005) > 0.93);
    assert_true(coverage(24, 0.01) > 0.935);
    close_to(coverage(24, 0.03), 0.95, 0.012); /* nothing is added */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formula_is_the_variance),
        cmocka_unit_test(far_apart_nothing_is_chosen),
        cmocka_unit_test(max_covers_95_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
