/* What a comparison tells when it does not come about, or when NEW lacks what BASE has; and that its forms are UTF-8.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/utf8.h"
#include "compare/forms.h"
#include "compare_fixture.h"
#include "scratch_fixture.h"

static void must_hold(const char *text, const char *words)
{
    assert_non_null(text);
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
}

static void must_be_utf8(const char *text)
{
    size_t length = 1, left = strlen(text);
    for (; left > 0 && length > 0; text += length, left -= length)
        length = utf8_length(text, left);
    assert_int_equal(left, 0);
}

/* ---- no comparison ---- */

static char *fail_as(enum compare_format format, int code, const char *words)
{
    struct error why = {0}, err = {0};
    const struct compare_failure failure = {"a&b.json", "n\xffw.json", &why};
    char *text = NULL;
    error_set(&why, code, "%s", words);
    assert_int_equal(compare_print_failure(&failure, format, &text, &err), 0);
    if (text)
        must_be_utf8(text);
    return text;
}

static void a_form_says_why_there_is_none(void **state)
{
    (void)state;
    char *text = fail_as(COMPARE_JUNIT, EXIT_CODE_INCOMPARABLE, "driver: \"1\" <in> BASE\xef\xbf\xbf");
    must_hold(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cudal2-bench compare\" tests=\"1\" "
                    "failures=\"0\" errors=\"1\">\n  <testsuite ");
    must_hold(text, "<testcase classname=\"cudal2-bench compare\" name=\"n\\xffw.json vs a&amp;b.json\">\n      "
                    "<error message=\"INCOMPARABLE\" type=\"INCOMPARABLE\">driver: &quot;1&quot; &lt;in&gt; "
                    "BASE?</error>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    free(text);
    text = fail_as(COMPARE_JUNIT, EXIT_CODE_DATA, "no such file");
    must_hold(text, "<error message=\"UNREADABLE\" type=\"UNREADABLE\">no such file</error>");
    free(text);
    text = fail_as(COMPARE_MARKDOWN, EXIT_CODE_INCOMPARABLE, "driver");
    assert_string_equal(text, "### cudal2-bench compare: driver\n\n- BASE: a&amp;b.json\n- NEW: n\\\\xffw.json\n");
    free(text);
    assert_null(fail_as(COMPARE_TEXT, EXIT_CODE_INCOMPARABLE, "driver"));
}

static void json_says_why_there_is_none(void **state)
{
    cJSON *tree = NULL;
    struct error err = {0};
    (void)state;
    char *text = fail_as(COMPARE_JSON, EXIT_CODE_VERIFICATION, "1 wrong result");
    if (json_parse(text, strlen(text), 1 << 16, "json", &tree, &err))
        fail_msg("%s", err.text);
    must_hold(text, "\"outcome\": \"1 wrong result\",\n  \"exit_code\": 3,");
    must_hold(text, "\"rows\": []");
    cJSON_Delete(tree);
    free(text);
}

/* ---- names of files ---- */

static void forms_are_utf8(void **state)
{
    const char *base_path = scratch_path("base\xc3.jsonl"), *fresh_path = scratch_path("n\xffw.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    struct compare_runs c;
    struct error err = {0};
    (void)state;
    fixture_write(base_path, &(struct script){.seed = 1});
    fixture_write(fresh_path, &(struct script){.seed = 2, .slower = {0.05}});
    assert_int_equal(compare_open(&request, &c, &err), 0);
    for (int format = COMPARE_TEXT; format <= COMPARE_JUNIT; format++) {
        char *text = NULL;
        assert_int_equal(compare_print(&c, (enum compare_format)format, (struct compare_style){false, 0}, &text, &err),
                         0);
        if (format == COMPARE_TEXT)
            must_hold(text, "/n\\xffw.jsonl");
        must_be_utf8(text);
        free(text);
    }
    compare_free(&c);
}

/* ---- what NEW lacks ---- */

static void lose_mine(struct cell_record *r, const char *status, const char *stage)
{
    struct contender_record *mine = &r->contenders[2];
    strcpy(mine->name, "mine");
    strcpy(mine->stage, stage);
    mine->has_layout_suffix = false;
    fixture_fail(mine, status, "mine.so: cannot be opened");
    fixture_fail(fixture_contender(r, "alpha", true), "unavailable", "not built");
}

/* Of both runs, so that it is no reason for what one of them lacks. */
static void lack_alpha(struct cell_record *r, int cell)
{
    (void)cell;
    fixture_fail(fixture_contender(r, "alpha", true), "unavailable", "not built");
}

static void drop_last(struct cell_record *r)
{
    struct contender_record *last = &r->contenders[--r->n_contenders];
    for (int timing = 0; timing < TIMING_COUNT; timing++)
        series_free(&last->timings[timing]);
}

static void fail_to_load(struct cell_record *r, int cell)
{
    if (cell == 0)
        lose_mine(r, "unavailable", "probe");
    else if (cell == 1)
        lose_mine(r, "crash", "load");
    else if (cell == 2) {
        while (r->n_contenders > 0)
            drop_last(r);
        r->outcome = CELL_FAILED;
        strcpy(r->reason, "worker lost 2 times");
    } else
        drop_last(r); /* and nothing says why */
}

static void a_missing_row_says_why(void **state)
{
    static const char *const reasons[][2] = {
        {"offline/f16-f32-64x64x64", "NEW has no such candidate here; mine: mine.so: cannot be opened"},
        {"offline/f16-f32-128x64x64", "NEW has no such candidate here; mine: mine.so: cannot be opened"},
        {"offline/f16-f32-256x64x64", "NEW has no such candidate here; failed: worker lost 2 times"},
        {"server/f16-f32-64x64x64", "NEW has no such candidate here"}};
    const char *base_path = scratch_path("base.jsonl"), *fresh_path = scratch_path("new.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path, .force = true};
    struct compare_runs c;
    struct error err = {0};
    (void)state;
    fixture_write(base_path, &(struct script){.seed = 1, .change = lack_alpha});
    fixture_write(fresh_path, &(struct script){.seed = 2, .change = fail_to_load});
    if (compare_open(&request, &c, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const struct compare_row *row = fixture_row(&c, reasons[i][0]);
        assert_int_equal(row->verdict, JUDGED_MISSING);
        assert_string_equal(row->reason, reasons[i][1]);
    }
    compare_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_says_why_there_is_none),
        cmocka_unit_test(json_says_why_there_is_none),
        cmocka_unit_test_setup_teardown(forms_are_utf8, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(a_missing_row_says_why, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
