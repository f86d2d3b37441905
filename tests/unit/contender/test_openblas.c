/* OpenBLAS behind the plugin ABI: layouts, odd sizes, threads, versions. Skipped where OpenBLAS was not found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "plugin_fixture.h"

static struct plugin plugin;
static bool built;

static void multiply(const char *name, int64_t m, int64_t n, int64_t k, int threads)
{
    char why[CUDAL2_WHY] = "";
    struct contender c = fixture_contender(&plugin, name);
    struct cudal2_problem problem = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    if (fixture_multiply(&c, problem, threads, why) != CUDAL2_OK)
        fail_msg("%s", why);
}

static void both_layouts(void **unused)
{
    (void)unused;
    if (!built)
        skip();
    multiply("openblas-nn", 64, 48, 96, 1);
    multiply("openblas-tn", 64, 48, 96, 1);
    multiply("openblas-nn", 1, 1, 1, 1);
    multiply("openblas-tn", 3, 77, 129, 2);
}

static void alpha_and_beta(void **unused)
{
    const char *const names[] = {"openblas-nn", "openblas-tn"};
    (void)unused;
    if (!built)
        skip();
    for (int i = 0; i < 4; i++) {
        char why[CUDAL2_WHY] = "";
        struct contender c = fixture_contender(&plugin, names[i % 2]);
        const struct cudal2_problem problem = {.m = 17,
                                               .n = 35,
                                               .k = 59,
                                               .dtype = CUDAL2_F32,
                                               .accumulate = CUDAL2_ACC_F32,
                                               .alpha = -0.5,
                                               .beta = i / 2 ? 1.125 : 0};
        assert_true((c.is.flags & CUDAL2_SCALES) != 0);
        assert_int_equal(fixture_multiply(&c, problem, 1, why), CUDAL2_OK);
    }
}

static void sizes_beyond_int_are_unsupported(void **unused)
{
    (void)unused;
    if (!built)
        skip();
    char why[CUDAL2_WHY] = "";
    void *state;
    struct contender c = fixture_contender(&plugin, "openblas-nn");
    struct cudal2_setup setup = {
        .problem = {.m = 1, .n = 1, .k = (int64_t)1 << 31, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32}};
    assert_int_equal(c.ops->setup(&c, &setup, &state, why), CUDAL2_UNSUPPORTED);
    assert_string_equal(why, "cblas_sgemm takes sizes up to 2147483647");
}

static void says_its_version(void **unused)
{
    (void)unused;
    if (!built)
        skip();
    char text[1024];
    assert_int_equal(plugin.is->versions(text, sizeof text), CUDAL2_OK);
    assert_non_null(strstr(text, "\"openblas\":\"OpenBLAS "));
}

static int open_plugin(void **unused)
{
    (void)unused;
    built = fixture_open("openblas", CUDAL2_ON_CPU, &plugin);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_layouts),
        cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(sizes_beyond_int_are_unsupported),
        cmocka_unit_test(says_its_version),
    };
    return cmocka_run_group_tests(tests, open_plugin, NULL);
}
