/* worker/precompile_choices: for a problem that no table has, what would race in its cell is known without a GPU; what
 * a table has is left to the list of tables. */
#include "worker/precompile_choices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "measure/choose.h"
#include "ranked_fixture.h"

static struct shape shapes[] = {{.m = 4096, .n = 4096, .k = 4096}, {.m = 4100, .n = 4096, .k = 1000}};
static struct config config;

/* The first shape, in both layouts. */
static char families[1][CONTENDER_NAME_MAX] = {"cudal2"};
static struct cudal2_variant variants[] = {{"persistent:BM=128,BN=128,STAGES=6,EARLY=1"}};
static struct tuned_entry entries[] = {
    {.m = 4096, .n = 4096, .k = 4096, .layout = CUDAL2_NN, .runner_up = -1, .time_ns = 1000},
    {.m = 4096, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .runner_up = -1, .time_ns = 1000},
};
static struct tuned_table table = {.name = "nvidia-h200-f32",
                                   .dtype = CUDAL2_F16,
                                   .accumulate = CUDAL2_ACC_F32,
                                   .n_families = 1,
                                   .n_variants = 1,
                                   .n_entries = 2,
                                   .families = families,
                                   .variants = variants,
                                   .entries = entries};
static const struct tuned_tables tables = {1, {&table}};

static void collect_for(struct device *device, const struct module_set *of, struct precompile_choices *out)
{
    const struct precompile_list_request list = {.config = &config,
                                                 .dtype = CUDAL2_F16,
                                                 .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                                 .tuned = &tables,
                                                 .chooses = true};
    const struct precompile_choices_request request = {&list, of, device, ranker};
    precompile_choices_collect(&request, out);
}

static struct precompile_choices collect(const struct module_set *of)
{
    struct precompile_choices c = {0};
    collect_for(&h200, of, &c);
    return c;
}

static size_t count(const struct precompile_choices *c, enum cudal2_layout layout)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->keys[i].layout == layout;
    return n;
}

static void a_new_problem_has_its_race(void **state)
{
    (void)state;
    struct precompile_choices c = collect(set);
    assert_true(count(&c, CUDAL2_NN) >= CHOOSE_RANKED && count(&c, CUDAL2_NN) <= 24);
    assert_true(count(&c, CUDAL2_TN) >= CHOOSE_RANKED && count(&c, CUDAL2_TN) <= 24);
    for (size_t i = 0; i < c.n; i++) {
        struct cudal2_variant whole;
        assert_string_equal(c.keys[i].family, "cudal2");
        assert_int_equal(c.keys[i].accumulate, CUDAL2_ACC_F32);
        assert_true(module_set_key(set, c.keys[i].key, &whole));
    }
    precompile_choices_free(&c);
    config.layouts = CUDAL2_BIT(CUDAL2_TN);
    c = collect(set);
    assert_int_equal(count(&c, CUDAL2_NN), 0);
    assert_true(c.n >= CHOOSE_RANKED);
    precompile_choices_free(&c);
}

/* The command `compile` asks for each GPU of an architecture in turn. */
static void another_gpu_adds_its_own(void **state)
{
    (void)state;
    struct device other = h200;
    struct precompile_choices c = collect(set);
    size_t first = c.n;
    char key[sizeof c.texts[0]->key];
    strcpy(key, c.keys[0].key);
    collect_for(&other, set, &c);
    assert_int_equal(c.n, 2 * first);
    assert_string_equal(c.keys[0].key, key);
    assert_string_equal(c.keys[first].key, key);
    precompile_choices_free(&c);
}

static void what_a_table_has_is_chosen_already(void **state)
{
    (void)state;
    config.n_shapes = 1;
    struct precompile_choices c = collect(set);
    assert_int_equal(c.n, 0);
    precompile_choices_free(&c);
}

static void no_search_needs_one_each(void **state)
{
    (void)state;
    config.choice = CHOICE_ZERO;
    struct precompile_choices c = collect(set);
    assert_int_equal(c.n, 2);
    precompile_choices_free(&c);
}

/* One kernel that nobody ranks. */
static void without_a_choice_the_set_lists_its_own(void **state)
{
    struct module_set *tiny;
    struct error err;
    (void)state;
    assert_int_equal(module_set_open("tiny", "kernels", &h200, &tiny, &err), 0);
    config.n_shapes = 1;
    struct precompile_choices c = collect(tiny);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.keys[0].family, "tiny");
    precompile_choices_free(&c);
    module_set_close(tiny);
}

static int start(void **state)
{
    (void)state;
    config = (struct config){.shapes = shapes,
                             .n_shapes = 2,
                             .layouts = 3,
                             .modes = CUDAL2_BIT(MODE_OFFLINE),
                             .choice = CHOICE_RACE,
                             .workspace_bytes = 64 << 20};
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_new_problem_has_its_race, start),
        cmocka_unit_test_setup(another_gpu_adds_its_own, start),
        cmocka_unit_test_setup(what_a_table_has_is_chosen_already, start),
        cmocka_unit_test_setup(no_search_needs_one_each, start),
        cmocka_unit_test_setup(without_a_choice_the_set_lists_its_own, start),
    };
    return cmocka_run_group_tests(tests, open_ranked, close_ranked);
}
