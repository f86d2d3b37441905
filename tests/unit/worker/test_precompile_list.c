/* worker/precompile_list: which kernels are compiled before the first cell. */
#include "worker/precompile_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct shape shapes[] = {{.m = 8, .n = 8, .k = 16}, {.m = 64, .n = 8, .k = 16}};
static const char *run_families[] = {"a", "b"};
static size_t n_run_families;
static struct config config;

/* An offline table with the first shape in both layouts (a close runner-up in TN) and one that the config lacks. */
static char families[1][64] = {"a"};
static struct cudal2_variant variants[] = {{"v0"}, {"v1"}, {"v2"}, {"elsewhere"}};
static struct tuned_entry entries[5];
static struct tuned_table offline, server;
static struct tuned_tables tables;
static const size_t *order; /* of the request */
static size_t n_order;

static struct tuned_entry entry(int64_t m, enum cudal2_layout layout, int variant, int runner_up)
{
    return (struct tuned_entry){.m = m,
                                .n = 8,
                                .k = 16,
                                .layout = layout,
                                .variant = variant,
                                .runner_up = runner_up,
                                .time_ns = 1000,
                                .runner_up_ns = 1010};
}

static int start(void **state)
{
    (void)state;
    config = (struct config){.shapes = shapes,
                             .n_shapes = 1,
                             .layouts = 3,
                             .modes = CUDAL2_BIT(MODE_OFFLINE),
                             .accumulates = CUDAL2_BIT(CUDAL2_ACC_F16)};
    n_run_families = 1;
    order = NULL;
    entries[0] = entry(8, CUDAL2_NN, 0, -1);
    entries[1] = entry(8, CUDAL2_TN, 1, 2);
    entries[2] = entry(512, CUDAL2_NN, 3, -1);
    entries[3] = entry(8, CUDAL2_NN, 2, -1); /* of the server table */
    entries[4] = entry(8, CUDAL2_TN, 2, -1);
    offline = (struct tuned_table){.mode = MODE_OFFLINE,
                                   .n_families = 1,
                                   .families = families,
                                   .n_variants = 4,
                                   .variants = variants,
                                   .n_entries = 3,
                                   .entries = entries};
    server = offline;
    server.mode = MODE_SERVER;
    server.n_entries = 2;
    server.entries = entries + 3;
    tables = (struct tuned_tables){1, {&offline}};
    return 0;
}

static bool chooses; /* of the request */

static struct precompile_list collect(void)
{
    const struct precompile_list_request request = {.config = &config,
                                                    .families = run_families,
                                                    .n_families = n_run_families,
                                                    .dtype = CUDAL2_F16,
                                                    .accumulates = config.accumulates,
                                                    .tuned = &tables,
                                                    .chooses = chooses,
                                                    .order = order,
                                                    .n_order = n_order};
    struct precompile_list w;
    precompile_list_collect(&request, &w);
    return w;
}

static void check(const struct precompile_list *w, size_t at, const char *key, enum cudal2_layout layout)
{
    assert_true(at < w->n);
    assert_string_equal(w->keys[at].family, "a");
    assert_string_equal(w->keys[at].key, key);
    assert_int_equal(w->keys[at].layout, layout);
    assert_int_equal(w->keys[at].accumulate, CUDAL2_ACC_F16);
}

static void what_the_table_says_of_the_runs_problems(void **state)
{
    (void)state;
    struct precompile_list w = collect();
    assert_false(w.own);
    assert_int_equal(w.n, 3);
    check(&w, 0, "v0", CUDAL2_NN);
    check(&w, 1, "v1", CUDAL2_TN);
    check(&w, 2, "v2", CUDAL2_TN);
    precompile_list_free(&w);
    config.layouts = CUDAL2_BIT(CUDAL2_NN);
    w = collect();
    assert_int_equal(w.n, 1);
    precompile_list_free(&w);
}

static void a_gap_in_the_table_asks_for_the_sets_own(void **state)
{
    (void)state;
    config.n_shapes = 2;
    struct precompile_list w = collect();
    assert_true(w.own);
    assert_int_equal(w.n, 3);
    precompile_list_free(&w);
    config.n_shapes = 1;
    n_run_families = 2; /* no table speaks of "b", say of a set that is a baseline */
    w = collect();
    assert_true(w.own);
    assert_int_equal(w.n, 3);
    precompile_list_free(&w);
    n_run_families = 1;
    tables.n = 0;
    w = collect();
    assert_true(w.own);
    assert_int_equal(w.n, 0);
    precompile_list_free(&w);
}

static void a_mode_takes_its_own_table(void **state)
{
    (void)state;
    config.modes = CUDAL2_BIT(MODE_SERVER);
    struct precompile_list w = collect();
    assert_true(w.own); /* another mode's choice is not alone */
    assert_int_equal(w.n, 3);
    precompile_list_free(&w);
    tables = (struct tuned_tables){2, {&offline, &server}};
    w = collect();
    assert_false(w.own);
    assert_int_equal(w.n, 2);
    check(&w, 0, "v2", CUDAL2_NN);
    precompile_list_free(&w);
    config.modes = 3;
    w = collect();
    assert_false(w.own);
    assert_int_equal(w.n, 5);
    precompile_list_free(&w);
}

/* A chain has no table of its own: what offline's says, and the set's own beside it. */
static void a_chain_takes_the_offline_table(void **state)
{
    (void)state;
    config.modes = CUDAL2_BIT(MODE_CHAIN);
    struct precompile_list w = collect();
    assert_true(w.own);
    assert_int_equal(w.n, 3);
    check(&w, 0, "v0", CUDAL2_NN);
    precompile_list_free(&w);
}

static void shapes_come_in_the_order_that_is_asked_for(void **state)
{
    static const size_t backwards[] = {1, 0}, second[] = {1};
    (void)state;
    config.n_shapes = 2;
    entries[2] = entry(64, CUDAL2_NN, 3, -1);
    order = backwards;
    n_order = 2;
    struct precompile_list w = collect();
    assert_int_equal(w.n, 4);
    check(&w, 0, "elsewhere", CUDAL2_NN);
    check(&w, 1, "v0", CUDAL2_NN);
    precompile_list_free(&w);
    order = second;
    n_order = 1;
    w = collect();
    assert_int_equal(w.n, 1);
    precompile_list_free(&w);
}

static struct precompile_list collect_cell(int64_t m, enum mode mode)
{
    const struct precompile_list_request request = {.config = &config,
                                                    .families = run_families,
                                                    .n_families = n_run_families,
                                                    .dtype = CUDAL2_F16,
                                                    .accumulates = config.accumulates,
                                                    .tuned = &tables};
    const struct cudal2_problem problem = {.m = m, .n = 8, .k = 16, .dtype = CUDAL2_F16};
    struct precompile_list w;
    precompile_list_cell(&request, &problem, mode, &w);
    return w;
}

static void what_one_cell_asks_for(void **state)
{
    (void)state;
    struct precompile_list w = collect_cell(8, MODE_OFFLINE);
    assert_int_equal(w.n, 3);
    assert_false(w.open);
    precompile_list_free(&w);
    w = collect_cell(64, MODE_OFFLINE); /* in no table */
    assert_int_equal(w.n, 0);
    assert_true(w.open);
    precompile_list_free(&w);
    w = collect_cell(8, MODE_SERVER); /* another mode's table: the set's own too */
    assert_true(w.open);
    precompile_list_free(&w);
    tables.n = 0;
    w = collect_cell(8, MODE_OFFLINE);
    assert_true(w.open);
    precompile_list_free(&w);
    n_run_families = 0; /* libraries alone */
    w = collect_cell(8, MODE_OFFLINE);
    assert_false(w.open);
    precompile_list_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_the_table_says_of_the_runs_problems, start),
        cmocka_unit_test_setup(a_gap_in_the_table_asks_for_the_sets_own, start),
        cmocka_unit_test_setup(a_mode_takes_its_own_table, start),
        cmocka_unit_test_setup(a_chain_takes_the_offline_table, start),
        cmocka_unit_test_setup(shapes_come_in_the_order_that_is_asked_for, start),
        cmocka_unit_test_setup(what_one_cell_asks_for, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
