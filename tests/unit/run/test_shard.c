/* run/shard: every cell has one shard, all shards cut alike, and no shard is much longer than another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "run/run_spec.h"
#include "run/shard.h"

#define SHAPES 60

static struct shape shapes[SHAPES];

/* Sizes from 64 to 16384 in no order: costs over four orders of magnitude. */
static struct config make_config(void)
{
    for (size_t i = 0; i < SHAPES; i++)
        shapes[i] = (struct shape){.m = (int64_t)(i * 37 % SHAPES + 1) * 64,
                                   .n = (int64_t)(i * 11 % 16 + 1) * 512,
                                   .k = (int64_t)(i * 7 % 8 + 1) * 2048,
                                   .label = ""};
    return (struct config){
        .shapes = shapes,
        .n_shapes = SHAPES,
        .dtype_native = true,
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
        .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
        .modes = CUDAL2_BIT(MODE_OFFLINE) | CUDAL2_BIT(MODE_SERVER),
        .stop = {.min_blocks = 32, .max_blocks = 200},
        .gap = {.mean_ns = 2e6},
    };
}

/* The plan of one shard, and what the cut says. */
static struct plan take(const struct config *config, unsigned index, unsigned count, struct shard_cut *cut)
{
    struct plan p;
    struct error err;
    const struct shard shard = {index, count};
    assert_int_equal(plan_build(config, true, 7, &p, &err), 0);
    assert_int_equal(shard_take(&p, &shard, cut, &err), 0);
    return p;
}

static void test_each_cell_once(void **state)
{
    struct config config = make_config();
    int taken[2 * SHAPES] = {0};
    struct shard_cut first, cut;
    (void)state;
    for (unsigned i = 0; i < 7; i++) {
        char key[RECORD_KEY_MAX];
        struct plan p = take(&config, i, 7, i == 0 ? &first : &cut);
        if (i > 0)
            assert_memory_equal(&first, &cut, sizeof cut);
        record_key(&p.cells[0].problem, p.cells[0].mode, key);
        assert_string_equal(key, first.sentinel);
        for (size_t c = i == 0 ? 0 : 1; c < p.n_cells; c++)
            taken[p.cells[c].place]++;
        for (size_t c = 2; c < p.n_cells; c++) /* in plan order */
            assert_true(p.cells[c].place > p.cells[c - 1].place);
        plan_free(&p);
    }
    assert_int_equal(first.n_whole, 2 * SHAPES);
    for (size_t i = 0; i < 2 * SHAPES; i++)
        assert_int_equal(taken[i], 1);
}

/* A cell's seed and the plan's hash are those of the whole run. */
static void test_cells_are_the_whole_runs(void **state)
{
    struct config config = make_config();
    struct shard_cut cut;
    struct plan whole, p = take(&config, 2, 5, &cut);
    struct error err;
    (void)state;
    assert_int_equal(plan_build(&config, true, 7, &whole, &err), 0);
    assert_string_equal(whole.hash, p.hash);
    for (size_t i = 0; i < p.n_cells; i++) {
        assert_int_equal(p.cells[i].seed, whole.cells[p.cells[i].place].seed);
        assert_true(problem_equal(&p.cells[i].problem, &whole.cells[p.cells[i].place].problem));
    }
    plan_free(&whole);
    plan_free(&p);
}

/* Longest first: the longest shard is at most 4/3 of the least that is possible, and here within 2% of the mean. */
static void test_balance(void **state)
{
    struct config config = make_config();
    uint64_t total = 0, longest = 0;
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct shard_cut cut;
        struct plan p = take(&config, i, 6, &cut);
        uint64_t cost = 0;
        for (size_t c = 1; c < p.n_cells; c++)
            cost += shard_cost_us(&p.cells[c]);
        total += cost;
        longest = cost > longest ? cost : longest;
        plan_free(&p);
    }
    assert_true((double)longest < 1.02 * (double)total / 6);
}

static void test_hash_tells_cuts_apart(void **state)
{
    struct config config = make_config();
    struct shard_cut a, b, c;
    struct plan p = take(&config, 0, 4, &a), q = take(&config, 0, 5, &b);
    plan_free(&q);
    config.gap.mean_ns *= 4; /* other costs, another cut of the same cells */
    q = take(&config, 0, 4, &c);
    (void)state;
    assert_string_not_equal(a.hash, b.hash);
    assert_string_equal(p.hash, q.hash);
    assert_string_not_equal(a.hash, c.hash);
    plan_free(&p);
    plan_free(&q);
}

/* More shards than cells: those that get none measure the sentinel. */
static void test_more_shards_than_cells(void **state)
{
    struct config config = make_config();
    size_t cells = 0;
    (void)state;
    config.n_shapes = 2;
    for (unsigned i = 0; i < 9; i++) {
        struct shard_cut cut;
        struct plan p = take(&config, i, 9, &cut);
        assert_in_range(p.n_cells, 1, 2);
        cells += p.n_cells - 1;
        plan_free(&p);
    }
    assert_int_equal(cells, 3);
}

static void test_names(void **state)
{
    const struct shard shard = {3, 8};
    char path[PATH_MAX];
    struct error err;
    (void)state;
    assert_int_equal(run_shard_path("out/r.json", &shard, path, &err), 0);
    assert_string_equal(path, "out/r.shard-3-of-8.json");
    assert_int_equal(run_shard_path("r", &shard, path, &err), 0);
    assert_string_equal(path, "r.shard-3-of-8.json");
    assert_int_equal(run_shard_path("out/", &shard, path, &err), EXIT_CODE_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_cell_once), cmocka_unit_test(test_cells_are_the_whole_runs),
        cmocka_unit_test(test_balance),        cmocka_unit_test(test_hash_tells_cuts_apart),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_more_shards_than_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
