/* stats/: estimators against hand-computed values, Student's t against tables, coverage by simulation, and the
 * balance of launch orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "stats/interval.h"
#include "stats/order.h"

static void close_to(double actual, double expected, double tolerance)
{
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.12g is not within %g of %.12g", actual, tolerance, expected);
}

static void quantiles(void **state)
{
    const double values[] = {40, 10, 30, 20};
    (void)state;
    close_to(stats_quantile(values, 4, 0), 10, 0);
    close_to(stats_quantile(values, 4, 1), 40, 0);
    close_to(stats_quantile(values, 4, 0.5), 25, 0);
    close_to(stats_quantile(values, 4, 0.95), 38.5, 1e-12); /* type 7: 1 + 0.95 * 3 = place 3.85 */
    close_to(stats_quantile(values, 1, 0.3), 40, 0);
    close_to(values[0], 40, 0);
    assert_true(isnan(stats_quantile(values, 0, 0.5)));
    assert_true(isnan(stats_quantile(values, 4, 1.5)));
    assert_true(isnan(stats_quantile(values, 4, NAN)));
}

static void moments(void **state)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    (void)state;
    close_to(stats_mean(values, 8), 5, 1e-15);
    close_to(stats_sd(values, 8), sqrt(32.0 / 7), 1e-14);
    assert_true(isnan(stats_sd(values, 1)));
    assert_true(isnan(stats_mean(values, 0)));
}

static void correlations(void **state)
{
    const double x[] = {1, 2, 3, 4, 5};
    const double y[] = {2, 1, 4, 3, 5};
    const double cubes[] = {1, 8, 27, 64, 125};
    const double ties[] = {1, 2, 2, 3, 3};
    const double flat[] = {7, 7, 7, 7, 7};
    (void)state;
    close_to(stats_pearson(x, y, 5), 0.8, 1e-12);
    close_to(stats_spearman(x, y, 5), 0.8, 1e-12);
    close_to(stats_spearman(x, cubes, 5), 1, 1e-12);
    close_to(stats_spearman(x, ties, 5), 0.9486832980505138, 1e-12); /* ranks 1 2.5 2.5 4.5 4.5 */
    assert_true(isnan(stats_pearson(x, flat, 5)));
    assert_true(isnan(stats_spearman(x, y, 1)));
}

static void t_table(void **state)
{
    static const double table[][2] = {{1, 12.706205}, {2, 4.302653},   {3, 3.182446},    {4, 2.776445},
                                      {5, 2.570582},  {7, 2.364624},   {10, 2.228139},   {20, 2.085963},
                                      {30, 2.042272}, {120, 1.979930}, {1000, 1.962339}, {1e9, 1.959964}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        close_to(stats_t95(table[i][0]), table[i][1], 1e-6);
    assert_true(stats_t95(3.5) < stats_t95(3) && stats_t95(3.5) > stats_t95(4));
    double seven = stats_t95(7); /* whatever was asked in between */
    assert_true(stats_t95(30) < seven && stats_t95(7) == seven && stats_t95(7) == seven);
    assert_true(stats_t95(2e7) < stats_t95(30) && stats_t95(30) < stats_t95(7));
    assert_true(isnan(stats_t95(0.5)));
    assert_true(isnan(stats_t95(NAN)));
    close_to(stats_t(0.05, 7), 2.364624, 1e-6);
    close_to(stats_t(0.002, 4), 7.173182, 1e-6);
    close_to(stats_t(0.001, 1), 636.619249, 1e-4);
    close_to(stats_t(0.5, 30), 0.682756, 1e-6);
    assert_true(isnan(stats_t(0, 4)) && isnan(stats_t(1, 4)) && isnan(stats_t(0.05, 0.5)));
}

/* 2.364624 (7 degrees) * sqrt(32/7) * sqrt(9/8). */
static void prediction(void **state)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    (void)state;
    close_to(stats_prediction(values, 8), 5.362464, 1e-5);
    close_to(stats_prediction(values, 2), 12.706205 * sqrt(2) * sqrt(1.5), 1e-5);
    assert_true(isnan(stats_prediction(values, 1)));
    assert_true(isnan(stats_prediction(values, 0)));
}

/* Groups of four: one value dropped at each end, so the outliers 9 and -9 do not count. */
static void interval_by_hand(void **state)
{
    const double values[] = {0.10, 0.20, 9, -9, 0.30, 0.20, -9, 9, 0.50, 0.30, 9, -9};
    const unsigned group[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    struct interval out;
    (void)state;
    stats_interval(values, group, 12, &out);
    /* group values 0.15 0.25 0.40: mean 0.2666667, sd 0.1258306; r1 = cross / squares */
    double d[] = {0.15 - 0.8 / 3, 0.25 - 0.8 / 3, 0.40 - 0.8 / 3};
    double squares = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double r1 = (d[0] * d[1] + d[1] * d[2]) / squares;
    assert_true(out.valid);
    assert_int_equal(out.groups, 3);
    assert_int_equal(out.n, 12);
    close_to(out.estimate, 0.8 / 3, 1e-12);
    close_to(out.inflation, r1 > 0 ? 1 + 2 * r1 : 1, 1e-12);
    close_to(out.half_width, 4.302652729911275 * sqrt(squares / 2) / sqrt(3) * sqrt(out.inflation), 1e-9);
}

static void interval_trending_groups_are_inflated(void **state)
{
    double values[12];
    unsigned group[12];
    struct interval out;
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        values[i] = 0.1 * i;
        group[i] = i;
    }
    stats_interval(values, group, 9, &out);
    close_to(out.inflation, 1 + 2 * 2.0 / 3,
             1e-9); /* r1 of a straight line of nine is 2/3, significant from 0.427 on */
    close_to(out.half_width, 2.306004135033371 * sqrt(0.6 / 8) / 3 * sqrt(7.0 / 3), 1e-9);
    stats_interval(values, group, 6, &out);
    close_to(out.inflation, 2, 1e-9); /* r1 of a straight line of six is 0.5: too few groups to test it */
    double zigzag[] = {0, 1, 0, 1, 1, 0, 1, 0};
    stats_interval(zigzag, group, 8, &out);
    close_to(out.inflation, 1, 1e-9); /* negative r1 never narrows */
    double faint[] = {0, 0.3, 1, 0.2, 0.4, 0, 0.9, 0.5};
    stats_interval(faint, group, 8, &out);
    close_to(out.inflation, 1, 1e-9); /* 8 groups, r1 below 0.453 */
}

/* Of ten groups the least and the largest are dropped: 0 and 90 count as 1 and 8 in the winsorised deviation. */
static void interval_drops_a_tenth(void **state)
{
    const double values[] = {3, 7, 90, 1, 5, 2, 8, 0, 6, 4};
    const unsigned group[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct interval out, nine;
    (void)state;
    stats_interval(values, group, 10, &out);
    close_to(out.estimate, 4.5, 1e-12);
    close_to(out.inflation, 1, 0);
    /* 3 7 8 1 5 2 8 1 6 4: mean 4.5, squares 66.5; 8 values are left */
    close_to(out.half_width, 2.364624251592785 * sqrt(66.5 / 9) * sqrt(10) / 8, 1e-9);
    stats_interval(values, group, 9, &nine);
    close_to(nine.estimate, 122.0 / 9, 1e-12); /* too few: all count */
}

static void interval_needs_two_groups(void **state)
{
    const double values[] = {1, 2, 3};
    const unsigned same[] = {4, 4, 4};
    struct interval out;
    (void)state;
    stats_interval(values, same, 3, &out);
    assert_false(out.valid);
    close_to(out.estimate, 2, 1e-15);
    assert_true(isnan(out.half_width));
    stats_interval(values, same, 0, &out);
    assert_false(out.valid);
    assert_true(isnan(out.estimate));
}

/* Blocks of one group need not stand together. */
static void interval_ignores_the_order_of_blocks(void **state)
{
    const double a[] = {1, 2, 3, 10, 20, 30};
    const unsigned group_a[] = {0, 0, 0, 1, 1, 1};
    const double b[] = {30, 3, 1, 20, 2, 10};
    const unsigned group_b[] = {1, 0, 0, 1, 0, 1};
    struct interval first, second;
    (void)state;
    stats_interval(a, group_a, 6, &first);
    stats_interval(b, group_b, 6, &second);
    close_to(first.estimate, second.estimate, 0);
    close_to(first.half_width, second.half_width, 0);
}

static double normal(struct random *r)
{
    return sqrt(-2 * log1p(-random_unit(r))) * cos(6.283185307179586 * random_unit(r));
}

/* Share of intervals that contain the true mean 0; `between` is the standard deviation of the groups' own shifts. */
static double coverage(unsigned groups, double between)
{
    enum { RUNS = 20000, BLOCKS = 8 };
    struct random r;
    double values[64 * BLOCKS];
    unsigned group[64 * BLOCKS];
    int inside = 0;
    random_seed(&r, 20240607 + groups);
    for (int run = 0; run < RUNS; run++) {
        for (unsigned g = 0; g < groups; g++) {
            double shift = between * normal(&r);
            for (unsigned b = 0; b < BLOCKS; b++) {
                values[g * BLOCKS + b] = shift + normal(&r);
                group[g * BLOCKS + b] = g;
            }
        }
        struct interval out;
        stats_interval(values, group, groups * BLOCKS, &out);
        inside += fabs(out.estimate) <= out.half_width;
    }
    return (double)inside / RUNS;
}

static void interval_covers_95_percent(void **state)
{
    (void)state;
    close_to(coverage(4, 0), 0.95, 0.01);
    close_to(coverage(8, 0), 0.95, 0.01);
    close_to(coverage(16, 0), 0.95, 0.01);
    close_to(coverage(40, 0), 0.95, 0.01);
    close_to(coverage(8, 2), 0.95, 0.01); /* each process has a shift of its own */
}

/* A launch in server mode finds the device asleep or awake: in one of seven blocks that adds or takes a tenth, by luck.
 * The interval holds the true value as often, and is less than six tenths as wide as that of the mean. */
static void interval_bears_luck(void **state)
{
    enum { RUNS = 4000, GROUPS = 40 };
    struct random r;
    double values[GROUPS], narrower = 0;
    unsigned group[GROUPS];
    int inside = 0;
    (void)state;
    random_seed(&r, 77);
    for (int run = 0; run < RUNS; run++) {
        for (unsigned g = 0; g < GROUPS; g++) {
            double luck = random_unit(&r) < 0.07 ? 0.1 : 0;
            group[g] = g;
            values[g] = 0.005 * normal(&r) + luck - (random_unit(&r) < 0.07 ? 0.1 : 0);
        }
        struct interval out;
        stats_interval(values, group, GROUPS, &out);
        inside += fabs(out.estimate) <= out.half_width;
        narrower += out.half_width / (stats_t95(GROUPS - 1) * stats_sd(values, GROUPS) / sqrt(GROUPS)) / RUNS;
    }
    assert_in_range(inside, 0.94 * RUNS, RUNS);
    assert_true(narrower < 0.6);
}

/* ---- orders ---- */

static void count_design(struct order *o, unsigned n, unsigned rows, unsigned *next_to, unsigned *before,
                         unsigned *place)
{
    for (unsigned row = 0; row < rows; row++) {
        unsigned out[ORDER_MAX];
        order_next(o, out);
        for (unsigned i = 0; i < n; i++) {
            assert_in_range(out[i], 0, n - 1);
            place[out[i] * ORDER_MAX + i]++;
            for (unsigned j = i + 1; j < n; j++)
                before[out[i] * ORDER_MAX + out[j]]++;
            if (i + 1 < n)
                next_to[out[i] * ORDER_MAX + out[i + 1]]++;
        }
    }
}

static void orders_are_balanced(void **state)
{
    static unsigned next_to[ORDER_MAX * ORDER_MAX], before[ORDER_MAX * ORDER_MAX], place[ORDER_MAX * ORDER_MAX];
    (void)state;
    for (unsigned n = 1; n <= 24; n++) {
        struct order o;
        unsigned rows = n % 2 == 0 || n == 1 ? n : 2 * n;
        order_begin(&o, n, 99 + n);
        for (int design = 0; design < 3; design++) {
            memset(next_to, 0, sizeof next_to);
            memset(before, 0, sizeof before);
            memset(place, 0, sizeof place);
            count_design(&o, n, rows, next_to, before, place);
            for (unsigned a = 0; a < n; a++)
                for (unsigned b = 0; b < n; b++) {
                    assert_int_equal(place[a * ORDER_MAX + b], rows / n);
                    assert_int_equal(next_to[a * ORDER_MAX + b], a == b ? 0 : rows / n);
                    assert_int_equal(2 * before[a * ORDER_MAX + b], a == b ? 0 : rows);
                }
        }
    }
}

static void orders_follow_the_seed(void **state)
{
    struct order a, b, c;
    unsigned x[9], y[9], z[9];
    bool differs = false, relabelled = false;
    unsigned first[18][9];
    (void)state;
    order_begin(&a, 9, 7);
    order_begin(&b, 9, 7);
    order_begin(&c, 9, 8);
    for (int i = 0; i < 36; i++) {
        order_next(&a, x);
        order_next(&b, y);
        order_next(&c, z);
        assert_memory_equal(x, y, sizeof x);
        differs |= memcmp(x, z, sizeof x) != 0;
        if (i < 18)
            memcpy(first[i], x, sizeof x);
        else
            relabelled |= memcmp(first[i - 18], x, sizeof x) != 0;
    }
    assert_true(differs);
    assert_true(relabelled);
}

/* Of the binomial: with six values the extremes bound the median with 96.9%, with ten the second ones with 97.9%. */
static void ranks_bound_a_median(void **state)
{
    static const size_t table[][2] = {{0, 0}, {1, 0},  {5, 0},  {6, 1},    {8, 1},
                                      {9, 2}, {10, 2}, {20, 6}, {100, 40}, {4000, 1938}};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(stats_median_rank(table[i][0]), table[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_bound_a_median),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(moments),
        cmocka_unit_test(correlations),
        cmocka_unit_test(t_table),
        cmocka_unit_test(prediction),
        cmocka_unit_test(interval_by_hand),
        cmocka_unit_test(interval_trending_groups_are_inflated),
        cmocka_unit_test(interval_drops_a_tenth),
        cmocka_unit_test(interval_needs_two_groups),
        cmocka_unit_test(interval_ignores_the_order_of_blocks),
        cmocka_unit_test(interval_covers_95_percent),
        cmocka_unit_test(interval_bears_luck),
        cmocka_unit_test(orders_are_balanced),
        cmocka_unit_test(orders_follow_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
