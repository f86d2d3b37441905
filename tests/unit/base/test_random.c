/* The generator against its published reference, its derived streams, and the distributions made of it. */
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

/* xoshiro256** of the state {1, 2, 3, 4}: the reference sequence that other implementations test against too. */
static void test_reference_sequence(void **state)
{
    static const uint64_t wanted[] = {11520u,
                                      0u,
                                      1509978240u,
                                      1215971899390074240u,
                                      1216172134540287360u,
                                      607988272756665600u,
                                      16172922978634559625u,
                                      8476171486693032832u,
                                      10595114339597558777u,
                                      2904607092377533576u};
    struct random r = {{1, 2, 3, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_true(random_next(&r) == wanted[i]);
}

/* splitmix64 of seed 0 starts with e220a8397b1dcdaf: a seed becomes these four words. */
static void test_seeding(void **state)
{
    struct random r;
    (void)state;
    random_seed(&r, 0);
    assert_true(r.s[0] == 0xe220a8397b1dcdafu);
    assert_true(r.s[1] == 0x6e789e6aa1b965f4u);
    assert_true(r.s[2] == 0x06c45d188009454fu);
    assert_true(r.s[3] == 0xf88bb8a8724c81ecu);
}

static void test_derive(void **state)
{
    (void)state;
    assert_true(random_derive(1, "order", 0) == random_derive(1, "order", 0));
    assert_true(random_derive(1, "order", 0) != random_derive(2, "order", 0));
    assert_true(random_derive(1, "order", 0) != random_derive(1, "order", 1));
    assert_true(random_derive(1, "order", 0) != random_derive(1, "orden", 0));
    assert_true(random_derive(1, "ab", 0) != random_derive(1, "ba", 0));
    assert_true(random_derive(1, "", 0) != 1);
}

/* Children of neighbouring indices look independent: each of 64 bits is set in about half of 4096 children. */
static void test_derive_bits(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        int ones = 0;
        for (uint64_t i = 0; i < 4096; i++)
            ones += (int)((random_derive(42, "cell", i) >> bit) & 1u);
        assert_in_range(ones, 2048 - 5 * 32, 2048 + 5 * 32); /* five standard deviations */
    }
}

static void test_below(void **state)
{
    enum { BOUND = 10, DRAWS = 100000 };
    unsigned count[BOUND] = {0};
    struct random r;
    double chi2 = 0;
    (void)state;
    random_seed(&r, 7);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = random_below(&r, BOUND);
        assert_true(x < BOUND);
        count[x]++;
    }
    for (int i = 0; i < BOUND; i++)
        chi2 += pow(count[i] - DRAWS / (double)BOUND, 2) / (DRAWS / (double)BOUND);
    assert_true(chi2 < 27.88); /* 0.1% point of 9 degrees of freedom */
    assert_true(random_below(&r, 1) == 0);
    /* A bound just above 2^63 rejects nearly half of the draws: without that the upper half would be too rare. */
    unsigned upper = 0;
    for (int i = 0; i < 20000; i++)
        upper += random_below(&r, ((uint64_t)1 << 63) + 1) >= (uint64_t)1 << 62;
    assert_in_range(upper, 10000 - 354, 10000 + 354);
}

static void test_unit_and_exponential(void **state)
{
    enum { DRAWS = 200000 };
    double sum = 0, squares = 0, unit = 0, least = 1, most = 0;
    unsigned beyond = 0;
    struct random r;
    (void)state;
    random_seed(&r, 11);
    for (int i = 0; i < DRAWS; i++) {
        double u = random_unit(&r);
        double x = random_exponential(&r, 2e6);
        unit += u / DRAWS;
        least = fmin(least, u);
        most = fmax(most, u);
        assert_true(x >= 0 && isfinite(x));
        sum += x / 2e6;
        squares += x / 2e6 * (x / 2e6);
        beyond += x > 2e6;
    }
    assert_true(least >= 0 && most < 1);
    assert_true(fabs(unit - 0.5) < 5 * 0.2887 / sqrt(DRAWS));
    assert_true(fabs(sum / DRAWS - 1) < 5 / sqrt(DRAWS));
    assert_true(fabs(squares / DRAWS - 2) < 5 * sqrt(20.0 / DRAWS)); /* var of x^2 is 24 - 4 */
    assert_true(fabs(beyond / (double)DRAWS - exp(-1)) < 5 * 0.4822 / sqrt(DRAWS));
}

/* All 24 orders of four items, equally often; nothing lost. */
static void test_shuffle(void **state)
{
    enum { DRAWS = 24000 };
    unsigned count[256] = {0};
    struct random r;
    double chi2 = 0;
    int orders = 0;
    (void)state;
    random_seed(&r, 13);
    for (int i = 0; i < DRAWS; i++) {
        unsigned items[] = {0, 1, 2, 3};
        random_shuffle(&r, items, 4);
        assert_int_equal((1u << items[0]) | (1u << items[1]) | (1u << items[2]) | (1u << items[3]), 15);
        count[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        orders += count[i] > 0;
        if (count[i])
            chi2 += pow(count[i] - 1000.0, 2) / 1000;
    }
    assert_int_equal(orders, 24);
    assert_true(chi2 < 49.73); /* 0.1% point of 23 degrees of freedom */
    unsigned one = 9;
    random_shuffle(&r, &one, 1);
    random_shuffle(&r, &one, 0);
    assert_int_equal(one, 9);
}

static void test_entropy_differs(void **state)
{
    (void)state;
    assert_true(random_entropy() != random_entropy());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_sequence),
        cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_derive),
        cmocka_unit_test(test_derive_bits),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_unit_and_exponential),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_entropy_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
