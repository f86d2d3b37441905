/* worker/placement: how many sets of matrices, how many visits, and who shares, on an H200 as it describes itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "worker/placement.h"

static const struct device_info h200 = {.timings = CUDAL2_BIT(TIMING_DEVICE) | CUDAL2_BIT(TIMING_EVENT) |
                                                   CUDAL2_BIT(TIMING_WALL),
                                        .l2_bytes = 62914560,
                                        .memory_bytes = 150109880320};
static struct config config;

static int plain_config(void **state)
{
    (void)state;
    config = (struct config){.protocol = PROTOCOL_ADAPTIVE};
    return 0;
}

static struct placement choose(int64_t m, int64_t n, int64_t k)
{
    struct cudal2_problem p = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    return placement_choose(&config, &h200, &p, MODE_OFFLINE, TIMING_DEVICE);
}

static void assert_places(int64_t m, int64_t n, int64_t k, size_t sets, unsigned visits)
{
    struct placement p = choose(m, n, k);
    if (p.sets_each != sets * visits || p.visits != visits)
        fail_msg("%dx%dx%d: %zu sets in %u visits, not %u visits of %zu", (int)m, (int)n, (int)k, p.sets_each, p.visits,
                 visits, sets);
}

static void small_problems_take_turns(void **state)
{
    (void)state;
    assert_places(64, 128, 64, 8, 1);   /* eight sets in a quarter of the L2 need no visit */
    assert_places(64, 2048, 256, 6, 1); /* 2.28 MiB, six in 15 MiB; two visits would make twelve places */
    assert_places(64, 1024, 1024, 3, 2);
    assert_places(4096, 128, 256, 4, 2);
}

static void at_most_three_visits(void **state)
{
    (void)state;
    assert_places(512, 64, 4096, 2, 3); /* four would make eight places */
    assert_places(64, 8192, 256, 1, 3);
    assert_places(128, 256, 12288, 1, 3);  /* 15.1 MiB, seven would fit in 120 */
    assert_places(12288, 64, 1024, 1, 3);  /* 28.5 MiB */
    assert_places(8192, 2048, 128, 1, 3);  /* 35 MiB */
    assert_places(1024, 1024, 8192, 1, 1); /* 50 MiB: two would fit, which are too few */
    assert_places(4096, 4096, 4096, 1, 1);
}

/* The deepest problem of which three sets fit, and the next. */
static void three_is_the_least(void **state)
{
    (void)state;
    assert_places(64, 64, 109205, 1, 3); /* 40 MiB: a third of two L2s */
    struct placement p = choose(64, 64, 109206);
    assert_int_equal(p.visits, 1);
    assert_int_equal(p.sets_each, 1);
}

static void places_never_exceed_eight_nor_the_cache(void **state)
{
    (void)state;
    for (int64_t m = 64; m <= 16384; m *= 2)
        for (int64_t n = 64; n <= 16384; n *= 2)
            for (int64_t k = 64; k <= 16384; k *= 2) {
                struct placement p = choose(m, n, k);
                double set = 2.0 * (double)(m * k + 2 * k * n + m * n);
                assert_true(p.visits >= 1 && p.visits <= DEVICE_MAX_VISITS);
                assert_true(p.sets_each >= 1 && p.sets_each <= 8);
                assert_int_equal(p.sets_each % p.visits, 0);
                assert_true(p.sets_each == 1 || set * (double)p.sets_each <= 2.0 * 62914560);
                assert_true(p.visits != 2 || p.sets_each > 2); /* two visits of one set are no average */
            }
}

/* What cannot visit has the sets it had, and one visit. */
static void assert_stays(enum mode mode, enum timing headline, size_t sets)
{
    struct cudal2_problem p = {.m = 64, .n = 1024, .k = 1024, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    struct placement got = placement_choose(&config, &h200, &p, mode, headline);
    assert_int_equal(got.visits, 1);
    assert_int_equal(got.sets_each, sets);
}

static void only_warm_offline_segments_visit(void **state)
{
    (void)state;
    assert_stays(MODE_SERVER, TIMING_DEVICE, 1);
    assert_stays(MODE_OFFLINE, TIMING_EVENT, 3);
    assert_stays(MODE_OFFLINE, TIMING_WALL, 3);
    config.cache[MODE_OFFLINE] = CACHE_FLUSH;
    assert_stays(MODE_OFFLINE, TIMING_DEVICE, 1);
    config.cache[MODE_OFFLINE] = CACHE_ROTATE;
    assert_stays(MODE_OFFLINE, TIMING_DEVICE, 55); /* two L2s hold 53.3 of 2.25 MiB; and one more */
    config.cache[MODE_OFFLINE] = CACHE_LEFT;
    assert_stays(MODE_OFFLINE, TIMING_DEVICE, 1);
    config.cache[MODE_OFFLINE] = CACHE_WARM;
    config.protocol = PROTOCOL_PAPER;
    assert_stays(MODE_OFFLINE, TIMING_DEVICE, 3);
}

/* As many as hold two L2s, as a segment has launches and primers, and as a limit on memory leaves for a dozen
 * contenders. */
static void rotated_sets_are_bounded(void **state)
{
    (void)state;
    config.cache[MODE_OFFLINE] = CACHE_ROTATE;
    assert_int_equal(choose(64, 64, 64).sets_each, 72);
    assert_int_equal(choose(64, 1024, 1024).sets_each, 55);
    assert_int_equal(choose(8192, 8192, 8192).sets_each, 2);
    config.limits.memory_bytes = 1 << 30;
    assert_int_equal(choose(64, 1024, 1024).sets_each, 5); /* of 4.4 MiB */
    config.limits.memory_bytes = 1 << 20;
    assert_int_equal(choose(64, 1024, 1024).sets_each, 1);
}

static void what_is_left_is_shared(void **state)
{
    (void)state;
    assert_false(choose(64, 64, 64).shared);
    config.cache[MODE_SERVER] = CACHE_LEFT; /* each mode has a state of its own */
    assert_false(choose(64, 64, 64).shared);
    config.cache[MODE_OFFLINE] = CACHE_LEFT;
    assert_true(choose(64, 64, 64).shared);
}

static void a_device_without_segments_has_one_set(void **state)
{
    (void)state;
    struct device_info cpu = {.timings = CUDAL2_BIT(TIMING_WALL), .l2_bytes = 1 << 20, .memory_bytes = 1 << 30};
    struct cudal2_problem p = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    struct placement got = placement_choose(&config, &cpu, &p, MODE_OFFLINE, TIMING_WALL);
    assert_int_equal(got.visits, 1);
    assert_int_equal(got.sets_each, 1);
    cpu.l2_bytes = cpu.memory_bytes = 0; /* a CPU may not know */
    got = placement_choose(&config, &cpu, &p, MODE_OFFLINE, TIMING_WALL);
    assert_int_equal(got.visits, 1);
    assert_int_equal(got.sets_each, 1);
}

static void what_is_not_cached_is_shared(void **state)
{
    (void)state;
    assert_false(choose(64, 64, 64).shared);
    assert_false(choose(4096, 4096, 3754).shared); /* two L2s are 120 MiB */
    assert_true(choose(4096, 4096, 3755).shared);
    assert_true(choose(16384, 16384, 16384).shared);
    struct cudal2_problem p = {.m = 4096, .n = 4096, .k = 4096, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    assert_true(placement_choose(&config, &h200, &p, MODE_SERVER, TIMING_DEVICE).shared);
    config.protocol = PROTOCOL_PAPER;
    assert_true(choose(64, 64, 64).shared);
}

/* Nothing is timed as a segment there. What is cached is never shared, however small the memory. */
static void without_segments_who_fits_has_its_own(void **state)
{
    (void)state;
    struct device_info cpu = h200;
    struct cudal2_problem p = {.m = 4096,
                               .n = 4096,
                               .k = 4096,
                               .dtype = CUDAL2_F16,
                               .accumulate = CUDAL2_ACC_F16}; /* 128 MiB: 8 MiB more than two L2s */
    cpu.timings = CUDAL2_BIT(TIMING_WALL);
    cpu.memory_bytes = (uint64_t)6 << 30; /* twelve are exactly a quarter of it */
    assert_false(placement_choose(&config, &cpu, &p, MODE_OFFLINE, TIMING_WALL).shared);
    cpu.memory_bytes--;
    assert_true(placement_choose(&config, &cpu, &p, MODE_OFFLINE, TIMING_WALL).shared);
    assert_true(placement_choose(&config, &cpu, &p, MODE_SERVER, TIMING_WALL).shared);
    p.k = 2048; /* 80 MiB */
    cpu.memory_bytes = (uint64_t)1 << 30;
    assert_false(placement_choose(&config, &cpu, &p, MODE_OFFLINE, TIMING_WALL).shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(small_problems_take_turns, plain_config),
        cmocka_unit_test_setup(at_most_three_visits, plain_config),
        cmocka_unit_test_setup(three_is_the_least, plain_config),
        cmocka_unit_test_setup(places_never_exceed_eight_nor_the_cache, plain_config),
        cmocka_unit_test_setup(only_warm_offline_segments_visit, plain_config),
        cmocka_unit_test_setup(rotated_sets_are_bounded, plain_config),
        cmocka_unit_test_setup(what_is_left_is_shared, plain_config),
        cmocka_unit_test_setup(a_device_without_segments_has_one_set, plain_config),
        cmocka_unit_test_setup(what_is_not_cached_is_shared, plain_config),
        cmocka_unit_test_setup(without_segments_who_fits_has_its_own, plain_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
