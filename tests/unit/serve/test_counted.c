/* serve/counted through serve/evaluate: hardware counters that a submission asks for stand beside its outcome and
 * change nothing of it, whatever becomes of ncu. Workers and ncu are scripted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/tree.h"
#include "fake_worker.h"
#include "scratch_fixture.h"
#include "serve/evaluate.h"

#define ID "0123456789abcdef0123456789abcdef"

static struct devices devices;
static struct submission s;
static struct store store;
static volatile int stop;
static const char *plugin_directory;

static int begin(void **state)
{
    struct error err;
    char jobs[160], directory[PATH_MAX], here[1024], path[2200];
    if (scratch_make(state) || !getcwd(here, sizeof here))
        return -1;
    snprintf(path, sizeof path, "%s/tests/fixtures/data/ncu:/usr/bin:/bin", here);
    setenv("PATH", path, 1);
    setenv("CUDAL2_FAKE_NCU_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    setenv("CUDAL2_FAKE", "beside=slow", 1);
    snprintf(jobs, sizeof jobs, "%s/jobs", scratch);
    devices = (struct devices){.count = 1, .on_cuda = true, .spec = {"cuda:0"}};
    s = (struct submission){.kind = CANDIDATE_NAMED, .name = "k", .baseline = "beta", .half_width = 0.5, .seconds = 1};
    s.accumulate = CUDAL2_ACC_F32;
    s.n_problems = 1;
    return store_open(jobs, &store, &err) || shape_parse("64x32x32", &s.problems[0], &err) ||
                   store_path(&store, ID, "", directory, &err)
               ? -1
               : file_make_directories(directory, &err);
}

static int end(void **state)
{
    submission_free(&s);
    store_close(&store);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_KIND");
    return scratch_remove(state);
}

/* With these counters (NULL: none) and an ncu that does so. */
static cJSON *measure(const char *counters, const char *ncu)
{
    const struct evaluation e = {
        .store = &store, .id = ID, .submission = &s, .devices = &devices, .plugins = plugin_directory, .stop = &stop};
    struct error err = {0};
    cJSON *outcome = NULL;
    free(s.counters);
    s.counters = counters ? strdup(counters) : NULL;
    setenv("CUDAL2_FAKE_NCU", ncu, 1);
    if (evaluate(&e, &outcome, &err))
        fail_msg("%s", err.text);
    return outcome;
}

static cJSON *problem_of(cJSON *outcome)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(outcome, "problems"), 0);
}

static bool ncu_was_called(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/called", scratch);
    return access(path, F_OK) == 0;
}

static void counted(void **state)
{
    (void)state;
    cJSON *outcome = measure("", "two-kernels");
    const cJSON *counters = tree_member(problem_of(outcome), "counters");
    const cJSON *bytes = tree_member(tree_member(counters, "metrics"), "dram__bytes.sum");
    assert_true(tree_number(bytes, "value") == 34873088);
    assert_string_equal(tree_text(bytes, "unit"), "byte");
    assert_string_equal(tree_text(counters, "version"), "2025.3.0.0 (build 36273991)");
    cJSON_Delete(outcome);
}

static void only_on_request(void **state)
{
    (void)state;
    cJSON *outcome = measure(NULL, "two-kernels");
    assert_null(tree_member(problem_of(outcome), "counters"));
    assert_false(ncu_was_called());
    cJSON_Delete(outcome);
}

/* Whatever becomes of ncu, all else is as without. */
static void nothing_else_changes(void **state)
{
    static const char *const ways[] = {"two-kernels", "forbidden", "unknown", "nothing", "dies"};
    (void)state;
    cJSON *without = measure(NULL, "");
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        cJSON *outcome = measure("dram__bytes.sum", ways[i]);
        cJSON *counters = cJSON_DetachItemFromObjectCaseSensitive(problem_of(outcome), "counters");
        assert_int_equal(i > 0, tree_text(counters, "unavailable")[0] != '\0');
        assert_true(cJSON_Compare(outcome, without, true));
        cJSON_Delete(counters);
        cJSON_Delete(outcome);
    }
    cJSON_Delete(without);
}

static void not_of_what_failed(void **state)
{
    (void)state;
    setenv("CUDAL2_FAKE", "alpha=wrong", 1);
    cJSON *outcome = measure("", "two-kernels");
    assert_string_equal(tree_text(outcome, "verdict"), "wrong_result");
    assert_null(tree_member(problem_of(outcome), "counters"));
    assert_false(ncu_was_called());
    cJSON_Delete(outcome);
}

/* Its code on the host would run outside of a worker. */
static void not_of_a_plugin(void **state)
{
    static char plugins[160];
    struct error err;
    char path[200];
    (void)state;
    snprintf(plugins, sizeof plugins, "%s/plugins", scratch);
    snprintf(path, sizeof path, "%s/k.so", plugins);
    assert_int_equal(file_make_directories(plugins, &err), 0);
    assert_int_equal(file_write_atomic(path, "x", 1, &err), 0);
    plugin_directory = plugins;
    for (int i = 0; i < 2; i++) {
        snprintf(s.name, sizeof s.name, "%s", i == 0 ? "k" : "k-fast"); /* of the same plugin */
        cJSON *outcome = measure("", "two-kernels");
        const cJSON *counters = tree_member(problem_of(outcome), "counters");
        assert_non_null(strstr(tree_text(counters, "unavailable"), "a plugin's code"));
        assert_false(ncu_was_called());
        cJSON_Delete(outcome);
    }
    plugin_directory = NULL;
}

static void no_gpu(void **state)
{
    (void)state;
    devices = (struct devices){.count = 1, .spec = {"cpu"}};
    cJSON *outcome = measure("", "two-kernels");
    assert_string_equal(tree_text(outcome, "verdict"), "ok");
    assert_non_null(strstr(tree_text(tree_member(problem_of(outcome), "counters"), "unavailable"), "no GPU"));
    assert_false(ncu_was_called());
    cJSON_Delete(outcome);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(counted),         TEST(only_on_request), TEST(nothing_else_changes), TEST(not_of_what_failed),
        TEST(not_of_a_plugin), TEST(no_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
