/* record/series_text: times as short strings, exact to their step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "record/series_text.h"

static void expect_text(const double *ns, size_t n, double step_tenths, const char *wanted)
{
    char *text = series_text_write(ns, n, step_tenths);
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void steps_follow_the_shortest(void **state)
{
    static const double cases[][2] = {{0, 1},      {3, 1},     {999.9, 1},   {1000, 2},    {2499.9, 2},  {2500, 5},
                                      {4999, 5},   {5000, 10}, {9999, 10},   {10e3, 20},   {24.9e3, 20}, {25e3, 50},
                                      {50e3, 100}, {1e6, 2e3}, {2.6e9, 5e6}, {1e15, 2e12}, {99999, 100}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(series_step_tenths(cases[i][0]) == cases[i][1]);
}

static void values_by_hand(void **state)
{
    (void)state;
    expect_text((double[]){4213.5, 4214.5, 4213.5}, 3, 0, "0.5:8427:ACA");
    /* 31 is the last of one character: f; 32 is 0 with more to come (g), then 1 (B); 1024 is g g B */
    expect_text((double[]){0, 3.1, 3.2, 102.4}, 4, 0, "0.1:0:AfgBggB");
    expect_text((double[]){700, 100.4, 900}, 3, 1000, "100:1:GAI");
    expect_text(NULL, 0, 0, "0.1:0:");
    expect_text((double[]){-5, NAN}, 2, 0, "0.1:0:AA"); /* never negative, never not a number */
}

/* Every magnitude comes back within half a step, and a second writing is the first one again. */
static void survives_the_way_round(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 11);
    for (double scale = 0.05; scale < 1e13; scale *= 1.37) {
        double ns[64], back[64];
        for (int i = 0; i < 64; i++)
            ns[i] = scale * (1 + (i % 8 ? 0.03 : 30) * random_unit(&random));
        ns[63] = scale;
        char *once = series_text_write(ns, 64, 0);
        struct series_text t;
        assert_true(series_text_open(once, &t));
        for (int i = 0; i < 64; i++)
            assert_int_equal(series_text_next(&t, &back[i]), 1);
        double beyond;
        assert_int_equal(series_text_next(&t, &beyond), 0);
        for (int i = 0; i < 64; i++)
            assert_true(fabs(back[i] - ns[i]) <= fmax(0.0501, 1.001e-4 * scale));
        char *twice = series_text_write(back, 64, 0);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
    }
}

/* A shortest time that rounds up over the limit of its step must not change the step when it is written again. */
static void steps_do_not_creep(void **state)
{
    (void)state;
    for (double edge = 1000; edge < 1e6; edge = edge == 1000 ? 2500 : edge * 2) {
        for (double below = 0; below < 1; below += 0.01) {
            const double ns[2] = {edge - below, edge - below + 7.3};
            double back[2];
            struct series_text t;
            char *once = series_text_write(ns, 2, 0);
            assert_true(series_text_open(once, &t));
            assert_int_equal(series_text_next(&t, &back[0]), 1);
            assert_int_equal(series_text_next(&t, &back[1]), 1);
            char *twice = series_text_write(back, 2, 0);
            assert_string_equal(once, twice);
            free(once);
            free(twice);
        }
    }
}

static void malformed_text_is_refused(void **state)
{
    static const char *const heads[] = {"",        "1",        "1:",     "1:2",       "x:1:A",
                                        ":1:A",    "1::A",     "-1:1:A", "0:1:A",     "1:-1:A",
                                        "1:1.5:A", "0.15:1:A", " 1:1:A", "1e400:1:A", "1:99999999999999999999:A"};
    static const char *const digits[] = {"1:1:=",  "1:1:A A",           "1:1:g",
                                         "1:1:\"", "1:1:ggggggggggggB", "1000000:999999999999:A"};
    (void)state;
    struct series_text t;
    double ns;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (series_text_open(heads[i], &t))
            fail_msg("\"%s\" was taken", heads[i]);
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        int got = 1;
        assert_true(series_text_open(digits[i], &t));
        while (got > 0)
            got = series_text_next(&t, &ns);
        if (got == 0)
            fail_msg("\"%s\" was taken", digits[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_the_shortest), cmocka_unit_test(values_by_hand),
        cmocka_unit_test(survives_the_way_round),    cmocka_unit_test(steps_do_not_creep),
        cmocka_unit_test(malformed_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
