/* cli/: what `verify` says of cell records and of a sanitizer's log. */
#include "cli/cmd_verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct contender_record *add(struct cell_record *r, const char *name, bool candidate, const char *status)
{
    struct contender_record *c = &r->contenders[r->n_contenders++];
    snprintf(c->name, sizeof c->name, "%s", name);
    record_set_verdict(c, status);
    c->candidate = candidate;
    return c;
}

static struct cell_record *cell(void)
{
    struct cell_record *r = record_new();
    assert_non_null(r);
    r->problem = (struct cudal2_problem){.m = 64, .n = 32, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    r->outcome = CELL_OK;
    return r;
}

static void text_has(const struct findings *f, const char *part)
{
    char *text = findings_text(f);
    assert_non_null(text);
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, text);
    free(text);
}

static void passed_kernel_shows_its_numbers(void **state)
{
    struct findings f;
    struct error err = {0};
    struct cell_record *r = cell();
    (void)state;
    r->verification = cJSON_Parse("{\"bound\":[0.5,0.001]}");
    struct contender_record *c = add(r, "mine-nn", true, "ok");
    c->verification = cJSON_Parse("{\"class\":\"f32\",\"wider\":true,\"coverage\":1,\"seeds\":2}");
    c->deviation = cJSON_Parse("[0.0625,0.0002,0.00021]");
    c->tuning = cJSON_Parse("{\"variants\":12}");
    add(r, "cublas-nn", false, "ok");
    add(r, "torch.matmul", false, "unavailable");
    findings_open(&f);
    findings_add(&f, r);
    assert_int_equal(f.passed, 1);
    assert_int_equal(f.failed + f.skipped, 0);
    text_has(&f, "f16-f32-64x32x128            mine-nn                  passed           exact; largest deviation "
                 "0.0625 of 0.5, RMS 0.0002 of 0.001; accumulates in f32, wider than billed; 12 variants\n");
    char *json = findings_json(&f);
    assert_non_null(strstr(json, "\"passed\": true"));
    assert_null(strstr(json, "cublas")); /* a baseline that passes is nothing to report */
    free(json);
    assert_int_equal(findings_outcome(&f, &err), 0);
    findings_free(&f);
    record_free(r);
}

static void outcome_names_the_first_failure(void **state)
{
    struct findings f;
    struct error err = {0};
    struct cell_record *r = cell();
    (void)state;
    struct contender_record *c = add(r, "half-nn", true, "precision_class");
    snprintf(c->stage, sizeof c->stage, "verify");
    snprintf(c->reason, sizeof c->reason, "billed f32");
    add(r, "other-nn", true, "crash");
    add(r, "third-nn", true, "unsupported");
    add(r, "cublas-nn", false, "wrong_result");
    findings_open(&f);
    findings_add(&f, r);
    assert_int_equal(f.failed, 3); /* a baseline that fails is news too */
    assert_int_equal(f.skipped, 1);
    text_has(&f, "half-nn                  precision_class  verify: billed f32\n");
    text_has(&f, "0 passed, 3 failed, 1 not checked\n");
    assert_int_equal(findings_outcome(&f, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "half-nn at f16-f32-64x32x128: precision_class: billed f32"));
    findings_free(&f);
    record_free(r);
}

static void nothing_checked_is_no_success(void **state)
{
    struct findings f;
    struct error err = {0};
    struct cell_record *r = cell();
    (void)state;
    struct contender_record *c = add(r, "mine-nn", true, "unsupported");
    snprintf(c->reason, sizeof c->reason, "K %% 64");
    findings_open(&f);
    assert_int_equal(findings_outcome(&f, &err), EXIT_CODE_INCOMPARABLE);
    findings_add(&f, r);
    assert_int_equal(findings_outcome(&f, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "mine-nn"));
    findings_free(&f);
    record_free(r);
}

static void sanitizers_count(void **state)
{
    const struct sanitize_result clean = {.outcome = SANITIZE_CLEAN}, missing = {SANITIZE_MISSING, -1, "not here"};
    const struct sanitize_result errors = {SANITIZE_ERRORS, 4, "Invalid write"};
    struct error err = {0};
    struct findings f;
    struct cell_record *r = cell();
    (void)state;
    add(r, "mine-nn", true, "ok");
    findings_open(&f);
    findings_add(&f, r);
    findings_add_sanitizer(&f, "memcheck", &clean);
    assert_int_equal(findings_outcome(&f, &err), 0);
    findings_add_sanitizer(&f, "racecheck", &missing);
    assert_int_equal(findings_outcome(&f, &err), EXIT_CODE_UNAVAILABLE);
    findings_add_sanitizer(&f, "memcheck", &errors);
    assert_int_equal(findings_outcome(&f, &err), EXIT_CODE_VERIFICATION);
    text_has(&f, "memcheck: clean\nracecheck: missing: not here\nmemcheck: errors (4): Invalid write\n");
    findings_free(&f);
    record_free(r);
}

/* They stand below the verdict, and change none. */
static void counters_are_shown(void **state)
{
    struct error err = {0};
    struct findings f;
    struct cell_record *r = cell();
    (void)state;
    add(r, "mine-nn", true, "ok");
    add(r, "mine-tn", true, "ok");
    findings_open(&f);
    findings_add(&f, r);
    cJSON *contenders = cJSON_GetObjectItem(cJSON_GetArrayItem(f.problems, 0), "contenders");
    cJSON_AddItemToObject(cJSON_GetArrayItem(contenders, 0), "counters",
                          cJSON_Parse("{\"metrics\":{\"dram__bytes.sum\":{\"value\":202406144,\"unit\":\"byte\"}},"
                                      "\"version\":\"2025.3\"}"));
    cJSON_AddItemToObject(cJSON_GetArrayItem(contenders, 1), "counters", cJSON_Parse("{\"unavailable\":\"no ncu\"}"));
    text_has(&f, "\n    one launch, by ncu 2025.3:\n           202406144 byte           dram__bytes.sum\n");
    text_has(&f, "\n    no counters: no ncu\n");
    assert_int_equal(findings_outcome(&f, &err), 0);
    findings_free(&f);
    record_free(r);
}

static void logs_are_read(void **state)
{
    char text[64];
    (void)state;
    assert_int_equal(sanitize_read_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", text, 64),
                     0);
    assert_string_equal(text, "");
    assert_int_equal(sanitize_read_log("========= Invalid __shared__ read of size 4 bytes\n=========     at x\n"
                                       "========= Program hit error\n========= ERROR SUMMARY: 2 errors\n"
                                       "========= ERROR SUMMARY: 1 error\n",
                                       text, 64),
                     3);
    assert_string_equal(text, "Invalid __shared__ read of size 4 bytes");
    assert_int_equal(
        sanitize_read_log("========= RACECHECK SUMMARY: 5 hazards displayed (5 errors, 0 warnings)\n", text, 64), 5);
    assert_int_equal(sanitize_read_log("killed", text, 64), -1);
    assert_int_equal(sanitize_read_log("", text, 64), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passed_kernel_shows_its_numbers),
        cmocka_unit_test(outcome_names_the_first_failure),
        cmocka_unit_test(nothing_checked_is_no_success),
        cmocka_unit_test(sanitizers_count),
        cmocka_unit_test(counters_are_shown),
        cmocka_unit_test(logs_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
