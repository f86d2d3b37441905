/* compare/: a journal whose run or environment has another type than it should is refused in one line that names file,
 * line and path and says what to do. Whatever stands in whatever place, nothing crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "compare/compare.h"
#include "compare/forms.h"
#include "compare_pair_fixture.h"

#define RUN                                                                                                            \
    "{\"started\":\"then\",\"plan_hash\":\"p\",\"seed\":\"2\",\"config_hash\":\"c\",\"device\":\"cuda\",\"build\":"    \
    "{\"commit\":\"0123\"},\"config\":{\"protocol\":\"adaptive\",\"modes\":[\"offline\"],\"timing\":\"device\","       \
    "\"server\":{\"gap\":1},\"offline\":{\"n\":1},\"tune\":{\"choice\":\"race\"},\"workspace_bytes\":1,\"dtype\":"     \
    "\"native\",\"baselines\":[\"torch.matmul\",\"cublas\"],\"candidates\":[\"mine\"]},\"plan\":[]}"
#define ENV                                                                                                            \
    "{\"device\":{\"kind\":\"cuda\",\"name\":\"H\",\"driver\":\"570.1\",\"power_limit_mw\":1,\"threads\":8},"          \
    "\"libraries\":{\"cublas\":{\"cublas\":\"13\",\"settings\":{\"a\":1},\"path\":\"/x\"},\"tuned\":{\"h200\":"        \
    "{\"commit\":\"abc\",\"hash\":\"def\"}},\"mine\":{\"plugin_digest\":\"aa\",\"set\":\"s\",\"kernels\":{\"k\":"      \
    "\"1\"},\"nvrtc\":\"13.0\"}},\"unavailable\":{\"torch\":\"no such file\"}}"

static void put_copy(struct journal *j, const char *kind, const cJSON *data)
{
    put_tree(j, kind, cJSON_Duplicate(data, true));
}

static void write_run(const char *path, const cJSON *run, const cJSON *env)
{
    static const struct script plain = {.seed = 1};
    struct journal *j = NULL;
    struct error err = {0};
    remove(path);
    if (journal_create_passing(path, &j, &err))
        fail_msg("%s", err.text);
    put_copy(j, "run", run);
    put_copy(j, "env", env);
    put_cell(j, fixture_cell(&plain, 0));
    journal_close(j);
}

static void check_forms(const struct compare_runs *c)
{
    for (int format = 0; format < COMPARE_FORMAT_COUNT; format++) {
        char *text = NULL;
        struct error err = {0};
        if (compare_print(c, (enum compare_format)format, (struct compare_style){0}, &text, &err))
            fail_msg("%s", err.text);
        free(text);
    }
}

/* Compares, and makes every form of it; what is refused is told in one line. */
static int compare_both(struct error *err)
{
    struct compare_runs c;
    struct compare_request r = request();
    r.force = true;
    *err = (struct error){0};
    int code = compare_open(&r, &c, err);
    if (code) {
        assert_true(code == EXIT_CODE_DATA || code == EXIT_CODE_INCOMPARABLE);
        assert_true(err->text[0] && !strchr(err->text, '\n'));
        return code;
    }
    check_forms(&c);
    compare_free(&c);
    return 0;
}

static cJSON *parsed(const char *text)
{
    cJSON *tree = cJSON_Parse(text);
    assert_non_null(tree);
    return tree;
}

/* NEW's line with `from` replaced by `to`. */
static void refuse(const char *line, const char *const edit[3])
{
    char text[1200];
    struct error err;
    const char *at = strstr(line, edit[0]);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - line), line, edit[1], at + strlen(edit[0]));
    bool is_run = strcmp(line, RUN) == 0;
    cJSON *run = parsed(is_run ? text : RUN), *env = parsed(is_run ? ENV : text);
    write_run(fresh_path, run, env);
    assert_int_equal(compare_both(&err), EXIT_CODE_DATA);
    if (!strstr(err.text, edit[2]) || strncmp(err.text, fresh_path, strlen(fresh_path)) != 0 ||
        !strstr(err.text, "; the journal was edited, or is no run's: measure again"))
        fail_msg("\"%s\" is not in \"%s\"", edit[2], err.text);
    cJSON_Delete(run);
    cJSON_Delete(env);
}

static void other_types_are_refused(void **state)
{
    static const char *const runs[][3] = {
        {"{\"commit\":\"0123\"}", "[\"commit\"]", ": line 1: $.build: expected an object, found an array; "},
        {"[\"offline\"]", "null", ": line 1: $.config.modes: expected an array, found null; "},
        {"\"adaptive\"", "{}", ": line 1: $.config.protocol: expected a string, found an object; "},
    };
    static const char *const envs[][3] = {
        {"\"570.1\"", "570", ": line 2: $.device.driver: expected a string, found 570; "},
        {"{\"commit\":\"abc\",\"hash\":\"def\"}", "[1]",
         ": line 2: $.libraries.tuned.h200: expected an object, found an array; "},
        {"{\"torch\":\"no such file\"}", "[]", ": line 2: $.unavailable: expected an object, found an array; "},
    };
    cJSON *run = parsed(RUN), *env = parsed(ENV);
    (void)state;
    write_run(base_path, run, env);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        refuse(RUN, runs[i]);
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++)
        refuse(ENV, envs[i]);
    cJSON_Delete(run);
    cJSON_Delete(env);
}

/* Replaces the node that *countdown counts to, below `parent`; false when there are not so many. */
static bool replace(cJSON *parent, int *countdown, const char *value)
{
    for (cJSON *item = parent->child; item; item = item->next) {
        if ((*countdown)-- == 0) {
            if (cJSON_IsObject(parent))
                return cJSON_ReplaceItemInObjectCaseSensitive(parent, item->string, parsed(value));
            return cJSON_ReplaceItemViaPointer(parent, item, parsed(value));
        }
        if (replace(item, countdown, value))
            return true;
    }
    return false;
}

/* The worker's answer, which compare --confirm asks about. */
static void ask_again(const cJSON *env)
{
    struct compare_runs c;
    struct error err = {0};
    struct compare_request r = request();
    r.fresh = base_path;
    assert_int_equal(compare_open(&r, &c, &err), 0);
    int code = compare_check_again(&c, env, &err);
    assert_true(code == 0 || code == EXIT_CODE_DATA || code == EXIT_CODE_INCOMPARABLE);
    assert_true(!code == !err.text[0]);
    compare_free(&c);
}

/* Each place of the line in turn holds each kind of value. Returns how many pairs were refused. */
static size_t put_everywhere(bool in_run, const char *value)
{
    size_t refused = 0;
    bool more = true;
    for (int place = 0; more; place++) {
        struct error err;
        int countdown = place;
        cJSON *run = parsed(RUN), *env = parsed(ENV);
        more = replace(in_run ? run : env, &countdown, value);
        write_run(fresh_path, run, env);
        refused += compare_both(&err) != 0;
        if (!in_run)
            ask_again(env);
        cJSON_Delete(run);
        cJSON_Delete(env);
    }
    return refused;
}

static void nothing_crashes(void **state)
{
    static const char *const values[] = {"null", "[]", "[[]]", "{}", "{\"a\":{}}", "5", "\"x\"", "true", "-1e300"};
    cJSON *run = parsed(RUN), *env = parsed(ENV);
    (void)state;
    write_run(base_path, run, env);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_true(put_everywhere(true, values[i]) > 5);
        assert_true(put_everywhere(false, values[i]) > 5);
    }
    cJSON_Delete(run);
    cJSON_Delete(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_types_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_crashes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
