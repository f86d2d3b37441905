/* compare/provenance: how differences are told; a second look at the suspects counts when it was taken with what NEW
 * was measured with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compare/compare.h"
#include "compare_fixture.h"
#include "scratch_fixture.h"

#define OFFLINE "\"nvidia-h200-f16\":{\"hash\":\"1\"}"
#define SERVER "\"nvidia-h200-f16-server\":{\"hash\":\"2\"}"

/* The status of a second look taken with these tables and this cuBLAS, at a run that had both tables. */
static int prescreen_again(const char *tables, const char *cublas, struct error *err)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl"),
               *again_path = scratch_path("again.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    const struct script fresh = {.seed = 2, .slower = {0.08}, .tables = "{" OFFLINE "," SERVER "}"};
    const struct script again = {.seed = 2, .slower = {0.08}, .tables = tables, .cublas = cublas};
    struct compare_runs c;
    fixture_write(base_path, &(struct script){.seed = 2, .tables = fresh.tables});
    fixture_write(fresh_path, &fresh);
    fixture_write(again_path, &again);
    *err = (struct error){0};
    if (compare_open(&request, &c, err))
        fail_msg("%s", err->text);
    assert_true(compare_suspects(&c) > 0);
    int code = compare_confirm(&c, again_path, false, err);
    compare_free(&c);
    return code;
}

/* Suspects of one mode are measured in that mode, for which a worker opens fewer tables. */
static void tables_of_other_modes_may_be_missing(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(prescreen_again("{" OFFLINE "," SERVER "}", NULL, &err), 0);
    assert_int_equal(prescreen_again("{" OFFLINE "}", NULL, &err), 0);
    assert_int_equal(prescreen_again(NULL, NULL, &err), 0);
}

static void another_table_is_refused(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(prescreen_again("{\"nvidia-h200-f16\":{\"hash\":\"3\"}}", NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "tuning table nvidia-h200-f16: hash 1 in NEW, hash 3 in the second look"));
    assert_int_equal(prescreen_again("{\"nvidia-h200-f16-server\":{\"hash\":\"3\"}}", NULL, &err),
                     EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "tuning table nvidia-h200-f16-server: hash 2 in NEW, hash 3 in the second look"));
    assert_int_equal(prescreen_again("{" OFFLINE ",\"h200-f32\":{\"hash\":\"4\"}}", NULL, &err),
                     EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "tuning table h200-f32: none in NEW"));
}

static void another_library_is_refused(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(prescreen_again("{" OFFLINE "}", "13.1.0", &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(
        strstr(err.text, "plugins and libraries (cublas) cublas: \"13.0.0\" in NEW, \"13.1.0\" in the second look"));
}

/* What a worker has loaded is known before anything is measured. */
static void check_env(const char *env_text, int code, const char *words)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    struct compare_runs c;
    struct error err = {0};
    fixture_write(base_path, &(struct script){.seed = 2});
    fixture_write(fresh_path, &(struct script){.seed = 2, .slower = {0.08}});
    if (compare_open(&request, &c, &err))
        fail_msg("%s", err.text);
    cJSON *env = env_text ? cJSON_Parse(env_text) : fixture_env(&(struct script){.seed = 2});
    assert_int_equal(compare_check_again(&c, env, &err), code);
    if (words && !strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
    cJSON_Delete(env);
    compare_free(&c);
}

#define ENV "{\"device\":{\"kind\":\"cuda\",\"name\":\"H\",\"driver\":\"570.1\"},\"libraries\":{}"

static void what_cannot_be_loaded_is_known_before(void **state)
{
    (void)state;
    check_env(NULL, 0, NULL);
    check_env(ENV ",\"unavailable\":{\"mine\":\"mine.so: no such file\"}}", EXIT_CODE_INCOMPARABLE,
              "as NEW was; not here: mine: mine.so: no such file");
    check_env(ENV "}", EXIT_CODE_INCOMPARABLE, "in NEW, nothing in the second look");
}

/* ---- how differences are told ---- */

#define TABLE(hash, commit)                                                                                            \
    "{\"h200-f32\":{\"hash\":\"" hash "\",\"device\":\"NVIDIA H200\",\"commit\":\"" commit "\"}}"

static void refuse_pair(const struct script *base, const struct script *fresh, const char *words)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    struct compare_runs c;
    struct error err = {0};
    fixture_write(base_path, base);
    fixture_write(fresh_path, fresh);
    assert_int_equal(compare_open(&request, &c, &err), EXIT_CODE_INCOMPARABLE);
    if (!strstr(err.text, words) || strchr(err.text, '{'))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static void refuse_tables(const char *base, const char *fresh, const char *words)
{
    refuse_pair(&(struct script){.seed = 1, .tables = base}, &(struct script){.seed = 2, .tables = fresh}, words);
}

/* By the commit that searched them; not as JSON, of which a line holds half. */
static void tables_are_told_by_their_commits(void **state)
{
    (void)state;
    refuse_tables(TABLE("079b3b19bbe6034a009a5d133556b63b", "827c91ad6f98dcc76ce3636d5bac8dc356b9a0cf"),
                  TABLE("4c7a7d9cf8614b91b3e44d7e84f0e3a9", "fa1a4a61d39d3d34276ae7493e96abbcf1492afe"),
                  ": tuning table h200-f32: of 827c91a in BASE, of fa1a4a6 in NEW");
    refuse_tables(TABLE("079b3b19bbe6034a", "827c91ad6f98"), TABLE("4c7a7d9cf8614b91", "827c91ad6f98"),
                  ": tuning table h200-f32: hash 079b3b1 in BASE, hash 4c7a7d9 in NEW");
    refuse_tables(TABLE("079b3b19bbe6034a", "827c91ad6f98"), NULL,
                  ": tuning table h200-f32: of 827c91a in BASE, none in NEW");
}

static void a_long_value_is_not_cut(void **state)
{
    const struct script fresh = {.seed = 2,
                                 .baselines = "[\"torch.matmul\",\"cublas\",\"cublaslt-heuristic\","
                                              "\"cublaslt-autotuning\",\"openblas\",\"blocked\",\"other\"]"};
    (void)state;
    refuse_pair(&(struct script){.seed = 1}, &fresh,
                "baselines: [\"torch.matmul\",\"cublas\"] in BASE, a list of 7 in NEW");
}

#define LONG "a long name of a version that both runs have in common, as libraries built by hand have one, "

static void long_values_are_told_by_where_they_differ(void **state)
{
    const struct script base = {.seed = 1, .cublas = LONG "r1"}, fresh = {.seed = 2, .cublas = LONG "r2"};
    const struct script few = {.seed = 1,
                               .baselines = "[\"torch.matmul\",\"cublas\",\"cublaslt-heuristic\",\"openblas\","
                                            "\"blocked\",\"cublaslt-autotuning\",\"one\"]"};
    const struct script others = {.seed = 2,
                                  .baselines = "[\"torch.matmul\",\"cublas\",\"cublaslt-heuristic\",\"openblas\","
                                               "\"blocked\",\"cublaslt-autotuning\",\"two\"]"};
    (void)state;
    refuse_pair(&base, &fresh, "by hand have one, r1\" in BASE, ...");
    refuse_pair(&base, &fresh, "by hand have one, r2\" in NEW");
    refuse_pair(&few, &others, "\"cublaslt-autotuning\",\"one\"] in BASE, ...");
    refuse_pair(&few, &others, "\"cublaslt-autotuning\",\"two\"] in NEW");
}

static void joined_rows_are_other_rows(void **state)
{
    (void)state;
    refuse_pair(&(struct script){.seed = 1}, &(struct script){.seed = 2, .joined = true},
                ": joined rows of launches (join_rows): false in BASE, true in NEW");
}

/* What a plugin that is judged calls its version moves no reference; that of a plugin that is one does. */
static void a_judged_plugin_may_have_another_version(void **state)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    struct script base = {.seed = 1, .plugin = "1"}, fresh = {.seed = 2, .plugin = "2"};
    struct compare_runs c;
    struct error err = {0};
    (void)state;
    fixture_write(base_path, &base);
    fixture_write(fresh_path, &fresh);
    if (compare_open(&request, &c, &err))
        fail_msg("%s", err.text);
    assert_int_equal(c.differences.n, 0);
    compare_free(&c);
    base.baselines_only = fresh.baselines_only = true;
    refuse_pair(&base, &fresh, ": mine: \"1\" in BASE, \"2\" in NEW");
}

/* What is wrong is said even where nothing can be compared. */
static void a_wrong_result_comes_first(void **state)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    const struct script base = {.seed = 1};
    const struct script fresh = {.seed = 2, .driver = "580.2", .status = {NULL, "wrong_result"}};
    struct compare_runs c;
    struct error err = {0};
    (void)state;
    fixture_write(base_path, &base);
    fixture_write(fresh_path, &fresh);
    assert_int_equal(compare_open(&request, &c, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "1 wrong result in "));
    assert_non_null(strstr(err.text, ": mine-nn in "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_are_told_by_their_commits, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(a_long_value_is_not_cut, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(long_values_are_told_by_where_they_differ, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(a_wrong_result_comes_first, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(joined_rows_are_other_rows, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(a_judged_plugin_may_have_another_version, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(tables_of_other_modes_may_be_missing, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(another_table_is_refused, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(what_cannot_be_loaded_is_known_before, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(another_library_is_refused, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
