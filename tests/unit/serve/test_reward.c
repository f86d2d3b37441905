/* serve/outcome and serve/verdict: the reward's arithmetic, who is at fault, and what a client is not told. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/tree.h"
#include "serve/outcome.h"
#include "serve/verdict.h"

static struct result *parse(const char *text)
{
    struct result *result = NULL;
    struct error err = {0};
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    if (result_open(tree, "test", false, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

#define BASELINE "\"base-nn\":{\"status\":\"ok\",\"role\":\"baseline\",\"timings\":{\"wall\":{\"median_ns\":200}}}"

/* One cell; `contender` is the candidate's, `pairs` what stands in speedups. */
static struct result *result_with(const char *contender, const char *pairs)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"run\":{},\"summary\":{},\"env\":[{\"device\":{\"name\":\"a "
             "CPU\"}}],\"cells\":[{\"key\":\"k\",\"m\":8,\"n\":8,\"k\":8,\"headline\":\"wall\","
             "\"status\":\"ok\",\"blocks\":32,\"contenders\":{" BASELINE ",%s},\"speedups\":[%s]}]}",
             contender, pairs);
    return parse(text);
}

static struct submission submission_of(char *source)
{
    struct submission s = {.alpha = 0.5, .beta = 0.001, .n_problems = 1, .source = source};
    snprintf(s.baseline, sizeof s.baseline, "base");
    return s;
}

static cJSON *outcome_with(const char *contender, const char *pairs)
{
    char source[] = "0123456789"; /* ten bytes */
    struct submission s = submission_of(source);
    struct result *result = result_with(contender, pairs);
    const struct outcome_input in = {.submission = &s, .result = result, .hide = {"/srv/jobs/7", NULL}};
    cJSON *outcome = outcome_of_result(&in);
    result_free(result);
    assert_non_null(outcome);
    return outcome;
}

static void near(const cJSON *object, const char *key, double wanted)
{
    double is = tree_number(object, key);
    if (!(fabs(is - wanted) < 1e-9))
        fail_msg("%s is %g instead of %g", key, is, wanted);
}

static const char good[] = "\"k-nn\":{\"status\":\"ok\",\"role\":\"candidate\",\"deviation\":[0.2,0.1],"
                           "\"timings\":{\"wall\":{\"median_ns\":100}},\"percent_of_roofline\":40}";
static const char pair[] = "{\"candidate\":\"k-nn\",\"reference\":\"base-max\",\"timing\":\"wall\",\"geomean\":1,"
                           "\"ci95\":[0.9,1.1],\"mean_of_ratios\":1.5}";

/* Where nothing is counted, the mix says why; where the compiler told of the code, that is what stands there. */
static void a_mix_or_why_there_is_none(void **state)
{
    (void)state;
    cJSON *made = cJSON_Parse("{\"instruction_mix\":{\"tensor\":7}}");
    const struct outcome_failure failure = {VERDICT_WRONG_RESULT, "verify", ""};
    struct submission s = submission_of(NULL);
    struct outcome_input in = {.submission = &s};
    static const struct {
        enum candidate_kind kind;
        const char *why;
    } none[] = {
        {CANDIDATE_NAMED, "the machine code of an installed candidate is not read"},
        {CANDIDATE_SOURCE, "no machine code was read: it does not compile or fit its manifest, or was not begun with"}};
    for (size_t i = 0; i < 2; i++) {
        s.kind = none[i].kind;
        cJSON *o = outcome_of_failure(&in, &failure);
        const cJSON *mix = tree_member(tree_member(o, "code"), "instruction_mix");
        assert_string_equal(tree_text(mix, "unavailable"), none[i].why);
        cJSON_Delete(o);
    }
    in.code = made;
    cJSON *o = outcome_of_failure(&in, &failure);
    const cJSON *mix = tree_member(tree_member(o, "code"), "instruction_mix");
    assert_null(tree_member(mix, "unavailable"));
    near(mix, "tensor", 7);
    cJSON_Delete(o);
    cJSON_Delete(made);
}

/* r = ratio - alpha diff - beta L = 2 - 0.5 * 0.2 - 0.001 * 10 */
static void reward(void **state)
{
    (void)state;
    cJSON *o = outcome_with(good, pair);
    const cJSON *r = tree_member(o, "reward"), *terms = tree_member(o, "terms");
    assert_string_equal(tree_text(o, "verdict"), "ok");
    near(r, "value", 1.89);
    near(r, "low", 1.79);
    near(r, "high", 1.99);
    near(terms, "ratio", 2);
    near(terms, "mean_of_ratios", 2.5);
    near(terms, "diff", 0.2);
    near(terms, "length", 10);
    cJSON_Delete(o);
}

static void over_layouts_first(void **state)
{
    (void)state;
    char pairs[1024];
    snprintf(pairs, sizeof pairs,
             "%s,{\"candidate\":\"k-max\",\"reference\":\"base-max\",\"timing\":\"wall\","
             "\"geomean\":0.5,\"ci95\":[0.4,0.6],\"mean_of_ratios\":0.5},"
             "{\"candidate\":\"k-max\",\"reference\":\"base-max\",\"timing\":\"event\",\"geomean\":9}",
             pair);
    cJSON *o = outcome_with(good, pairs);
    near(tree_member(o, "terms"), "ratio", 1.5);
    cJSON_Delete(o);
}

/* A refuted layout refutes the candidate, however good the other one is. */
static void refuted(void **state)
{
    (void)state;
    char contenders[2048];
    snprintf(
        contenders, sizeof contenders,
        "%s,\"k-tn\":{\"status\":\"late_work\",\"stage\":\"measure\",\"role\":\"candidate\",\"reason\":\"block 7\"}",
        good);
    cJSON *o = outcome_with(contenders, pair);
    assert_string_equal(tree_text(o, "verdict"), "late_work");
    near(tree_member(o, "reward"), "value", 0);
    assert_null(strstr(tree_text(o, "error"), "block 7"));
    cJSON_Delete(o);
}

/* One that is merely not for this problem does not. */
static void unsupported_layout(void **state)
{
    (void)state;
    char contenders[2048];
    snprintf(contenders, sizeof contenders,
             "%s,\"k-tn\":{\"status\":\"unsupported\",\"role\":\"candidate\",\"reason\":\"K %% 8\"}", good);
    cJSON *o = outcome_with(contenders, pair);
    assert_string_equal(tree_text(o, "verdict"), "ok");
    cJSON_Delete(o);
}

static void nobodys_fault(void **state)
{
    (void)state;
    cJSON *o = outcome_with(good, "");
    assert_string_equal(tree_text(o, "verdict"), "failed");
    assert_true(cJSON_IsNull(tree_member(o, "reward")));
    assert_non_null(strstr(tree_text(o, "error"), "base"));
    cJSON_Delete(o);
    o = outcome_with("\"k-nn\":{\"status\":\"unavailable\",\"role\":\"candidate\",\"reason\":\"no GPU\"}", "");
    assert_true(cJSON_IsNull(tree_member(o, "reward")));
    assert_non_null(strstr(tree_text(o, "error"), "no GPU"));
    cJSON_Delete(o);
}

static void wrong_elements(void **state)
{
    static const char at[] = "\"k-nn\":{\"status\":\"wrong_result\",\"stage\":\"%s\",\"role\":\"candidate\","
                             "\"reason\":\"9 wrong, see /srv/jobs/7/kernel.cu\",\"verification\":{\"wrong\":"
                             "{\"elements\":[[0,1,2,3],[1,1,1,1],[1,1,1,1],[1,1,1,1],[1,1,1,1],[1,1,1,1],[1,1,1,1],"
                             "[1,1,1,1],[1,1,1,1]]}}}";
    char contender[2048];
    (void)state;
    snprintf(contender, sizeof contender, at, "verify");
    cJSON *o = outcome_with(contender, "");
    const cJSON *problem = cJSON_GetArrayItem(tree_member(o, "problems"), 0);
    assert_int_equal(cJSON_GetArraySize(tree_member(problem, "wrong_elements")), 8);
    assert_string_equal(tree_text(o, "error"), "wrong_result: 9 wrong, see kernel.cu");
    cJSON_Delete(o);
    snprintf(contender, sizeof contender, at, "measure");
    o = outcome_with(contender, "");
    problem = cJSON_GetArrayItem(tree_member(o, "problems"), 0);
    assert_null(tree_member(problem, "wrong_elements")); /* it knows what is right: that would teach it when to be */
    assert_null(strstr(tree_text(o, "error"), "9 wrong"));
    cJSON_Delete(o);
}

/* Of several in one cell each is told of its own, whatever the others did. */
static void own_of_several(void **state)
{
    static const char both[] = "\"k-nn\":{\"status\":\"ok\",\"role\":\"candidate\","
                               "\"timings\":{\"wall\":{\"median_ns\":100}}},"
                               "\"k2-nn\":{\"status\":\"ok\",\"role\":\"candidate\","
                               "\"timings\":{\"wall\":{\"median_ns\":50}}},"
                               "\"k3-nn\":{\"status\":\"wrong_result\",\"role\":\"candidate\",\"stage\":\"verify\"}";
    static const char pairs[] = "{\"candidate\":\"k2-nn\",\"reference\":\"base-max\",\"timing\":\"wall\","
                                "\"geomean\":3,\"ci95\":[2.9,3.1],\"mean_of_ratios\":4},"
                                "{\"candidate\":\"k-nn\",\"reference\":\"base-max\",\"timing\":\"wall\","
                                "\"geomean\":1,\"ci95\":[0.9,1.1],\"mean_of_ratios\":2}";
    static const struct {
        const char *family, *verdict;
        double ratio, ns;
    } of[] = {{"k", "ok", 2, 100}, {"k2", "ok", 4, 50}, {"k3", "wrong_result", 0, 0}};
    struct submission s = submission_of(NULL);
    struct result *result = result_with(both, pairs);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct outcome_input in = {.submission = &s, .result = result, .family = of[i].family};
        cJSON *o = outcome_of_result(&in);
        assert_string_equal(tree_text(o, "verdict"), of[i].verdict);
        if (of[i].ratio > 0) {
            near(tree_member(o, "terms"), "ratio", of[i].ratio);
            near(cJSON_GetArrayItem(tree_member(o, "problems"), 0), "candidate_ns", of[i].ns);
        }
        cJSON_Delete(o);
    }
    result_free(result);
}

static void a_cell_short(void **state)
{
    struct submission s = submission_of(NULL);
    (void)state;
    struct result *result = parse("{\"run\":{},\"summary\":{},\"env\":[],\"cells\":[]}");
    const struct outcome_input in = {.submission = &s, .result = result};
    cJSON *o = outcome_of_result(&in);
    assert_string_equal(tree_text(o, "verdict"), "failed");
    cJSON_Delete(o);
    result_free(result);
}

static void hopeless(void **state)
{
    (void)state;
    cJSON *o = outcome_with(good, pair);
    assert_true(outcome_is_hopeless(o, 2.2));
    assert_false(outcome_is_hopeless(o, 2.05)); /* its interval reaches 2.1 */
    cJSON_Delete(o);
}

/* A word that no verdict has teaches nothing: no reward, and the server's own verdict. */
static void an_unknown_word_is_a_failure_of_the_server(void **state)
{
    cJSON *o = cJSON_Parse("{\"verdict\":\"gorgeous\"}");
    (void)state;
    assert_int_equal(verdict_of_outcome(o), VERDICT_FAILED);
    assert_false(verdict_is_earned(VERDICT_FAILED) || verdict_is_earned(VERDICT_COUNT));
    cJSON_Delete(o);
}

/* All that refutes a kernel is told in words of its own, and costs the reward. */
static void every_refuting_verdict_has_a_text(void **state)
{
    char text[VERDICT_TEXT];
    (void)state;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (!verdict_is_refuted((enum verdict)v))
            continue;
        verdict_text((enum verdict)v, "measure", "", text);
        assert_non_null(strchr(text, ' '));
        assert_true(verdict_is_earned((enum verdict)v));
    }
    assert_true(verdict_is_cheat(VERDICT_LATE_WORK, "verify") && verdict_is_cheat(VERDICT_WRONG_RESULT, "measure"));
    assert_false(verdict_is_cheat(VERDICT_CRASH, "setup") || verdict_is_cheat(VERDICT_WRONG_RESULT, "verify"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reward),
                                       cmocka_unit_test(a_mix_or_why_there_is_none),
                                       cmocka_unit_test(over_layouts_first),
                                       cmocka_unit_test(refuted),
                                       cmocka_unit_test(unsupported_layout),
                                       cmocka_unit_test(nobodys_fault),
                                       cmocka_unit_test(wrong_elements),
                                       cmocka_unit_test(own_of_several),
                                       cmocka_unit_test(a_cell_short),
                                       cmocka_unit_test(hopeless),
                                       cmocka_unit_test(an_unknown_word_is_a_failure_of_the_server),
                                       cmocka_unit_test(every_refuting_verdict_has_a_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
