/* serve/submission and serve/gym: what is taken, what is refused with which words, and one form for one content. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/tree.h"
#include "serve/base64.h"
#include "serve/gym.h"

static const char *const candidates[] = {"blocked", "cudal2", NULL};
static const char *const baselines[] = {"openblas", "cublas", NULL};
static const struct submission_rules rules = {candidates, baselines, "openblas"};

static cJSON *tree_of(const char *text)
{
    struct error err;
    cJSON *tree = NULL;
    assert_int_equal(json_parse(text, strlen(text), SUBMISSION_BODY_BYTES, "test", &tree, &err), 0);
    return tree;
}

static int read_text(const char *text, struct submission *out, struct error *err)
{
    cJSON *tree = tree_of(text);
    int code = submission_read(json_root(tree, "test"), &rules, out, err);
    cJSON_Delete(tree);
    return code;
}

static void refused(const char *text, const char *words)
{
    struct submission s;
    struct error err;
    assert_int_equal(read_text(text, &s, &err), EXIT_CODE_DATA);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in: %s", words, err.text);
}

static char *form_of(const char *text)
{
    struct submission s;
    struct error err = {0};
    if (read_text(text, &s, &err))
        fail_msg("%s", err.text);
    cJSON *tree = submission_to_json(&s);
    char *form = json_print(tree, false);
    cJSON_Delete(tree);
    submission_free(&s);
    return form;
}

static bool shares(const char *a, const char *b)
{
    struct submission x, y;
    struct error err = {0};
    if (read_text(a, &x, &err) || read_text(b, &y, &err))
        fail_msg("%s", err.text);
    bool may = submission_may_share(&x, &y);
    assert_int_equal(may, submission_may_share(&y, &x));
    submission_free(&x);
    submission_free(&y);
    return may;
}

#define KERNEL "{\"share\":true,\"kernel\":\"k\",\"problem\":\"8x8x8\",\"parameters\":"

static void who_may_share_cells(void **state)
{
    static const char *const no[] = {
        KERNEL "{\"A\":1}}",
        "{\"share\":true,\"kernel\":\"l\",\"problem\":\"8x8x8\",\"parameters\":{\"A\":2}}",
        "{\"share\":true,\"kernel\":\"k\",\"problem\":\"8x8x16\",\"parameters\":{\"A\":2}}",
        KERNEL "{\"A\":2},\"baseline\":\"cublas\"}",
        KERNEL "{\"A\":2},\"accumulate\":\"f16\"}",
        KERNEL "{\"A\":2},\"mode\":\"server\"}",
        KERNEL "{\"A\":2},\"layout\":\"tn\"}",
        KERNEL "{\"A\":2},\"half_width\":0.1}",
        KERNEL "{\"A\":2},\"seconds\":1}",
        KERNEL "{\"A\":2},\"screen\":1}",
        KERNEL "{\"A\":2},\"counters\":true}",
        "{\"kernel\":\"k\",\"problem\":\"8x8x8\",\"parameters\":{\"A\":2}}", /* alone unless asked */
        "{\"share\":true,\"candidate\":\"blocked\",\"problem\":\"8x8x8\"}"};
    (void)state;
    assert_true(shares(KERNEL "{\"A\":1}}", KERNEL "{\"A\":2},\"alpha\":0.5,\"priority\":3}"));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (shares(KERNEL "{\"A\":1}}", no[i]))
            fail_msg("shares with %s", no[i]);
    assert_false(shares(no[12], no[12])); /* its code on the host */
}

static void one_layout_alone(void **state)
{
    struct submission s;
    struct error err;
    (void)state;
    assert_int_equal(read_text("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\"}", &s, &err), 0);
    assert_int_equal(s.layouts, 0);
    submission_free(&s);
    assert_int_equal(read_text("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"layout\":\"tn\"}", &s, &err), 0);
    assert_int_equal(s.layouts, CUDAL2_BIT(CUDAL2_TN));
    submission_free(&s);
    char *form = form_of("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"layout\":\"nn\"}");
    assert_non_null(strstr(form, "\"layout\":\"nn\""));
    free(form);
    assert_int_equal(read_text("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"layout\":\"nt\"}", &s, &err),
                     EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "layout"));
}

static void counters(void **state)
{
    struct submission s;
    struct error err;
    (void)state;
    assert_int_equal(read_text("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\"}", &s, &err), 0);
    assert_null(s.counters);
    submission_free(&s);
    char *without = form_of("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\"}");
    char *refused_them = form_of("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"counters\":false}");
    assert_string_equal(without, refused_them); /* and so they have one id */
    assert_null(strstr(without, "counters"));
    char *own = form_of("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"counters\":[\"a__b.sum\",\"c__d\"]}");
    char *default_ones = form_of("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"counters\":true}");
    assert_non_null(strstr(own, "\"counters\":[\"a__b.sum\",\"c__d\"]"));
    assert_non_null(strstr(default_ones, "\"counters\":true"));
    char *again = form_of(own);
    assert_string_equal(again, own);
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"counters\":[\"a__b\",\"-x\"]}", "counters[1]");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"counters\":\"all\"}", "counters");
    free(without);
    free(refused_them);
    free(own);
    free(default_ones);
    free(again);
}

static void defaults(void **state)
{
    struct submission s;
    struct error err;
    (void)state;
    assert_int_equal(read_text("{\"candidate\":\"blocked\",\"problem\":\"64x32x16\"}", &s, &err), 0);
    assert_int_equal(s.kind, CANDIDATE_NAMED);
    assert_int_equal(s.n_problems, 1);
    assert_int_equal(s.problems[0].n, 32);
    assert_string_equal(s.baseline, "openblas");
    assert_int_equal(s.accumulate, CUDAL2_ACC_F32);
    assert_true(s.alpha > 0 && s.beta > 0 && s.screen == 0);
    submission_free(&s);
}

static void one_form(void **state)
{
    (void)state;
    char *a = form_of("{\"candidate\":\"blocked\",\"problem\":\"64x32x16\",\"priority\":9,\"again\":true}");
    char *b = form_of("{\"problem\":[\"64x32x16\"],\"mode\":\"offline\",\"candidate\":\"blocked\"}");
    char *c = form_of("{\"candidate\":\"blocked\",\"problem\":\"64x32x17\"}");
    assert_string_equal(a, b);
    assert_string_not_equal(a, c);
    char *again = form_of(a);
    assert_string_equal(a, again);
    free(a);
    free(b);
    free(c);
    free(again);
}

static void of_each_kind(void **state)
{
    (void)state;
    char *kernel = form_of("{\"kernel\":\"tiny\",\"parameters\":{\"BM\":32},\"problem\":\"8x8x8\"}");
    char *source = form_of("{\"source\":\"x\",\"manifest\":{\"entry\":\"x\"},\"problem\":\"8x8x8\"}");
    assert_non_null(strstr(kernel, "\"BM\":32"));
    assert_non_null(strstr(source, "\"entry\":\"x\""));
    free(kernel);
    free(source);
    char *cubin = form_of("{\"cubin\":\"f0VMRg==\",\"manifest\":{},\"problem\":\"8x8x8\"}");
    assert_non_null(strstr(cubin, "\"cubin\":\"f0VMRg==\""));
    free(cubin);
    refused("{\"cubin\":\"f0VM!g==\",\"manifest\":{},\"problem\":\"8x8x8\"}", "expected base64");
    refused("{\"fatbin\":\"f0VMR\",\"manifest\":{},\"problem\":\"8x8x8\"}", "expected base64");
    refused("{\"ptx\":\"x\",\"source\":\"x\",\"manifest\":{},\"problem\":\"8x8x8\"}", "one of");
}

static void base64(void **state)
{
    static const char *const texts[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zg=a", "====", "Zm9v\n"};
    unsigned char out[8];
    size_t length;
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        assert_true(base64_length(texts[i], &length));
        assert_int_equal(length, i);
        base64_decode(texts[i], out);
        assert_memory_equal(out, "foobar", i);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(base64_length(bad[i], &length));
}

static void refusals(void **state)
{
    (void)state;
    refused("[]", "object");
    refused("{\"problem\":\"8x8x8\"}", "one of \"candidate\", \"kernel\", \"source\"");
    refused("{\"candidate\":\"blocked\",\"kernel\":\"tiny\",\"problem\":\"8x8x8\"}", "one of");
    refused("{\"candidate\":\"bloked\",\"problem\":\"8x8x8\"}", "did you mean blocked");
    refused("{\"candidate\":\"../x\",\"problem\":\"8x8x8\"}", "no path");
    refused("{\"candidate\":\"/tmp/x.so\",\"problem\":\"8x8x8\"}", "no path");
    refused("{\"kernel\":\"x.json\",\"problem\":\"8x8x8\"}", "no path");
    refused("{\"candidate\":\"blocked\"}", "$.problem");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8\"}", "MxNxK");
    refused("{\"candidate\":\"blocked\",\"problem\":[\"8x8x8\",\"8x8x8\"]}", "twice");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"parameters\":{}}", "\"kernel\"");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"manifest\":{}}", "\"source\"");
    refused("{\"source\":\"x\",\"problem\":\"8x8x8\"}", "$.manifest");
    refused("{\"kernel\":\"tiny\",\"parameters\":{\"BM\":\"32\"},\"problem\":\"8x8x8\"}", "$.parameters.BM");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"baseline\":\"mkl\"}", "there is no \"mkl\"");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"seconds\":1e9}", "$.seconds");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"priority\":10}", "$.priority");
    refused("{\"candidate\":\"blocked\",\"problem\":\"8x8x8\",\"command\":\"id\"}", "unknown key \"command\"");
}

static void too_much(void **state)
{
    size_t length = SUBMISSION_SOURCE_BYTES + 1;
    char *text = calloc(1, length + 200);
    (void)state;
    strcpy(text, "{\"manifest\":{},\"problem\":\"8x8x8\",\"source\":\"");
    memset(text + strlen(text), 'x', length);
    strcat(text, "\"}");
    refused(text, "at most 262144 bytes");
    strcpy(text, "{\"candidate\":\"blocked\",\"problem\":[");
    for (int i = 1; i <= SUBMISSION_PROBLEMS + 1; i++)
        sprintf(text + strlen(text), "%s\"8x8x%d\"", i > 1 ? "," : "", i);
    strcat(text, "]}");
    refused(text, "at most 16 problems");
    free(text);
}

/* ---- KernelGYM ---- */

static int read_gym(const char *text, struct gym_request *out, struct error *err)
{
    cJSON *tree = tree_of(text);
    int code = gym_read(json_root(tree, "test"), &rules, out, err);
    cJSON_Delete(tree);
    return code;
}

static void gym_requests(void **state)
{
    struct gym_request g;
    struct error err;
    (void)state;
    assert_int_equal(
        read_gym("{\"task_id\":\"a:1\",\"kernel_code\":\"code\",\"backend\":\"cuda\",\"priority\":\"high\","
                 "\"timeout\":20,\"cudal2\":{\"manifest\":{},\"problem\":\"8x8x8\"}}",
                 &g, &err),
        0);
    assert_string_equal(g.submission.source, "code");
    assert_int_equal(g.submission.priority, 6);
    assert_string_equal(g.task, "a:1");
    assert_true(g.timeout_seconds == 20);
    submission_free(&g.submission);
    assert_int_equal(read_gym("{\"task_id\":\"a\",\"kernel_code\":\"code\"}", &g, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.cudal2"));
    assert_int_equal(read_gym("{\"task_id\":\"a/b\",\"kernel_code\":\"code\",\"cudal2\":{}}", &g, &err),
                     EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.task_id"));
}

/* What KernelGYM's own client can send. */
static void gym_reference_code(void **state)
{
    struct gym_request g;
    struct error err;
    (void)state;
    assert_int_equal(read_gym("{\"task_id\":\"a\",\"kernel_code\":\"// class ModelNew\",\"reference_code\":"
                              "\"# class Model\\n{\\\"manifest\\\":{},\\\"problem\\\":\\\"8x8x8\\\"}\\n\"}",
                              &g, &err),
                     0);
    assert_string_equal(g.submission.source, "// class ModelNew");
    assert_int_equal(g.submission.problems[0].m, 8);
    submission_free(&g.submission);
    assert_int_equal(
        read_gym("{\"task_id\":\"a\",\"kernel_code\":\"x\",\"reference_code\":\"class Model: pass\"}", &g, &err),
        EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "as text in reference_code"));
    assert_int_equal(read_gym("{\"task_id\":\"a\",\"kernel_code\":\"x\",\"reference_code\":\"f'{x}'\"}", &g, &err),
                     EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "reference_code"));
    assert_int_equal(
        read_gym("{\"task_id\":\"a\",\"kernel_code\":\"x\",\"cudal2\":7,\"reference_code\":\"{}\"}", &g, &err),
        EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.cudal2"));
}

static void gym_responses(void **state)
{
    (void)state;
    cJSON *outcome = tree_of("{\"verdict\":\"ok\",\"reward\":{\"value\":1.2},\"terms\":{\"ratio\":1.25},"
                             "\"problems\":[{\"baseline_ns\":2500000,\"candidate_ns\":2000000}]}");
    cJSON *r = gym_response("t", "done", outcome);
    assert_string_equal(tree_text(r, "status"), "completed");
    assert_true(tree_true(r, "correctness") && tree_true(r, "compiled") && !tree_true(r, "decoy_kernel"));
    assert_true(tree_number(r, "speedup") == 1.25 && tree_number(r, "reference_runtime") == 2.5);
    cJSON_Delete(r);
    cJSON_Delete(outcome);
    outcome = tree_of("{\"verdict\":\"late_work\",\"stage\":\"measure\",\"reward\":{\"value\":0}}");
    r = gym_response("t", "done", outcome);
    assert_true(tree_true(r, "decoy_kernel") && !tree_true(r, "correctness"));
    cJSON_Delete(r);
    cJSON_Delete(outcome);
    outcome = tree_of("{\"verdict\":\"failed\",\"stage\":\"serve\",\"reward\":null}");
    r = gym_response("t", "done", outcome);
    assert_string_equal(tree_text(r, "status"), "failed");
    cJSON_Delete(r);
    cJSON_Delete(outcome);
    r = gym_response("t", "queued", NULL);
    assert_string_equal(tree_text(r, "status"), "pending");
    cJSON_Delete(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults),         cmocka_unit_test(who_may_share_cells),
                                       cmocka_unit_test(one_layout_alone), cmocka_unit_test(counters),
                                       cmocka_unit_test(one_form),         cmocka_unit_test(of_each_kind),
                                       cmocka_unit_test(refusals),         cmocka_unit_test(too_much),
                                       cmocka_unit_test(gym_requests),     cmocka_unit_test(gym_reference_code),
                                       cmocka_unit_test(gym_responses),    cmocka_unit_test(base64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
