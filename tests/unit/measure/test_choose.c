/* measure/choose: who races for a problem that no table has, before anything is compiled. No GPU: the set is asked, not
 * set up. */
#include "measure/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "choice/portfolio.h"
#include "ranked_fixture.h"

#define MOST 64

static struct contender contender;
static struct config config;
static struct cell_record record;
static struct entrant entrant;
static struct bench bench;
static struct operands operands; /* none */

/* A table of a grid's shapes; the first needs rows of 16 bytes. */
static char families[1][CONTENDER_NAME_MAX] = {"cudal2"};
static struct cudal2_variant variants[] = {
    {"persistent:BM=128,BN=128,STAGES=6,EARLY=1"},  {"tiny:BM=16,BN=32,ALIGNED=0,EARLY=1"},
    {"persistent:BM=64,BN=64,CONSUMERS=1,EARLY=1"}, {"persistent:BM=128,BN=64,EARLY=1"},
    {"persistent:BM=128,BN=256,EARLY=1"},           {"gone:BM=16"},
};
static struct tuned_entry entries[] = {
    {.m = 4096, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .variant = 0, .runner_up = -1, .time_ns = 1000},
    {.m = 4096, .n = 4096, .k = 2048, .layout = CUDAL2_TN, .variant = 5, .runner_up = -1, .time_ns = 1000},
    {.m = 2048, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .variant = 1, .runner_up = -1, .time_ns = 1000},
    {.m = 1024, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .variant = 2, .runner_up = -1, .time_ns = 1000},
    {.m = 512, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .variant = 3, .runner_up = -1, .time_ns = 1000},
    {.m = 256, .n = 4096, .k = 4096, .layout = CUDAL2_TN, .variant = 4, .runner_up = -1, .time_ns = 1000},
};
static struct tuned_table table = {.name = "nvidia-h200-f32",
                                   .dtype = CUDAL2_F16,
                                   .accumulate = CUDAL2_ACC_F32,
                                   .n_families = 1,
                                   .n_variants = sizeof variants / sizeof *variants,
                                   .n_entries = sizeof entries / sizeof *entries,
                                   .families = families,
                                   .variants = variants,
                                   .entries = entries};

static size_t members(int64_t k, enum choice choice, struct choose_member *out)
{
    config = (struct config){.choice = choice, .workspace_bytes = 64 << 20};
    bench =
        (struct bench){.config = &config,
                       .device = &h200,
                       .problem = {.m = 4100, .n = 4096, .k = k, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32},
                       .ranker = ranker,
                       .operands = &operands,
                       .record = &record};
    entrant = (struct entrant){.contender = &contender, .record = &record.contenders[0]};
    return choose_members(&bench, &entrant, &table, out, MOST);
}

static size_t count(const struct choose_member *all, size_t n, enum choose_origin origin)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += all[i].origin == origin;
    return found;
}

/* Sixteen to twenty-four race, of all three, in turns and none twice; a bf16 problem asks fp16's table. */
static void everybody_proposes(void **state)
{
    struct choose_member all[MOST];
    (void)state;
    size_t n = members(4096, CHOICE_RACE, all);
    assert_in_range(n, 16, 24);
    assert_in_range(count(all, n, CHOOSE_BY_RANKER), CHOOSE_RANKED - 2, CHOOSE_RANKED);
    assert_in_range(count(all, n, CHOOSE_BY_NEIGHBOUR), 2, CHOOSE_NEIGHBOURS);
    assert_in_range(count(all, n, CHOOSE_BY_CONTENDER), 1, CHOOSE_OWN);
    assert_int_equal(all[0].origin, CHOOSE_BY_RANKER);
    assert_int_equal(all[1].origin, CHOOSE_BY_NEIGHBOUR);
    assert_non_null(strstr(all[1].variant.key, "persistent:BM=128,BN=128"));
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < i; o++)
            assert_string_not_equal(all[i].variant.key, all[o].variant.key);
}

/* A table's key has all its parameters here, and one that no kernel knows or that does not take the problem is not
 * compiled in vain. */
static void neighbours_must_fit(void **state)
{
    struct choose_member all[MOST];
    size_t neighbours = 0;
    (void)state;
    size_t n = members(4095, CHOICE_RACE, all); /* rows of an odd number of elements */
    for (size_t i = 0; i < n; i++) {
        assert_null(strstr(all[i].variant.key, "persistent"));
        assert_null(strstr(all[i].variant.key, "gone"));
        neighbours += all[i].origin == CHOOSE_BY_NEIGHBOUR;
        if (all[i].origin == CHOOSE_BY_NEIGHBOUR)
            assert_string_equal(all[i].variant.key, "tiny:BM=16,BN=32,WARPS=4,CLUSTER_K=1,DEPTH=2,ALIGNED=0,EARLY=1");
    }
    assert_in_range(neighbours, 0, 1);
    assert_in_range(n, 4, 24);
}

/* The space has no kernel `odd`, so nobody ranks it: where the set's entry names it, it comes first. */
static void who_is_not_ranked_comes_first(void **state)
{
    struct choose_member all[MOST];
    (void)state;
    assert_in_range(members(1023, CHOICE_ZERO, all), 4, 24);
    assert_int_equal(all[0].origin, CHOOSE_BY_CONTENDER);
    assert_int_equal(strncmp(all[0].variant.key, "odd:", 4), 0);
    size_t n = members(5, CHOICE_ZERO, all); /* too little to multiply for what packing takes */
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++)
        assert_int_not_equal(strncmp(all[i].variant.key, "odd:", 4), 0);
}

/* `table` asks neighbours alone. */
static void a_table_is_asked_alone(void **state)
{
    struct choose_member all[MOST];
    (void)state;
    size_t n = members(4096, CHOICE_TABLE, all);
    assert_int_equal(count(all, n, CHOOSE_BY_NEIGHBOUR), n);
    assert_int_equal(n, 5); /* of six winners, of which one is gone */
}

/* The other layout's are compiled with an entrant's own, until that has chosen itself. */
static void both_layouts_are_compiled_at_once(void **state)
{
    struct choose_member own[MOST], others[MOST];
    struct contender nn;
    (void)state;
    size_t n = members(4096, CHOICE_RACE, own);
    module_set_contender(set, CUDAL2_NN, &nn);
    contender.role = nn.role = ROLE_CANDIDATE;
    bench.entrants[0] = entrant;
    bench.entrants[1] = (struct entrant){.contender = &nn, .record = &record.contenders[1]};
    bench.n_entrants = 2;
    size_t n_others = choose_others(&bench, &bench.entrants[0], &table, others, CHOOSE_OTHERS);
    assert_in_range(n, 16, 24);
    assert_in_range(n_others, 16, 24);
    for (size_t i = 0; i < n_others; i++)
        assert_int_equal(others[i].layout, CUDAL2_NN);
    assert_int_equal(choose_others(&bench, &bench.entrants[0], &table, others, 3), 3);
    record.contenders[1].tuning = cJSON_CreateObject();
    assert_int_equal(choose_others(&bench, &bench.entrants[0], &table, others, CHOOSE_OTHERS), 0);
    cJSON_Delete(record.contenders[1].tuning);
    record.contenders[1].tuning = NULL;
}

static int open_all(void **state)
{
    int code = open_ranked(state);
    module_set_contender(set, CUDAL2_TN, &contender);
    return code;
}

/* Where the portfolio alone is there, neighbours and the ranker name nothing else; the set's entries are there too. */
static void a_portfolio_binds_who_does_not_list(void **state)
{
    struct choose_member all[MOST];
    struct ranker *usual = ranker;
    struct portfolio *portfolio = portfolio_open(set);
    (void)state;
    assert_non_null(portfolio);
    ranker = ranker_open(&h200.info, 1);
    ranker_keep_portfolio(ranker);
    size_t n = members(4096, CHOICE_PORTFOLIO, all);
    assert_in_range(n, 8, 24);
    for (size_t i = 0; i < n; i++)
        assert_true(all[i].origin == CHOOSE_BY_CONTENDER ||
                    portfolio_has(portfolio, all[i].layout, all[i].variant.key));
    ranker_close(ranker);
    ranker = usual;
    portfolio_close(portfolio);
}

/* What is left of the call in equal parts; but whoever waited long for a compiler races more than one kernel. */
static void races_share_what_is_left(void **state)
{
    (void)state;
    assert_true(fabs(choose_race_seconds(0.7, true) - 1.0) < 1e-9);
    assert_true(fabs(choose_race_seconds(0.7, false) - 2.0) < 1e-9);
    assert_true(choose_race_seconds(2.8, true) == CHOOSE_RACE && choose_race_seconds(2.8, false) == CHOOSE_RACE);
    assert_true(CHOOSE_CALL + 2 * CHOOSE_RACE < 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_proposes),
        cmocka_unit_test(neighbours_must_fit),
        cmocka_unit_test(who_is_not_ranked_comes_first),
        cmocka_unit_test(a_table_is_asked_alone),
        cmocka_unit_test(both_layouts_are_compiled_at_once),
        cmocka_unit_test(a_portfolio_binds_who_does_not_list),
        cmocka_unit_test(races_share_what_is_left),
    };
    return cmocka_run_group_tests(tests, open_all, close_ranked);
}
