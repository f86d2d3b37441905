/* report/export_*: each form as its consumer reads it. The checks below are the consumers' own rules: Bencher's json
 * adapter, Google Benchmark's compare.py, github-action-benchmark's custom tools, the Prometheus text parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/report.h"
#include "result_fixture.h"

#define CELL "offline/f16-f32-64x64x64/"

/* One cell of two contenders, an A/A copy and one that failed; the second round of four blocks was slowed. */
static void write_run(void)
{
    static const double even[] = {1200, 1000, 1001, 0};
    static const double odd[] = {1100, 1000, 999, 0};
    struct journal *j = begin();
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    strcpy(fixture_contender(r, "cudal2-nn+copy", true)->copy_of, "cudal2-nn");
    fixture_fail(fixture_contender(r, "cublas-nn", false), "unavailable", "not \"here\"\n");
    fill(r, 16, even, odd);
    fixture_slowdown(r, 5);
    put_cell(j, r);
    journal_close(j);
}

static char *export_from(const char *path, enum report_format format)
{
    struct report_request request = {.results = &path, .n_results = 1, .format = format};
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    request.stream = open_memstream(&text, &length);
    int code = report_main_from(&request, &err);
    fclose(request.stream);
    if (code)
        fail_msg("%s", err.text);
    return text;
}

static cJSON *export_tree(enum report_format format)
{
    char *text = export_from(journal_path, format);
    cJSON *tree = cJSON_ParseWithOpts(text, NULL, true);
    assert_non_null(tree);
    assert_null(strstr(text, "+copy"));
    free(text);
    return tree;
}

static double number(const cJSON *object, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(member));
    return member->valuedouble;
}

static const char *string(const cJSON *object, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsString(member));
    return member->valuestring;
}

/* ---- Bencher ---- */

static void check_measure(const cJSON *measure)
{
    const cJSON *value;
    double middle = number(measure, "value");
    assert_true(strlen(measure->string) > 0 && strlen(measure->string) <= 64);
    for (const char *c = measure->string; *c; c++) /* a slug, so that it names the same measure in every run */
        assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || (*c == '-' && c[1]));
    cJSON_ArrayForEach(value, measure)
    {
        bool low = strcmp(value->string, "lower_value") == 0;
        bool high = strcmp(value->string, "upper_value") == 0;
        assert_true(low || high || strcmp(value->string, "value") == 0);
        assert_true(cJSON_IsNumber(value) && (!low || value->valuedouble <= middle) &&
                    (!high || value->valuedouble >= middle));
    }
}

static void bencher_takes_it(void **state)
{
    const cJSON *benchmark;
    const cJSON *measure;
    (void)state;
    write_run();
    cJSON *all = export_tree(REPORT_BENCHER);
    assert_int_equal(cJSON_GetArraySize(all), 3);
    cJSON_ArrayForEach(benchmark, all)
    {
        assert_true(cJSON_IsObject(benchmark) && strlen(benchmark->string) <= 1024);
        for (const cJSON *other = all->child; other != benchmark; other = other->next)
            assert_string_not_equal(other->string, benchmark->string);
        cJSON_ArrayForEach(measure, benchmark) check_measure(measure);
    }
    const cJSON *candidate = tree_member(all, CELL "cudal2-nn");
    assert_true(number(tree_member(candidate, "latency"), "value") == 1000);
    assert_true(fabs(number(tree_member(candidate, "tflops"), "value") - 0.524288) < 1e-9);
    const cJSON *whole = tree_member(tree_member(all, CELL "cudal2-max"), "speedup-over-torch-matmul");
    assert_true(fabs(number(whole, "value") - cbrt(1.2 * 1.2 * 1.1)) < 2e-5); /* rounds 0, 2 and 3: 1 was slowed */
    assert_true(number(whole, "lower_value") < number(whole, "value"));
    cJSON_Delete(all);
}

/* ---- Google Benchmark ---- */

/* What compare.py and github-action-benchmark's `googlecpp` need of every entry. */
static void check_google(const cJSON *all)
{
    static const char *const numbers[] = {"real_time",        "cpu_time",    "iterations",  "threads",
                                          "repetition_index", "repetitions", "family_index"};
    const cJSON *b;
    assert_true(cJSON_IsArray(tree_member(tree_member(all, "context"), "caches")));
    string(tree_member(all, "context"), "date");
    cJSON_ArrayForEach(b, tree_member(all, "benchmarks"))
    {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            number(b, numbers[i]);
        assert_string_equal(string(b, "time_unit"), "ns");
        assert_string_equal(string(b, "run_type"), "iteration");
        assert_string_equal(string(b, "run_name"), string(b, "name"));
        assert_true(number(b, "repetition_index") < number(b, "repetitions"));
    }
}

static void google_benchmark_takes_it(void **state)
{
    static const double times[] = {1200, 1200, 1100, 1000, 1000, 1000};
    int i = 0;
    const cJSON *b;
    struct error err = {0};
    (void)state;
    write_run();
    cJSON *all = export_tree(REPORT_GOOGLE);
    check_google(all);
    assert_int_equal(cJSON_GetArraySize(tree_member(all, "benchmarks")), 6); /* three healthy rounds each */
    cJSON_ArrayForEach(b, tree_member(all, "benchmarks"))
    {
        assert_string_equal(string(b, "name"), i < 3 ? CELL "torch.matmul" : CELL "cudal2-nn");
        assert_true(number(b, "real_time") == times[i]);
        assert_true(number(b, "repetition_index") == i % 3 && number(b, "repetitions") == 3);
        assert_true(number(b, "family_index") == i / 3);
        i++;
    }
    cJSON_Delete(all);
    /* A result alone has no rounds: one entry with the median. */
    assert_int_equal(result_write(journal_path, result_path, &err), 0);
    char *text = export_from(result_path, REPORT_GOOGLE);
    all = cJSON_Parse(text);
    check_google(all);
    assert_int_equal(cJSON_GetArraySize(tree_member(all, "benchmarks")), 2);
    assert_true(number(tree_member(all, "benchmarks")->child, "real_time") == 1200);
    cJSON_Delete(all);
    free(text);
}

/* ---- github-action-benchmark ---- */

static cJSON *read_list(const char *name)
{
    char path[128];
    char *bytes;
    size_t length;
    struct error err = {0};
    const cJSON *e;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(file_read(path, 1 << 20, &bytes, &length, &err), 0);
    cJSON *list = cJSON_Parse(bytes);
    assert_true(cJSON_IsArray(list));
    cJSON_ArrayForEach(e, list)
    {
        assert_true(number(e, "value") > 0); /* the action divides by the value before */
        assert_true(strlen(string(e, "unit")) > 0);
        for (const cJSON *other = list->child; other != e; other = other->next)
            assert_string_not_equal(string(other, "name"), string(e, "name"));
        const cJSON *range = tree_member(e, "range");
        assert_true(!range || cJSON_IsString(range));
        assert_true(cJSON_IsString(tree_member(e, "extra")));
    }
    free(bytes);
    unlink(path);
    return list;
}

static void github_action_takes_both_files(void **state)
{
    const char *const results[] = {journal_path};
    struct report_request request = {
        .results = results, .n_results = 1, .format = REPORT_GITHUB, .output = directory, .stream = stdout};
    struct error err = {0};
    (void)state;
    write_run();
    assert_int_equal(report_main_from(&request, &err), 0);
    cJSON *smaller = read_list("github-action-smaller.json");
    assert_int_equal(cJSON_GetArraySize(smaller), 2);
    assert_string_equal(string(smaller->child, "name"), CELL "torch.matmul");
    assert_string_equal(string(smaller->child, "unit"), "ns");
    assert_true(number(smaller->child, "value") == 1200);
    cJSON *bigger = read_list("github-action-bigger.json");
    assert_int_equal(cJSON_GetArraySize(bigger), 3);
    assert_string_equal(string(bigger->child->next->next, "name"), CELL "cudal2-max over torch.matmul");
    assert_true(fabs(number(bigger->child->next->next, "value") - cbrt(1.2 * 1.2 * 1.1)) < 2e-5);
    cJSON_Delete(smaller);
    cJSON_Delete(bigger);
    request.output = NULL;
    assert_int_equal(report_main_from(&request, &err), EXIT_CODE_USAGE);
}

/* ---- Prometheus ---- */

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

#define LABEL "[a-zA-Z_][a-zA-Z0-9_]*=\"([^\"\\]|\\\\[\\n\"])*\""
#define SAMPLE "^[a-zA-Z_:][a-zA-Z0-9_:]*(\\{" LABEL "(," LABEL ")*\\})? [-+0-9.eE]+$"

/* Every line is HELP, TYPE or a sample; a metric's lines stand together, HELP and TYPE first; no series is there twice.
 */
static void check_prometheus(char *text)
{
    char metric[128] = "";
    char *seen[64];
    size_t n = 0;
    char *rest = text;
    char *line;
    assert_true(text[strlen(text) - 1] == '\n');
    while ((line = strsep(&rest, "\n")) && rest) {
        size_t name = strcspn(line, "{ ");
        if (strncmp(line, "# HELP ", 7) == 0) {
            snprintf(metric, sizeof metric, "%.*s", (int)strcspn(line + 7, " "), line + 7);
            char type[160];
            snprintf(type, sizeof type, "# TYPE %s gauge", metric);
            line = strsep(&rest, "\n");
            assert_string_equal(line, type);
            continue;
        }
        if (!matches(SAMPLE, line))
            fail_msg("not a sample: %s", line);
        assert_true(strlen(metric) == name && strncmp(line, metric, name) == 0);
        for (size_t i = 0; i < n; i++)
            assert_false(strncmp(seen[i], line, strlen(line) - strlen(strrchr(line, ' '))) == 0);
        assert_true(n < 64);
        seen[n++] = line;
    }
}

static void prometheus_takes_it(void **state)
{
    (void)state;
    write_run();
    char *text = export_from(journal_path, REPORT_PROMETHEUS);
    assert_non_null(strstr(text, "cudal2_bench_device_info{run=\"r\",device=\"G\",driver=\"\"} 1\n"));
    assert_non_null(
        strstr(text, "cudal2_bench_time_seconds{run=\"r\",mode=\"offline\",dtype=\"f16\",accumulate=\"f32\",m=\"64\",n="
                     "\"64\",k=\"64\",timing=\"device\",contender=\"cudal2-nn\"} 1e-06\n"));
    assert_non_null(strstr(text, "contender=\"cudal2-nn\"} 5.24288e+11\n"));
    assert_non_null(strstr(text, "candidate=\"cudal2-max\",reference=\"torch.matmul\"} 1.165"));
    assert_null(strstr(text, "+copy"));
    check_prometheus(text);
    free(text);
    assert_true(matches(SAMPLE, "a{b=\"x\\\"y\\\\z\\n\"} 1e-06")); /* the checker itself can tell */
    assert_false(matches(SAMPLE, "a{b=\"x\"y\"} 1"));
    assert_false(matches(SAMPLE, "a{b=\"x\"} NULL"));
    assert_false(matches(SAMPLE, "a-b 1"));
}

/* ---- medians ---- */

static void medians_have_every_round(void **state)
{
    (void)state;
    write_run();
    char *text = export_from(journal_path, REPORT_MEDIANS);
    assert_string_equal(text, "mode,dtype,accumulate,m,n,k,contender,timing,round,blocks,median_ns,slowed\n"
                              "offline,f16,f32,64,64,64,torch.matmul,device,0,4,1200,0\n"
                              "offline,f16,f32,64,64,64,torch.matmul,device,1,4,1100,1\n"
                              "offline,f16,f32,64,64,64,torch.matmul,device,2,4,1200,0\n"
                              "offline,f16,f32,64,64,64,torch.matmul,device,3,4,1100,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn,device,0,4,1000,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn,device,1,4,1000,1\n"
                              "offline,f16,f32,64,64,64,cudal2-nn,device,2,4,1000,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn,device,3,4,1000,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn+copy,device,0,4,1001,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn+copy,device,1,4,999,1\n"
                              "offline,f16,f32,64,64,64,cudal2-nn+copy,device,2,4,1001,0\n"
                              "offline,f16,f32,64,64,64,cudal2-nn+copy,device,3,4,999,0\n");
    free(text);
}

/* A result finds its journal; without one there is nothing to take rounds from. Published files have no times. */
static void what_cannot_be_exported_is_said(void **state)
{
    static const char *const published[] = {
        "tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_offline.csv"};
    const char *const results[] = {result_path};
    struct error err = {0};
    struct report_request request = {.results = results, .n_results = 1, .format = REPORT_MEDIANS};
    char *text = NULL;
    size_t length;
    (void)state;
    write_run();
    assert_int_equal(result_write(journal_path, result_path, &err), 0);
    free(export_from(result_path, REPORT_MEDIANS));
    unlink(journal_path);
    request.stream = open_memstream(&text, &length);
    assert_int_equal(report_main_from(&request, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "r.journal.jsonl is not there"));
    for (int format = REPORT_BENCHER; format <= REPORT_MEDIANS; format++) {
        struct report_request claimed = {.published = published, .n_published = 1, .output = directory};
        claimed.format = (enum report_format)format;
        assert_int_equal(report_main_from(&claimed, &err), EXIT_CODE_USAGE);
    }
    fclose(request.stream);
    assert_int_equal(length, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bencher_takes_it),    TEST(google_benchmark_takes_it), TEST(github_action_takes_both_files),
        TEST(prometheus_takes_it), TEST(medians_have_every_round),  TEST(what_cannot_be_exported_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
