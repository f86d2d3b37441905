/* choice/trees: what a file of trees says, what it refuses, and the committed one with the features that there are. */
#include "choice/trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "choice/cudal2/features.h"
#include "h200_fixture.h"
#include "tile_fixture.h"

static const char *const names[] = {"tile", "size", NULL};

#define HEAD "cudal2-bench/trees 1\ncc 90\nfeatures 2\nsize -8 0x1p+3\ntile 0 100\n"

static double value(const char *text, float tile, float size)
{
    struct trees *t;
    struct error err;
    const float features[] = {tile, size};
    if (trees_parse("some.trees", text, names, &t, &err))
        fail_msg("%s", err.text);
    double made;
    trees_values(t, features, 2, 1, &made);
    trees_free(t);
    return made;
}

/* Features go by name, what equals a threshold goes left, and trees add up. */
static void leaves_add_up(void **state)
{
    static const char two[] = HEAD "trees 2\n2\n0 0x1p+0 1 -1\n1 48 -2 -3\n1000 -2000 3000\n0\n5\n";
    (void)state;
    assert_float_equal(value(two, 7, 2), 0.1005, 1e-9); /* size over 1 */
    assert_float_equal(value(two, 48, 1), -0.1995, 1e-9);
    assert_float_equal(value(two, 49, 1), 0.3005, 1e-9);
    assert_float_equal(value(HEAD "trees 0\n", 1, 1), 0.0, 1e-12);
}

/* Rows that are asked about together have what each has alone, however many are left over. */
static void rows_are_apart(void **state)
{
    static const char two[] = HEAD "trees 2\n2\n0 0x1p+0 1 -1\n1 48 -2 -3\n1000 -2000 3000\n0\n5\n";
    enum { ROWS = 21 };
    float features[ROWS][2];
    double together[ROWS];
    struct trees *t;
    struct error err;
    (void)state;
    if (trees_parse("some.trees", two, names, &t, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < ROWS; i++) {
        features[i][0] = (float)(i * 7 % 110);
        features[i][1] = (float)(i % 3);
    }
    for (size_t n = 0; n <= ROWS; n++) {
        trees_values(t, features[0], 2, n, together);
        for (size_t i = 0; i < n; i++)
            assert_float_equal(together[i], value(two, features[i][0], features[i][1]), 0.0);
    }
    trees_free(t);
}

/* Where training saw nothing the trees count half, and a quarter where two features are outside. */
static void outside_of_what_was_seen_little_counts(void **state)
{
    static const char one[] = HEAD "trees 1\n0\n4000\n";
    (void)state;
    assert_float_equal(value(one, 100, 8), 0.4, 1e-9);
    assert_float_equal(value(one, 101, 8), 0.2, 1e-9);
    assert_float_equal(value(one, -1, -9), 0.1, 1e-9);
}

static void refuse(const char *text, const char *why)
{
    struct trees *t;
    struct error err = {0};
    assert_int_equal(trees_parse("some.trees", text, names, &t, &err), EXIT_CODE_DATA);
    assert_null(t);
    if (!strstr(err.text, why))
        fail_msg("%s: not %s", err.text, why);
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    refuse("", "line 1: expected cudal2-bench/trees");
    refuse("cudal2-bench/trees 2\n", "line 1: expected a number in its range");
    refuse("cudal2-bench/trees 1\ncc 90\nfeatures 1\nheight 0 1\ntrees 0\n",
           "line 4: expected a feature that there is");
    refuse("cudal2-bench/trees 1\ncc 90\nfeatures 1\nsize 0 inf\ntrees 0\n", "line 4: expected a finite number");
    refuse(HEAD "trees 1\n1\n2 0 -1 -2\n0 0\n", "line 8: expected a number in its range"); /* no third feature */
    refuse(HEAD "trees 1\n2\n0 0 1 -1\n0 0 1 -2\n0 0 0\n", "line 9: expected a child that comes after its parent");
    refuse(HEAD "trees 1\n1\n0 0 -1 -3\n0 0\n", "line 8: expected a number in its range"); /* no third leaf */
    refuse(HEAD "trees 1\n1\n0 0 -1 -2\n0\n", "expected a number in its range");
    refuse(HEAD "trees 0\n1\n", "line 7: expected the end of the file");
}

/* Every configuration has finite features, also of the smallest and largest problems, and no name is there twice. */
static void features_are_finite(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {7, 4096, 14336}, {4384, 5096, 1392}, {1048576, 16384, 64}};
    struct module_set *set = open_cudal2();
    const struct model_machine machine = figures_machine(&h200.info);
    const struct space_conditions on = h200_conditions(CUDAL2_ACC_F32, CUDAL2_NN);
    struct space space;
    (void)state;
    open_space(set, &on, &space);
    for (size_t i = 0; i < 4 * space.n_configurations; i++) {
        const int64_t *s = sizes[i % 4];
        const struct model_tile *tile = &space.configurations[i / 4].tile;
        const struct feature_query query = {
            &machine,
            {.m = s[0], .n = s[1], .k = s[2], .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
            CUDAL2_NN,
            false,
            true};
        float out[FEATURES_COUNT];
        double seconds = model_seconds(&machine, &query.problem, query.layout, tile);
        features_of(&query, tile, seconds, out);
        for (size_t f = 0; f < FEATURES_COUNT; f++)
            if (!isfinite(out[f]))
                fail_msg("%s is not finite", feature_names[f]);
    }
    for (size_t f = 0; f < FEATURES_COUNT; f++)
        for (size_t o = 0; o < f; o++)
            assert_string_not_equal(feature_names[f], feature_names[o]);
    assert_null(feature_names[FEATURES_COUNT]);
    space_free(&space);
    module_set_close(set);
}

static float feature(const struct model_machine *machine, int64_t m, const char *name)
{
    struct model_tile tile = plain;
    tile.early = true;
    const struct feature_query query = {
        machine,
        {.m = m, .n = 4096, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        CUDAL2_TN,
        false,
        true};
    float out[FEATURES_COUNT];
    features_of(&query, &tile, 1e-4, out);
    for (size_t f = 0; f < FEATURES_COUNT; f++)
        if (strcmp(feature_names[f], name) == 0)
            return out[f];
    fail_msg("no feature %s", name);
    return 0;
}

/* Half the machine with half of the problem is full as often: features know no GPU's name, only its figures. */
static void features_are_ratios(void **state)
{
    struct model_machine whole = figures_machine(&h200.info), half = whole;
    (void)state;
    half.sm_count /= 2;
    half.flops /= 2;
    assert_float_equal(feature(&whole, 8192, "waves"), feature(&half, 4096, "waves"), 1e-6);
    assert_float_equal(feature(&whole, 8192, "ctas"), feature(&half, 4096, "ctas"), 1e-6);
    assert_float_equal(feature(&whole, 8192, "products"), feature(&half, 4096, "products"), 1e-6);
    assert_float_equal(feature(&whole, 8192, "last_wave"), (float)(64 * 32 / 132.0 - 15), 1e-6);
}

static void the_committed_trees_are_read(void **state)
{
    struct trees *t;
    struct error err;
    (void)state;
    if (trees_load("kernels/spaces/cudal2.trees", feature_names, &t, &err))
        fail_msg("%s", err.text);
    assert_int_equal(trees_cc(t), 90);
    trees_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_add_up),
        cmocka_unit_test(rows_are_apart),
        cmocka_unit_test(outside_of_what_was_seen_little_counts),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(features_are_finite),
        cmocka_unit_test(features_are_ratios),
        cmocka_unit_test(the_committed_trees_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
