/* stats/shift: exact p-values against enumeration, ties, the margin, and the false discovery rule on known cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/random.h"
#include "stats/interval.h"
#include "stats/shift.h"

#define SAMPLE(array) ((struct sample){array, sizeof(array) / sizeof *(array)})

static void near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.17g instead of %.17g", value, wanted);
}

/* P(U <= u) by counting every way to choose which ranks are the low sample's. */
static double enumerated(size_t n_low, size_t n_high, size_t u)
{
    size_t n = n_low + n_high;
    double all = 0;
    double good = 0;
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        size_t lows = 0;
        size_t inversions = 0;
        for (size_t i = 0; i < n; i++)
            if (mask >> i & 1u) {
                inversions += i - lows; /* high values below this low one */
                lows++;
            }
        if (lows != n_low)
            continue;
        all++;
        good += inversions <= u;
    }
    return good / all;
}

static void exact_against_enumeration(void **state)
{
    (void)state;
    for (size_t n_low = 1; n_low <= 6; n_low++)
        for (size_t n_high = 1; n_high <= 6; n_high++) {
            double high[6];
            for (size_t i = 0; i < n_high; i++)
                high[i] = 10.0 * (double)(i + 1);
            /* One low value moves past the high ones, the others lie below all: U = 0, 1, ..., n_high. */
            for (size_t u = 0; u <= n_high; u++) {
                double low[6] = {1, 2, 3, 4, 5, 6};
                low[0] = 10.0 * (double)u + 5;
                double p = stats_below_p((struct sample){low, n_low}, (struct sample){high, n_high}, 0);
                near(p, enumerated(n_low, n_high, u), 1e-12);
            }
        }
}

/* The longer tail is computed from the shorter one. */
static void both_tails(void **state)
{
    (void)state;
    const double low[] = {8, 9, 10};
    const double high[] = {1, 2, 3, 4};
    near(stats_below_p(SAMPLE(low), SAMPLE(high), 0), 1, 0);
    near(stats_below_p(SAMPLE(high), SAMPLE(low), 0), 1.0 / 35, 1e-12);
    const double middle[] = {2.5, 2.6, 2.7};
    near(stats_below_p(SAMPLE(middle), SAMPLE(high), 0), enumerated(3, 4, 6), 1e-12);
    near(stats_below_p(SAMPLE(high), SAMPLE(middle), 0), enumerated(4, 3, 6), 1e-12);
}

static void margin_and_ties(void **state)
{
    (void)state;
    const double low[] = {0, 0.25, 0.5, 0.75};
    const double high[] = {1, 1.25, 1.5, 1.75};
    near(stats_below_p(SAMPLE(low), SAMPLE(high), 0), 1.0 / 70, 1e-12);
    near(stats_below_p(SAMPLE(low), SAMPLE(high), 0.125), 1.0 / 70, 1e-12);
    /* By exactly the margin is not by more than the margin. */
    near(stats_below_p(SAMPLE(low), SAMPLE(high), 0.25), enumerated(4, 4, 1), 1e-12);
    near(stats_below_p(SAMPLE(low), SAMPLE(high), 5), 1, 0);
    near(stats_below_p(SAMPLE(low), SAMPLE(low), 0), enumerated(4, 4, 10), 1e-12);
    near(stats_below_p((struct sample){low, 0}, SAMPLE(high), 0), 1, 0);
}

static void small_enough_for_a_thousand(void **state)
{
    (void)state;
    near(stats_below_least_p(10, 10), 1.0 / 184756, 1e-15);
    near(stats_below_least_p(4, 4), 1.0 / 70, 1e-12);
    near(stats_below_least_p(0, 4), 1, 0);
    assert_true(stats_below_least_p(10, 10) < 0.05 / 1000);
    assert_true(stats_below_least_p(8, 8) > 0.05 / 1000); /* why few groups need --confirm */
}

/* Where the exact form ends the approximation must go on without a step that matters. */
static void approximation_joins(void **state)
{
    struct random r;
    double low[33];
    double high[33];
    (void)state;
    random_seed(&r, 5);
    for (int round = 0; round < 50; round++) {
        double shift = 0.02 * round;
        for (size_t i = 0; i < 33; i++) {
            low[i] = random_unit(&r) - shift * 0.5;
            high[i] = random_unit(&r);
        }
        double exact = stats_below_p((struct sample){low, 32}, (struct sample){high, 32}, 0);
        double normal = stats_below_p((struct sample){low, 33}, (struct sample){high, 32}, 0);
        assert_true(exact >= 0 && exact <= 1 && normal >= 0 && normal <= 1);
        if (exact > 1e-3) /* one value more moves both a little */
            assert_true(fabs(log(exact / normal)) < 0.7);
    }
    assert_true(stats_below_least_p(33, 32) > stats_below_least_p(32, 32)); /* on the safe side */
}

static void discoveries(void **state)
{
    (void)state;
    /* Benjamini and Hochberg 1995, section 3.2: four of fifteen at q = 0.05. */
    const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    bool rejected[15];
    assert_int_equal(stats_discoveries(p, 15, 0.05, rejected), 0);
    for (int i = 0; i < 15; i++)
        assert_int_equal(rejected[i], i < 4);
    /* A larger one that passes takes smaller ones that alone would not along. */
    const double stepped[] = {0.03, 0.04, 0.9, 0.035};
    assert_int_equal(stats_discoveries(stepped, 4, 0.06, rejected), 0);
    assert_true(rejected[0] && rejected[1] && !rejected[2] && rejected[3]);
    const double unknown[] = {NAN, 0.02};
    assert_int_equal(stats_discoveries(unknown, 2, 0.05, rejected), 0);
    assert_true(!rejected[0] && rejected[1]);
    assert_int_equal(stats_discoveries(unknown, 2, 0.03, rejected), 0);
    assert_true(!rejected[1]); /* 0.02 > 0.03 / 2: the unknown one counts */
    assert_int_equal(stats_discoveries(NULL, 0, 0.05, NULL), 0);
}

/* Shifting by a little more than the resolution is seen, by a little less is not: at any sizes, exact or not. */
static void resolution_is_where_the_test_speaks(void **state)
{
    static const size_t sizes[][2] = {{4, 4}, {8, 8}, {8, 24}, {32, 33}, {60, 50}};
    struct random random;
    double low[64], high[64], moved[64];
    (void)state;
    random_seed(&random, 5);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t i = 0; i < 64; i++) {
            low[i] = 3 + random_unit(&random);
            high[i] = random_unit(&random);
        }
        struct sample a = {low, sizes[s][0]}, b = {high, sizes[s][1]}, c = {moved, sizes[s][0]};
        double shift = stats_below_resolution(a, b, 0.05);
        double between = stats_median(low, a.n) - stats_median(high, b.n);
        for (int side = -1; side <= 1; side += 2) {
            for (size_t i = 0; i < a.n; i++)
                moved[i] = low[i] - between - shift - 1e-9 * side;
            assert_int_equal(stats_below_p(c, b, 0) <= 0.05, side > 0);
        }
    }
}

static void resolution_has_its_limits(void **state)
{
    const double few[] = {1, 2, 3}, flat[] = {1, 1, 1, 1};
    (void)state;
    assert_true(isinf(stats_below_resolution(SAMPLE(few), (struct sample){few, 2}, 0.05))); /* p is 0.1 at least */
    near(stats_below_resolution(SAMPLE(flat), SAMPLE(flat), 0.05), 0, 0);
    assert_true(isinf(stats_below_resolution((struct sample){NULL, 0}, SAMPLE(few), 0.05)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_against_enumeration),
        cmocka_unit_test(both_tails),
        cmocka_unit_test(margin_and_ties),
        cmocka_unit_test(small_enough_for_a_thousand),
        cmocka_unit_test(approximation_joins),
        cmocka_unit_test(discoveries),
        cmocka_unit_test(resolution_is_where_the_test_speaks),
        cmocka_unit_test(resolution_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
