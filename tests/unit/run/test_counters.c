/* run/counters and run/ncu_csv: what ncu prints becomes counters of one launch, or a reason; how ncu is started. A
 * stand-in for ncu says what a real one says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "run/counters.h"
#include "run/ncu_csv.h"
#include "scratch_fixture.h"

#define NCU_DIRECTORY "tests/fixtures/data/ncu"

static char *text_of(const char *directory, const char *leaf)
{
    char path[256], *text = NULL;
    size_t length;
    struct error err;
    snprintf(path, sizeof path, "%s/%s", directory, leaf);
    if (file_read(path, 1 << 20, &text, &length, &err))
        fail_msg("%s", err.text);
    return text;
}

static void near(const cJSON *counters, const char *metric, double wanted, const char *unit, const char *how)
{
    const cJSON *m = tree_member(tree_member(counters, "metrics"), metric);
    double is = tree_number(m, "value");
    if (!(fabs(is - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s is %g instead of %g", metric, is, wanted);
    assert_string_equal(tree_text(m, "unit"), unit);
    assert_string_equal(tree_text(m, "kernels"), how);
}

/* ---- the table ---- */

/* Two kernels of 30 and 10 us. */
static void a_launch_of_two_kernels(void **state)
{
    struct error err = {0};
    cJSON *c = NULL;
    char *text = text_of(NCU_DIRECTORY, "two-kernels.csv");
    (void)state;
    assert_int_equal(ncu_csv_read(text, "", &c, &err), 0);
    near(c, "gpu__time_duration.sum", 40000, "ns", "sum");
    near(c, "dram__bytes.sum", 34873088, "byte", "sum");
    near(c, "sm__cycles_elapsed.max", 54321, "cycle", "max");
    near(c, "smsp__cycles_active.min", 12000, "cycle", "min");
    near(c, "launch__registers_per_thread", 168, "register/thread", "max");
    near(c, "dram__throughput.avg.pct_of_peak_sustained_elapsed", (41.5 * 3 + 11.5) / 4, "%", "mean");
    near(c, "l1tex__t_sector_hit_rate.pct", 12.5, "%", "mean"); /* the other one has none */
    near(c, "tpc__cycles.sum.per_second", 1755000000.5, "1/s", "mean");
    assert_true(tree_number(c, "launched") == 2);
    const cJSON *first = cJSON_GetArrayItem(tree_member(c, "kernels"), 0);
    assert_string_equal(tree_text(first, "kernel"), "gemm(const __half *, int)");
    assert_string_equal(tree_text(first, "grid"), "(32, 8, 1)");
    assert_string_equal(tree_text(first, "block"), "(128, 1, 1)");
    assert_null(tree_member(c, "missing"));
    cJSON_Delete(c);
    free(text);
}

static cJSON *read_table(const char *text)
{
    struct error err = {0};
    cJSON *c = NULL;
    if (ncu_csv_read(text, "", &c, &err))
        fail_msg("%s", err.text);
    return c;
}

static void one_kernel_needs_no_combination(void **state)
{
    (void)state;
    cJSON *c = read_table("ID,Kernel Name,a__b.sum,c__d.avg\r\n,,byte,\r\n3,\"a \"\"b\"\", c\",12,\"(!) n/a\"\r\n");
    near(c, "a__b.sum", 12, "byte", "");
    assert_string_equal(tree_text(cJSON_GetArrayItem(tree_member(c, "kernels"), 0), "kernel"), "a \"b\", c");
    assert_string_equal(cJSON_GetArrayItem(tree_member(c, "missing"), 0)->valuestring, "c__d.avg");
    cJSON_Delete(c);
}

/* ncu 2025.3 prints some 300 columns that nobody asked for ahead of the last ones that somebody did. */
static void only_what_is_wanted(void **state)
{
    enum { OWN = 300 };
    static const char wanted[] = "sm__x.sum,gpu__time_duration.sum,no__such.avg";
    char text[64 * OWN], *at = text;
    struct error err = {0};
    cJSON *c = NULL;
    (void)state;
    at += sprintf(at, "ID,Kernel Name,");
    for (int i = 0; i < OWN; i++)
        at += sprintf(at, "device__attribute_%d,", i);
    at += sprintf(at, "sm__x.sum,gpu__time_duration.sum\n,,");
    for (int i = 0; i < OWN; i++)
        at += sprintf(at, ",");
    at += sprintf(at, "cycle,ns\n0,k,");
    for (int i = 0; i < OWN; i++)
        at += sprintf(at, i % 2 ? "7," : "NVIDIA,");
    sprintf(at, "12,34\n");
    assert_int_equal(ncu_csv_read(text, wanted, &c, &err), 0);
    near(c, "sm__x.sum", 12, "cycle", "");
    near(c, "gpu__time_duration.sum", 34, "ns", "");
    assert_int_equal(cJSON_GetArraySize(tree_member(c, "metrics")), 2);
    assert_int_equal(cJSON_GetArraySize(tree_member(c, "missing")), 1);
    assert_string_equal(cJSON_GetArrayItem(tree_member(c, "missing"), 0)->valuestring, "no__such.avg");
    cJSON_Delete(c);
}

static void what_is_no_table(void **state)
{
    static const char *const none[] = {"", "==PROF== x\n", "\"ID\",\"a__b\"\n\"\",\"%\"\n",
                                       "ID,a__b\n==ERROR== x\n1\n"};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct error err = {0};
        cJSON *c = NULL;
        assert_int_equal(ncu_csv_read(none[i], "", &c, &err), EXIT_CODE_DATA);
        assert_null(c);
    }
}

static void names_of_metrics(void **state)
{
    static const char *const bad[] = {"", "dram", "__x", "x__", "a__b;rm", "a__b c", "-m__x,", "../a__b", "--a__b"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(ncu_is_metric(bad[i], strlen(bad[i])));
    assert_true(ncu_is_metric("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", 69));
    assert_true(ncu_is_metric("a__b", 4));
}

static char *list_of(const char *json)
{
    char *list = NULL;
    struct error err = {0};
    cJSON *tree = cJSON_Parse(json);
    if (counters_read(json_root(tree, "x"), &list, &err)) {
        assert_int_equal(err.code, EXIT_CODE_DATA);
        assert_null(list);
        list = strdup("refused");
    }
    cJSON_Delete(tree);
    return list;
}

static void expect_list(const char *json, const char *wanted)
{
    char *list = list_of(json);
    if (wanted)
        assert_string_equal(list, wanted);
    else
        assert_null(list);
    free(list);
}

static void what_may_be_asked_for(void **state)
{
    struct error err;
    (void)state;
    expect_list("true", "");
    expect_list("false", NULL);
    expect_list("[\"a__b.sum\",\"c__d\"]", "a__b.sum,c__d");
    expect_list("[]", "refused");
    expect_list("\"a__b\"", "refused");
    expect_list("[\"a__b,c__d\"]", "refused");
    expect_list("[\"--set\"]", "refused");
    expect_list("[7]", "refused");
    assert_int_equal(counters_check("", &err), 0);
    assert_int_equal(counters_check("a__b,c__d.avg", &err), 0);
    assert_int_equal(counters_check("a__b,,c__d", &err), EXIT_CODE_USAGE);
    assert_int_equal(counters_check("a__b --set", &err), EXIT_CODE_USAGE);
    assert_int_equal(counters_check(counters_default, &err), 0);
}

/* ---- ncu ---- */

static int begin(void **state)
{
    char here[1024], path[2200];
    if (scratch_make(state) || !getcwd(here, sizeof here))
        return -1;
    snprintf(path, sizeof path, "%s/" NCU_DIRECTORY ":/usr/bin:/bin", here);
    setenv("PATH", path, 1);
    setenv("CUDAL2_FAKE_NCU_DIR", scratch, 1);
    setenv("SECRET", "told", 1);
    return 0;
}

static cJSON *take(const char *what, const char *metrics, double seconds)
{
    const struct counters_request request = {.kernel = "k.json",
                                             .contender = "k-nn=BM=64",
                                             .problem = "64x64x64",
                                             .accumulate = "f32",
                                             .device = "cuda:3",
                                             .kernels = "/srv/kernels",
                                             .metrics = metrics,
                                             .seconds = seconds};
    setenv("CUDAL2_FAKE_NCU", what, 1);
    cJSON *c = counters_take(&request);
    assert_non_null(c);
    return c;
}

static void expect_reason(const char *what, const char *words)
{
    cJSON *c = take(what, "", 20);
    if (!strstr(tree_text(c, "unavailable"), words))
        fail_msg("%s: %s", what, tree_text(c, "unavailable"));
    assert_null(tree_member(c, "metrics"));
    assert_string_equal(tree_text(c, "version"), "2025.3.0.0 (build 36273991)");
    cJSON_Delete(c);
}

static void counted(void **state)
{
    (void)state;
    cJSON *c = take("two-kernels", "", 20);
    near(c, "dram__bytes.sum", 34873088, "byte", "sum");
    assert_string_equal(tree_text(c, "tool"), "ncu");
    assert_string_equal(tree_text(c, "version"), "2025.3.0.0 (build 36273991)");
    cJSON_Delete(c);
}

/* A word of the list on a line of its own. */
static bool has_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);
    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void how_it_is_started(void **state)
{
    static const char *const lines[] = {"--csv",
                                        "--profile-from-start",
                                        "off",
                                        "--clock-control",
                                        "none",
                                        "--metrics",
                                        "a__b.sum,gpu__time_duration.sum",
                                        "verify",
                                        "k.json",
                                        "--in-process",
                                        "--one-launch=k-nn=BM=64",
                                        "--shape",
                                        "64x64x64",
                                        "cuda:3",
                                        "/srv/kernels",
                                        "SECRET="};
    (void)state;
    cJSON_Delete(take("two-kernels", "a__b.sum", 20));
    char *called = text_of(scratch, "called");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!has_line(called, lines[i]))
            fail_msg("no line %s in %s", lines[i], called);
    const char *directory = strstr(called, "TMPDIR=") + 7;
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(directory, "\n"), directory);
    assert_int_not_equal(access(path, F_OK), 0); /* of its own, and gone with it */
    assert_non_null(strstr(path, "cudal2-worker-"));
    free(called);
}

static void reasons(void **state)
{
    (void)state;
    expect_reason("forbidden", "ERR_NVGPUCTRPERM: this user may not read");
    expect_reason("unknown", "Failed to find metric nix__nix.sum");
    expect_reason("nothing", "the kernel is not here");
    expect_reason("dies", "ended with status -1");
}

static void time_is_limited(void **state)
{
    (void)state;
    uint64_t began = clock_now_ns();
    cJSON *c = take("slow", "", 0.3);
    assert_string_equal(tree_text(c, "unavailable"), "ncu was ended after 0 s");
    assert_true(clock_now_ns() - began < 30000000000u); /* not the 60 s that it sleeps */
    cJSON_Delete(c);
}

static void no_gpu_no_tool(void **state)
{
    (void)state;
    struct counters_request request = {.device = "cpu", .metrics = ""};
    cJSON *c = counters_take(&request);
    assert_string_equal(tree_text(c, "unavailable"), "the device is no GPU: ncu counts on NVIDIA's GPUs alone");
    cJSON_Delete(c);
    char tool[256];
    char *before = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere:", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    request.device = "cuda:0";
    c = counters_find(tool, sizeof tool) ? NULL : counters_take(&request); /* this machine may have one */
    setenv("PATH", before, 1);
    free(before);
    if (c)
        assert_non_null(strstr(tree_text(c, "unavailable"), "no ncu on PATH"));
    cJSON_Delete(c);
}

#define ON_NCU(name) cmocka_unit_test_setup_teardown(name, begin, scratch_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_of_two_kernels),
        cmocka_unit_test(one_kernel_needs_no_combination),
        cmocka_unit_test(only_what_is_wanted),
        cmocka_unit_test(what_is_no_table),
        cmocka_unit_test(names_of_metrics),
        cmocka_unit_test(what_may_be_asked_for),
        ON_NCU(counted),
        ON_NCU(how_it_is_started),
        ON_NCU(reasons),
        ON_NCU(time_is_limited),
        ON_NCU(no_gpu_no_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
