/* worker/audit: from a request to what was seen, with plugins of tests/fixtures/plugins on the scripted device and a
 * watcher of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "device/fake.h"
#include "record/activity.h"
#include "worker/audit.h"

static struct {
    struct device *device;
    struct registry *registry;
    struct config config;
    struct watcher watcher;
    struct cell_context context;
    struct cell_request request;
    cJSON *asked;
    double busy_ns; /* what a launch is seen to take */
    int watched;
    char stages[512]; /* "contender/stage ..." */
} t;

static int watch(struct watcher *watcher, struct device *d, const struct watch_request *request, struct watched *out,
                 struct error *err)
{
    char why[CUDAL2_WHY] = "";
    (void)watcher;
    (void)d;
    t.watched++;
    if (request->work->launch(request->work->context, request->set, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_VERIFICATION, "launch: %s", why);
    *out = (struct watched){.complete = true, .held = request->hold, .stream = 7, .opened_ns = 1000};
    out->log.n = 1;
    out->log.list[0] = (struct activity){.kind = ACTIVITY_KERNEL, .stream = 7, .start_ns = 1000, .name = "loops"};
    out->log.list[0].end_ns = out->closed_ns = out->returned_ns = 1000 + (uint64_t)t.busy_ns;
    return 0;
}

static void on_stage(void *context, const char *contender, const char *stage, double seconds)
{
    size_t used = strlen(t.stages);
    (void)context;
    assert_true(seconds > 0);
    snprintf(t.stages + used, sizeof t.stages - used, "%s/%s ", contender, stage);
}

static int set_up(void **state)
{
    static const char *const files[] = {"tunable", "bad_setup", "bad_launch", "bad_wrong"};
    static const char *const baselines[] = {"honest", "not-there", NULL};
    static char paths[4][600];
    const char *candidates[] = {paths[0], paths[1], paths[2], paths[3], NULL};
    char directory[512];
    struct fake_script script = {.launch_ns = 1000};
    struct registry_request request = {.baselines = baselines, .candidates = candidates, .layouts = 3};
    struct error err;
    (void)state;
    memset(&t, 0, sizeof t);
    if (file_executable_directory(directory, sizeof directory, &err) != 0)
        return -1;
    for (size_t i = 0; i < 4; i++)
        snprintf(paths[i], sizeof paths[i], "%s/plugins/%s.so", directory, files[i]);
    if (fake_open(&script, &t.device, &err) != 0)
        return -1;
    t.device->info.device_bit = CUDAL2_ON_CPU; /* the plugins' launches are the host's */
    if (registry_open(&request, t.device, &t.registry, &err) != 0)
        return -1;
    t.config = (struct config){.workspace_bytes = 4096, .limits = {60, 60, 30, 120, 0}};
    t.watcher.watch = watch;
    t.busy_ns = 2000;
    t.context = (struct cell_context){.config = &t.config,
                                      .device = t.device,
                                      .registry = t.registry,
                                      .identity = "",
                                      .report = on_stage,
                                      .watcher = &t.watcher};
    t.request =
        (struct cell_request){.problem = {.m = 64, .n = 16, .k = 32, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32},
                              .mode = MODE_OFFLINE,
                              .seed = 3};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cJSON_Delete(t.asked);
    registry_close(t.registry);
    assert_int_equal(fake_bytes_in_use(t.device), 0);
    t.device->ops->close(t.device);
    return 0;
}

/* What is seen when this is asked, which the journal takes. */
static cJSON *seen_of(const char *asked)
{
    struct error err;
    cJSON *seen = NULL;
    cJSON_Delete(t.asked);
    t.asked = cJSON_Parse(asked);
    t.request.audit = t.asked;
    if (audit_conduct(&t.context, &t.request, &seen, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(activity_check_contenders(json_root(seen, "seen"), &err), 0);
    return seen;
}

static const char *text(const cJSON *seen, int index, const char *key)
{
    const cJSON *node = cJSON_GetObjectItem(cJSON_GetArrayItem(seen, index), key);
    return cJSON_IsString(node) ? node->valuestring : "";
}

static void test_a_cell(void **state)
{
    (void)state;
    cJSON *seen = seen_of("[{\"name\":\"honest-nn\",\"timed_ns\":4000,\"rung\":\"blocked\"},"
                          "{\"name\":\"tunable-nn\",\"variant\":\"slow\",\"rung\":\"events\"}]");
    assert_int_equal(cJSON_GetArraySize(seen), 2);
    assert_string_equal(text(seen, 0, "name"), "honest-nn");
    assert_string_equal(text(seen, 1, "name"), "tunable-nn");
    const cJSON *first = cJSON_GetArrayItem(seen, 0), *second = cJSON_GetArrayItem(seen, 1);
    assert_float_equal(cJSON_GetObjectItem(first, "ratio")->valuedouble, 0.5, 0);
    assert_null(cJSON_GetObjectItem(first, "waits"));
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(second, "waits"))); /* timed by events: it may wait */
    assert_null(cJSON_GetObjectItem(second, "ratio"));               /* nobody said what it took */
    assert_int_equal(t.watched, 2);
    assert_non_null(strstr(t.stages, "honest-nn/setup honest-nn/activity honest-nn/teardown "));
    cJSON_Delete(seen);
}

/* Memory is taken for the largest cell so far, and serves all that come. */
static void test_memory_is_kept(void **state)
{
    static const int64_t rows[] = {64, 16, 64, 128, 32};
    static const int takes[] = {1, 0, 0, 1, 0}; /* of matrices; the workspace once */
    struct audit_memory kept = {.matrices = {0}};
    uint64_t allocs;
    (void)state;
    cJSON_Delete(seen_of("[{\"name\":\"honest-nn\"}]"));
    assert_int_equal(fake_bytes_in_use(t.device), 0);
    t.context.kept = &kept;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        t.request.problem.m = rows[i];
        allocs = fake_counts(t.device).allocs;
        cJSON *seen = seen_of("[{\"name\":\"honest-nn\"}]");
        assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(seen, 0), "unavailable"));
        assert_int_equal(fake_counts(t.device).allocs - allocs, takes[i] + (i == 0));
        cJSON_Delete(seen);
    }
    audit_memory_free(&kept, t.device);
}

/* The very variant that was timed is set up again: this one only takes small problems. */
static void test_the_variant(void **state)
{
    (void)state;
    cJSON *seen = seen_of("[{\"name\":\"tunable-nn\",\"variant\":\"small\"}]");
    assert_string_equal(text(seen, 0, "unavailable"), "unsupported: small is for M up to 32");
    assert_int_equal(t.watched, 0);
    cJSON_Delete(seen);
}

static void test_who_cannot_be_watched(void **state)
{
    (void)state;
    snprintf(t.request.exclusions[0].name, sizeof t.request.exclusions[0].name, "honest-nn");
    t.request.exclusions[0].verdict = VERDICT_CRASH;
    snprintf(t.request.exclusions[0].reason, sizeof t.request.exclusions[0].reason, "killed by signal 11");
    t.request.n_exclusions = 1;
    cJSON *seen = seen_of("[{\"name\":\"honest-nn\"},{\"name\":\"nobody-nn\"},{\"name\":\"not-there\"},"
                          "{\"name\":\"bad-setup-nn\"},{\"name\":\"bad-launch-nn\"},{\"name\":\"tunable-nn\"}]");
    assert_string_equal(text(seen, 0, "unavailable"), "crash: killed by signal 11");
    assert_string_equal(text(seen, 1, "unavailable"), "there is no such contender here");
    assert_true(text(seen, 2, "unavailable")[0] != '\0');
    assert_memory_equal(text(seen, 3, "unavailable"), "setup_error: ", 13);
    assert_memory_equal(text(seen, 4, "unavailable"), "launch_error: ", 14);
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(seen, 5), "unavailable")); /* the last one is */
    assert_int_equal(t.watched, 3); /* bad-launch-nn says no the second time; the last one has a row */
    cJSON_Delete(seen);
}

static void test_verdicts(void **state)
{
    (void)state;
    t.config.time_anyway = true;
    t.busy_ns = 50000;
    cJSON *seen =
        seen_of("[{\"name\":\"honest-nn\",\"timed_ns\":4000,\"rung\":\"blocked\"},{\"name\":\"tunable-nn\"}]");
    assert_string_equal(text(seen, 0, "status"), "implausible_speed");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetArrayItem(seen, 0), "invalid")));
    assert_string_equal(text(seen, 1, "status"), "");
    cJSON_Delete(seen);
    t.config.time_anyway = false;
    seen = seen_of("[{\"name\":\"bad-wrong-nn\"}]");
    assert_string_equal(text(seen, 0, "status"), "wrong_result");
    assert_null(cJSON_GetObjectItem(cJSON_GetArrayItem(seen, 0), "invalid"));
    cJSON_Delete(seen);
}

static void test_bad_requests(void **state)
{
    static const char *const bad[] = {
        "[]",
        "{}",
        "[{\"variant\":\"x\"}]",
        "[{\"name\":\"honest-nn\",\"rung\":\"ladder\"}]",
        "[{\"name\":\"honest-nn\",\"timed_ns\":-1}]",
        "[{\"name\":\"honest-nn\",\"times\":1}]",
    };
    struct error err;
    cJSON *seen = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cJSON_Delete(t.asked);
        t.asked = cJSON_Parse(bad[i]);
        t.request.audit = t.asked;
        assert_int_equal(audit_conduct(&t.context, &t.request, &seen, &err), EXIT_CODE_DATA);
        assert_null(seen);
    }
}

static void test_a_lost_device(void **state)
{
    struct error err;
    cJSON *seen = NULL;
    (void)state;
    fake_break(t.device, "illegal address");
    t.asked = cJSON_Parse("[{\"name\":\"honest-nn\"}]");
    t.request.audit = t.asked;
    assert_int_equal(audit_conduct(&t.context, &t.request, &seen, &err), EXIT_CODE_UNAVAILABLE);
    assert_null(seen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_cell),   TEST(test_memory_is_kept), TEST(test_the_variant),   TEST(test_who_cannot_be_watched),
        TEST(test_verdicts), TEST(test_bad_requests),   TEST(test_a_lost_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
