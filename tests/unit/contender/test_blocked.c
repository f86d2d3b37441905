/* The blocked CPU kernel against plain loops: every edge of its tiles, both layouts, one and several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "plugin_fixture.h"

static struct plugin plugin;

static void multiply(const char *name, int64_t m, int64_t n, int64_t k, int threads)
{
    char why[CUDAL2_WHY] = "";
    struct contender c = fixture_contender(&plugin, name);
    struct cudal2_problem problem = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    if (fixture_multiply(&c, problem, threads, why) != CUDAL2_OK)
        fail_msg("%s", why);
}

static void edges_of_every_tile(void **unused)
{
    (void)unused;
    /* Around 1, the micro-tiles (2, 6, 12 rows; 16, 32 columns), the blocks (96 rows, 256 deep). */
    const int64_t rows[] = {1, 5, 6, 7, 12, 13, 95, 97};
    const int64_t columns[] = {1, 15, 16, 17, 32, 33};
    const int64_t depths[] = {1, 2, 255, 257};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++)
            for (size_t p = 0; p < sizeof depths / sizeof depths[0]; p++) {
                multiply("blocked-nn", rows[i], columns[j], depths[p], 1);
                multiply("blocked-tn", rows[i], columns[j], depths[p], 1);
            }
}

static void wider_than_a_panel(void **unused)
{
    (void)unused;
    multiply("blocked-nn", 3, 2048 + 17, 300, 1);
    multiply("blocked-tn", 3, 2048 + 17, 300, 1);
}

static void leading_dimensions(void **unused)
{
    const char *const names[] = {"blocked-nn", "blocked-tn"};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        char why[CUDAL2_WHY] = "";
        struct contender c = fixture_contender(&plugin, names[i]);
        struct cudal2_problem problem = {.m = 97,
                                         .n = 35,
                                         .k = 259,
                                         .dtype = CUDAL2_F32,
                                         .accumulate = CUDAL2_ACC_F32,
                                         .lda = 300,
                                         .ldb = 261,
                                         .ldc = 36};
        assert_true((c.is.flags & CUDAL2_STRIDES) != 0);
        assert_int_equal(fixture_multiply(&c, problem, 2, why), CUDAL2_OK);
    }
}

static void alpha_and_beta(void **unused)
{
    static const double scales[][2] = {{0.5, 0}, {1, 1}, {-1.25, -0.375}, {4, 0.125}};
    const char *const names[] = {"blocked-nn", "blocked-tn"};
    (void)unused;
    for (size_t i = 0; i < 2 * sizeof scales / sizeof scales[0]; i++) {
        char why[CUDAL2_WHY] = "";
        struct contender c = fixture_contender(&plugin, names[i % 2]);
        const struct cudal2_problem problem = {.m = 97,
                                               .n = 35,
                                               .k = 259, /* two blocks */
                                               .dtype = CUDAL2_F32,
                                               .accumulate = CUDAL2_ACC_F32,
                                               .ldc = i % 2 ? 40 : 0,
                                               .alpha = scales[i / 2][0],
                                               .beta = scales[i / 2][1]};
        assert_true((c.is.flags & CUDAL2_SCALES) != 0);
        assert_int_equal(fixture_multiply(&c, problem, 2, why), CUDAL2_OK);
    }
}

static void several_threads(void **unused)
{
    (void)unused;
    for (int threads = 2; threads <= 5; threads++) {
        multiply("blocked-nn", 131, 97, 130, threads);
        multiply("blocked-tn", 97, 131, 130, threads);
    }
    multiply("blocked-nn", 1, 4096, 400, 3);
    /* more threads than tiles */
    multiply("blocked-tn", 12, 32, 4096, 16);
}

static void thread_counts_out_of_range(void **unused)
{
    (void)unused;
    multiply("blocked-nn", 64, 64, 64, 0);
    multiply("blocked-nn", 64, 64, 64, -3);
}

static void declares_what_it_can(void **unused)
{
    (void)unused;
    char why[CUDAL2_WHY];
    struct device_info gpu = {.device_bit = CUDAL2_ON_CUDA, .cc = 90};
    struct device_info cpu = {.device_bit = CUDAL2_ON_CPU};
    struct contender c = fixture_contender(&plugin, "blocked-nn");
    struct cudal2_problem half = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    struct cudal2_problem single = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    assert_true(contender_supports(&c, &cpu, &single, why));
    assert_false(contender_supports(&c, &gpu, &single, why));
    assert_string_equal(why, "runs on the CPU only");
    assert_false(contender_supports(&c, &cpu, &half, why));
    assert_string_equal(why, "multiplies f32 only, not f16");
}

static int open_plugin(void **unused)
{
    (void)unused;
    return fixture_open("blocked", CUDAL2_ON_CPU, &plugin) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_of_every_tile),  cmocka_unit_test(wider_than_a_panel),
        cmocka_unit_test(leading_dimensions),   cmocka_unit_test(alpha_and_beta),
        cmocka_unit_test(several_threads),      cmocka_unit_test(thread_counts_out_of_range),
        cmocka_unit_test(declares_what_it_can),
    };
    return cmocka_run_group_tests(tests, open_plugin, NULL);
}
