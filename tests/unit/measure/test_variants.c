/* measure/variants: where a race's variants come from - a search, a tuning table, its neighbours, the contender. */
#include "measure/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fixture.h"
#include "scratch_fixture.h"

static struct fixture f;

/* A table of one family "a" with keys v0, v1, v2 and one that the contender does not know. */
enum { KEY_UNKNOWN = 3 };
static char families[1][64] = {"a"};
static struct cudal2_variant keys[] = {{"v0"}, {"v1"}, {"v2"}, {"other:X=1"}};
static struct tuned_entry entries[4];
static struct tuned_table table = {.name = "fake-f16",
                                   .dtype = CUDAL2_F16,
                                   .accumulate = CUDAL2_ACC_F16,
                                   .n_families = 1,
                                   .n_variants = 4,
                                   .families = families,
                                   .variants = keys,
                                   .entries = entries};
static struct tuned_tables tables = {1, {&table}};

static void add_entry(int64_t m, int variant, int runner_up, double runner_up_ns)
{
    entries[table.n_entries++] = (struct tuned_entry){.m = m,
                                                      .n = 8,
                                                      .k = 16,
                                                      .layout = CUDAL2_NN,
                                                      .variant = variant,
                                                      .runner_up = runner_up,
                                                      .time_ns = 1000,
                                                      .runner_up_ns = runner_up_ns};
}

/* One contender with three variants, v2 the fastest; the problem is 8x8x16. */
static void open_bench(void)
{
    const double ns[] = {3000, 2000, 1000};
    fixture_open(&f, 1);
    f.actors[0].n_variants = 3;
    memcpy(f.actors[0].variant_ns, ns, sizeof ns);
    fixture_start(&f);
    f.bench.tuned = &tables;
    table.n_entries = 0;
}

static int gather(struct cudal2_variant *out)
{
    char why[CUDAL2_WHY];
    return variants_gather(&f.bench, &f.bench.entrants[0], out, why);
}

static const char *said(const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].tuning, key);
    return cJSON_IsString(node) ? node->valuestring : "";
}

static const cJSON *list(const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].tuning, key);
}

static void the_very_problem_has_its_winner(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    add_entry(16, 0, -1, 0);
    add_entry(8, 1, 2, 1030); /* 3% behind: not worth a race */
    assert_int_equal(gather(out), 1);
    assert_string_equal(out[0].key, "v1");
    assert_string_equal(said("source"), "tuned");
    assert_string_equal(said("table"), "fake-f16");
    assert_null(list("neighbours"));
    fixture_close(&f);
}

static void a_close_runner_up_races(void **state)
{
    struct race_result race;
    struct error err;
    (void)state;
    open_bench();
    add_entry(8, 1, 2, 1015);
    assert_int_equal(race_run(&f.bench, &f.bench.entrants[0], &race, &err), 0);
    assert_int_equal(race.n, 2);
    assert_string_equal(race.ranked[0].key, "v2"); /* here it is the faster one */
    assert_int_equal(cJSON_GetArraySize(list("race_ns")), 2);
    assert_int_equal(cJSON_GetArraySize(list("keys")), 2);
    assert_string_equal(cJSON_GetArrayItem(list("keys"), 1)->valuestring, "v2");
    free(race.ranked);
    fixture_close(&f);
}

/* What the supervisor would read on the stage page. */
static char on_page[2][RECORD_NAME_MAX];
static void write_page(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    (void)context;
    (void)deadline_seconds;
    snprintf(on_page[0], sizeof on_page[0], "%s", contender ? contender : "");
    snprintf(on_page[1], sizeof on_page[1], "%s", stage);
}

/* The racers are torn down after a loss; the page still names who was running, at whatever launch that was. */
static void a_loss_in_a_race_keeps_its_name(void **state)
{
    struct race_result race;
    struct error err;
    (void)state;
    for (int launch = 1; launch < 200; launch += 9) {
        open_bench();
        f.bench.tuned = NULL;
        f.bench.report = write_page;
        f.actors[0].break_from = launch;
        assert_int_equal(race_run(&f.bench, &f.bench.entrants[0], &race, &err), EXIT_CODE_UNAVAILABLE);
        assert_string_equal(on_page[0], "a-nn");
        assert_string_not_equal(on_page[1], "teardown");
        free(race.ranked);
        fixture_close(&f);
    }
}

static void a_missing_problem_asks_its_neighbours(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    add_entry(64, 0, 1, 1001); /* three octaves away; a neighbour's runner-up stays out */
    add_entry(16, 2, -1, 0);
    add_entry(32, 2, -1, 0); /* nothing new */
    assert_int_equal(gather(out), 3);
    assert_string_equal(out[0].key, "v2");
    assert_string_equal(out[1].key, "v1"); /* the contender's own race beside them */
    assert_string_equal(out[2].key, "v0");
    assert_int_equal(list("own")->valueint, 1);
    assert_string_equal(said("source"), "neighbour");
    assert_string_equal(said("table"), "fake-f16");
    assert_true(list("distance")->valuedouble == 1);
    assert_int_equal(cJSON_GetArraySize(list("neighbours")), 2);
    assert_string_equal(cJSON_GetArrayItem(list("neighbours"), 0)->valuestring, "16x8x16/nn");
    assert_string_equal(cJSON_GetArrayItem(list("neighbours"), 1)->valuestring, "64x8x16/nn");
    fixture_close(&f);
}

/* Offline winners are a good guess from idle, and no more. */
static void another_modes_table_is_not_alone(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    f.bench.mode = MODE_SERVER;
    add_entry(8, 1, -1, 0);
    assert_int_equal(gather(out), 3);
    assert_string_equal(out[0].key, "v1");
    assert_string_equal(out[1].key, "v0");
    assert_string_equal(out[2].key, "v2");
    assert_string_equal(said("source"), "tuned");
    assert_int_equal(list("own")->valueint, 2);
    fixture_close(&f);
}

/* What the contender refuses is passed over: the very problem's winner, then the nearest neighbour's. */
static void what_does_not_fit_is_passed_over(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    add_entry(8, KEY_UNKNOWN, -1, 0);
    add_entry(16, KEY_UNKNOWN, -1, 0);
    add_entry(32, 1, -1, 0);
    assert_int_equal(gather(out), 3);
    assert_string_equal(out[1].key, "v1");
    assert_string_equal(said("source"), "neighbour");
    assert_true(list("distance")->valuedouble == 2);
    assert_int_equal(f.actors[0].setups, f.actors[0].teardowns);
    fixture_close(&f);
}

static void without_a_fit_the_contender_lists_its_own(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    add_entry(8, KEY_UNKNOWN, -1, 0);
    assert_int_equal(gather(out), 3);
    assert_string_equal(said("source"), "");
    fixture_close(&f);
    open_bench();
    f.bench.tuned = NULL;
    assert_int_equal(gather(out), 3);
    fixture_close(&f);
}

/* A table's choice is not remembered as the winner of a race: without the table the next run races again. */
static void tables_leave_the_memory_alone(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    add_entry(8, 1, -1, 0);
    assert_int_equal(gather(out), 1);
    snprintf(f.bench.entrants[0].variant, sizeof f.bench.entrants[0].variant, "v1");
    race_remember(&f.bench, &f.bench.entrants[0]);
    fixture_close(&f);
    open_bench();
    assert_int_equal(gather(out), 3);
    fixture_close(&f);
}

/* A choice costs a race once: its winner is remembered for the problem. */
static void a_choice_is_remembered(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    open_bench();
    f.bench.problem.m = 24;
    add_entry(16, 2, -1, 0);
    assert_int_equal(gather(out), 3);
    snprintf(f.bench.entrants[0].variant, sizeof f.bench.entrants[0].variant, "v1");
    race_remember(&f.bench, &f.bench.entrants[0]);
    cJSON_Delete(f.bench.record->contenders[0].tuning);
    assert_int_equal(gather(out), 1);
    assert_string_equal(out[0].key, "v1");
    assert_true(cJSON_IsTrue(list("cached")));
    assert_int_equal(list("variants")->valueint, 3);
    race_forget(&f.bench, &f.bench.entrants[0]);
    fixture_close(&f);
}

static void remember(const char *key)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    open_bench();
    f.bench.problem.m = 56;
    add_entry(16, 2, -1, 0);
    assert_int_equal(gather(out), 3);
    snprintf(f.bench.entrants[0].variant, sizeof f.bench.entrants[0].variant, "%s", key);
    race_remember(&f.bench, &f.bench.entrants[0]);
    cJSON_Delete(f.bench.record->contenders[0].tuning);
    f.bench.record->contenders[0].tuning = NULL;
}

/* A machine that went down while it wrote, and a file of another program: the race is run again. */
static void what_is_damaged_is_raced_again(void **state)
{
    char spoil[128];
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    static const char *const spoils[] = {"truncate -s -1", "truncate -s 0", "sed -i s/./x/"};
    (void)state;
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        remember("v1");
        snprintf(spoil, sizeof spoil, "%s %s/winner/*", spoils[i], scratch);
        assert_int_equal(system(spoil), 0);
        assert_int_equal(gather(out), 3);
        fixture_close(&f);
    }
}

/* Nothing is remembered and nothing fails where the cache cannot be: of a file's name no directory can be made, as of
 * a directory that may not be written. */
static void without_a_cache_each_run_races(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    setenv("CUDAL2_CACHE", "/dev/null/cache", 1);
    remember("v1");
    assert_int_equal(gather(out), 3);
    fixture_close(&f);
    setenv("CUDAL2_CACHE", scratch, 1);
}

static int launched_by_a_library(void *state, size_t set, char *why)
{
    (void)state;
    (void)set;
    (void)why;
    return CUDAL2_OK;
}

/* Of a library and the same library beside another kernel set: one choice. Of a candidate, two. */
static void a_library_s_choice_outlives_a_candidate(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    for (int library = 0; library < 2; library++) {
        open_bench();
        struct entrant *e = &f.bench.entrants[0];
        f.contenders[0].is.launch = launched_by_a_library;
        f.contenders[0].role = library ? ROLE_BASELINE : ROLE_CANDIDATE;
        f.bench.tuned = NULL;
        f.bench.problem.m = 40;
        f.bench.identity = "with one kernel set";
        f.bench.library_identity = "libraries";
        assert_int_equal(gather(out), 3);
        snprintf(e->variant, sizeof e->variant, "v1");
        race_remember(&f.bench, e);
        f.bench.identity = "with another kernel set";
        cJSON_Delete(f.bench.record->contenders[0].tuning);
        assert_int_equal(gather(out), library ? 1 : 3);
        race_forget(&f.bench, e);
        fixture_close(&f);
    }
}

/* zero takes the first choice, table asks neighbours alone; neither remembers. */
static void a_choice_can_be_had_without_a_race(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    (void)state;
    for (int known = 0; known < 2; known++) {
        open_bench();
        add_entry(known ? 8 : 16, 2, 1, 1001);
        add_entry(64, 0, -1, 0);
        f.config.choice = CHOICE_ZERO;
        assert_int_equal(gather(out), 1);
        assert_string_equal(out[0].key, "v2");
        race_remember(&f.bench, &f.bench.entrants[0]);
        cJSON_Delete(f.bench.record->contenders[0].tuning);
        f.config.choice = CHOICE_TABLE;
        assert_int_equal(gather(out), 2);
        assert_string_equal(out[1].key, known ? "v1" : "v0");
        f.config.choice = CHOICE_RACE;
        fixture_close(&f);
    }
}

static void a_search_names_its_variants(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    struct error err;
    (void)state;
    open_bench();
    add_entry(8, 1, -1, 0); /* no table in a search */
    cJSON *search = NULL;
    static const char text[] = "{\"a-nn\":[\"v2\",\"v0\"]}";
    assert_int_equal(json_parse(text, strlen(text), 100, "search", &search, &err), 0);
    f.bench.search = search;
    assert_true(variants_searched(&f.bench, &f.bench.entrants[0]));
    assert_int_equal(gather(out), 2);
    assert_string_equal(out[0].key, "v2");
    assert_string_equal(out[1].key, "v0");
    assert_string_equal(said("source"), "search");
    cJSON_Delete(f.bench.record->contenders[0].tuning);
    cJSON_ReplaceItemInObject(search, "a-nn", cJSON_CreateNull());
    assert_int_equal(gather(out), 3);
    fixture_close(&f);
    cJSON_Delete(search);
}

static void a_variant_that_cost_a_worker_stays_out(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    struct skipped_variant skipped = {.contender = "a-nn", .reason = "hang in stage tune: no sign of life"};
    (void)state;
    open_bench();
    cJSON *search = cJSON_CreateObject();
    cJSON_AddNullToObject(search, "a-nn");
    variant_tag("v1", skipped.tag);
    f.bench.search = search;
    f.bench.skipped = &skipped;
    f.bench.n_skipped = 1;
    assert_int_equal(gather(out), 2);
    assert_string_equal(out[0].key, "v0");
    assert_string_equal(out[1].key, "v2");
    const cJSON *rejected = cJSON_GetArrayItem(list("rejected"), 0);
    assert_string_equal(cJSON_GetObjectItem(rejected, "key")->valuestring, "v1");
    assert_string_equal(cJSON_GetObjectItem(rejected, "reason")->valuestring, skipped.reason);
    fixture_close(&f);
    cJSON_Delete(search);
}

/* In a run as in a search: a library's long list may hold one that hangs. */
static void one_of_a_baselines_own_stays_out_too(void **state)
{
    struct cudal2_variant out[RACE_MAX_VARIANTS];
    struct skipped_variant skipped = {.contender = "a-nn", .reason = "crash in stage tune: signal 11"};
    (void)state;
    open_bench();
    f.bench.tuned = NULL;
    f.contenders[0].role = ROLE_BASELINE;
    variant_tag("v0", skipped.tag);
    f.bench.skipped = &skipped;
    f.bench.n_skipped = 1;
    assert_int_equal(gather(out), 2);
    assert_string_equal(out[0].key, "v1");
    const cJSON *rejected = cJSON_GetArrayItem(list("rejected"), 0);
    assert_string_equal(cJSON_GetObjectItem(rejected, "key")->valuestring, "v0");
    fixture_close(&f);
}

static char last_stage[64];

static void keep_stage(void *context, const char *contender, const char *stage, double seconds)
{
    (void)context;
    (void)seconds;
    snprintf(last_stage, sizeof last_stage, "%s %s", contender, stage);
}

static void a_stage_names_the_variant_to_blame(void **state)
{
    char tag[VARIANT_TAG_MAX], expected[64];
    (void)state;
    open_bench();
    struct entrant *e = &f.bench.entrants[0];
    f.bench.report = keep_stage;
    snprintf(e->variant, sizeof e->variant, "v1");
    bench_stage(&f.bench, e, "measure", 1);
    assert_string_equal(last_stage, "a-nn measure");
    e->blame_variant = true;
    bench_stage(&f.bench, e, "measure", 1);
    variant_tag("v1", tag);
    snprintf(expected, sizeof expected, "a-nn measure:%s", tag);
    assert_string_equal(last_stage, expected);
    assert_int_equal(strlen(tag), 6);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_very_problem_has_its_winner),
        cmocka_unit_test(a_close_runner_up_races),
        cmocka_unit_test(a_loss_in_a_race_keeps_its_name),
        cmocka_unit_test(a_missing_problem_asks_its_neighbours),
        cmocka_unit_test(another_modes_table_is_not_alone),
        cmocka_unit_test(what_does_not_fit_is_passed_over),
        cmocka_unit_test(without_a_fit_the_contender_lists_its_own),
        cmocka_unit_test(tables_leave_the_memory_alone),
        cmocka_unit_test(a_choice_is_remembered),
        cmocka_unit_test(what_is_damaged_is_raced_again),
        cmocka_unit_test(without_a_cache_each_run_races),
        cmocka_unit_test(a_library_s_choice_outlives_a_candidate),
        cmocka_unit_test(a_choice_can_be_had_without_a_race),
        cmocka_unit_test(a_search_names_its_variants),
        cmocka_unit_test(a_variant_that_cost_a_worker_stays_out),
        cmocka_unit_test(one_of_a_baselines_own_stays_out_too),
        cmocka_unit_test(a_stage_names_the_variant_to_blame),
    };
    return cmocka_run_group_tests(tests, scratch_make_cache, scratch_remove);
}
