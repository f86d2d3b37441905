/* record/record: a contender is ok by its times, its verification or its own word, and by nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

static char *printed(const struct cell_record *r)
{
    cJSON *tree = record_to_json(r);
    assert_non_null(tree);
    char *text = json_print(tree, false);
    cJSON_Delete(tree);
    return text;
}

static int read_text(const char *text, struct cell_record **out, struct error *err)
{
    cJSON *tree = NULL;
    int code = json_parse(text, strlen(text), 1u << 20, "test", &tree, err);
    if (code == 0)
        code = record_from_json(json_root(tree, "test"), out, err);
    cJSON_Delete(tree);
    return code;
}

static struct cell_record *reread(const char *text)
{
    struct cell_record *out = NULL;
    struct error err = {0};
    if (read_text(text, &out, &err))
        fail_msg("%s", err.text);
    return out;
}

/* Nothing but its times, its verification or its own word makes a contender ok. */
static void who_says_nothing_is_not_ok(void **state)
{
    static const char *const heads[] = {"ok", "partial", "skipped", "failed"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct cell_record *r = record_new();
        r->problem = (struct cudal2_problem){.m = 8, .n = 8, .k = 8, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
        record_set_outcome(r, heads[i]);
        strcpy(r->reason, "needs 9 bytes");
        r->n_contenders = 2;
        strcpy(r->contenders[0].name, "silent");
        record_set_verdict(&r->contenders[0], "");
        strcpy(r->contenders[1].name, "says-so");
        record_set_verdict(&r->contenders[1], "ok");
        char *text = printed(r);
        struct cell_record *back = reread(text);
        bool skipped = strcmp(heads[i], "skipped") == 0;
        assert_string_equal(record_verdict(&back->contenders[0]), skipped ? "skipped" : "unknown");
        assert_string_equal(back->contenders[0].reason,
                            skipped ? "needs 9 bytes" : "its record has no status and no times");
        assert_string_equal(record_verdict(&back->contenders[1]), "ok");
        record_free(r);
        record_free(back);
        free(text);
    }
}

/* As a newer program may write them: they pass no table, count as nothing known, and come out as they went in. */
static void unknown_words_are_kept(void **state)
{
    struct cell_record *r = record_new();
    (void)state;
    r->problem = (struct cudal2_problem){.m = 8, .n = 8, .k = 8, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    record_set_outcome(r, "postponed");
    r->n_contenders = 1;
    strcpy(r->contenders[0].name, "mine");
    record_set_verdict(&r->contenders[0], "melted");
    char *text = printed(r);
    struct cell_record *back = reread(text);
    char *again = printed(back);
    assert_int_equal(back->outcome, CELL_STATUS_COUNT);
    assert_int_equal(back->contenders[0].verdict, VERDICT_COUNT);
    assert_string_equal(record_outcome(back), "postponed");
    assert_string_equal(record_verdict(&back->contenders[0]), "melted");
    assert_non_null(strstr(again, "\"status\":\"postponed\""));
    assert_non_null(strstr(again, "\"status\":\"melted\""));
    record_set_verdict(&back->contenders[0], "crash");
    assert_int_equal(back->contenders[0].verdict, VERDICT_CRASH);
    assert_string_equal(record_verdict(&back->contenders[0]), "crash");
    record_free(r);
    record_free(back);
    free(text);
    free(again);
}

static void assert_rotation(const char *rotation, const char *word)
{
    struct cell_record *r = record_new();
    r->rotation = rotation ? cJSON_Parse(rotation) : NULL;
    assert_string_equal(record_rotation(r), word);
    record_free(r);
}

static void rotation_in_a_word(void **state)
{
    (void)state;
    assert_rotation(NULL, "");
    assert_rotation("{\"rotation\":\"full\",\"by\":\"size\"}", "size");
    assert_rotation("{\"rotation\":\"full\",\"by\":\"flush\"}", "flush");
    assert_rotation("{\"rotation\":\"full\"}", "sets"); /* of old */
    assert_rotation("{\"rotation\":\"partial\"}", "partial");
    assert_rotation("{\"rotation\":\"none\",\"by\":\"flush\"}", "none");
    assert_rotation("{\"rotation\":\"unknown\",\"by\":\"flush\"}", "unknown");
    assert_rotation("{\"rotation\":\"\\u001b[2J\",\"by\":7}", "unknown");
}

/* A packed problem's record is what it always was. */
static void what_a_problem_has_beside_sizes_is_kept(void **state)
{
    struct cell_record *r = record_new(), *out = NULL;
    struct error err = {0};
    (void)state;
    r->problem = (struct cudal2_problem){.m = 8, .n = 9, .k = 8, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    cJSON *plain = record_to_json(r);
    assert_null(cJSON_GetObjectItemCaseSensitive(plain, "args"));
    r->problem.ldc = 12;
    cJSON *tree = record_to_json(r);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(tree, "args")->valuestring, "ldc=12");
    assert_int_equal(record_from_json(json_root(tree, "test"), &out, &err), 0);
    assert_true(problem_equal(&r->problem, &out->problem));
    record_free(out);
    cJSON_ReplaceItemInObject(tree, "args", cJSON_CreateString("ldc=12:alpha=-0.5:beta=1"));
    assert_int_equal(record_from_json(json_root(tree, "test"), &out, &err), 0);
    assert_true(out->problem.alpha == -0.5 && out->problem.beta == 1);
    assert_false(problem_equal(&r->problem, &out->problem));
    record_free(out);
    cJSON_ReplaceItemInObject(tree, "args", cJSON_CreateString("ldc=8"));
    assert_int_equal(record_from_json(json_root(tree, "test"), &out, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.args: ldc: expected 9 or more"));
    cJSON_Delete(tree);
    cJSON_Delete(plain);
    record_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_problem_has_beside_sizes_is_kept), cmocka_unit_test(rotation_in_a_word),
        cmocka_unit_test(who_says_nothing_is_not_ok), cmocka_unit_test(unknown_words_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
