/* compare/form_*: text, Markdown, JSON and JUnit of the same comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "compare/forms.h"
#include "compare_fixture.h"

static char directory[64], base_path[96], fresh_path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-forms-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(base_path, sizeof base_path, "%s/a&b.jsonl", directory);
    snprintf(fresh_path, sizeof fresh_path, "%s/new.jsonl", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(base_path);
    unlink(fresh_path);
    return rmdir(directory);
}

/* One of each: SLOWER, FASTER, INVALID with a reason that XML and Markdown must escape, SAME. */
static void mark_reason(struct cell_record *r, int cell)
{
    if (cell == 2)
        strcpy(r->contenders[2].reason, "saw <a> & \"b\" | c\x01");
}

static void open_pair(struct compare_runs *out)
{
    struct error err = {0};
    struct script base = {.seed = 1};
    struct script fresh = {
        .seed = 2, .slower = {0.05, -0.1, 0, 0}, .status = {NULL, NULL, "crash"}, .change = mark_reason};
    struct compare_request r = {.base = base_path, .fresh = fresh_path};
    fixture_write(base_path, &base);
    fixture_write(fresh_path, &fresh);
    if (compare_open(&r, out, &err))
        fail_msg("%s", err.text);
}

static char *print(enum compare_format format)
{
    struct compare_runs c;
    struct error err = {0};
    char *text = NULL;
    open_pair(&c);
    if (compare_print(&c, format, (struct compare_style){false, 0}, &text, &err))
        fail_msg("%s", err.text);
    compare_free(&c);
    return text;
}

static void must_hold(const char *text, const char *words)
{
    assert_non_null(text);
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
}

static size_t count(const char *text, const char *words)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, words)); at += strlen(words))
        n++;
    return n;
}

static void text_form(void **state)
{
    (void)state;
    char *text = print(COMPARE_TEXT);
    must_hold(text, "(commit 0123456789ab, 2026-01-02T03:04:05Z, H)");
    must_hold(text, "A slowdown counts above 2% offline, 5% server\n");
    must_hold(text, "\nBASE, NEW: the candidate's median time;");
    must_hold(text, " µs ");
    assert_null(strstr(text, "other code"));
    assert_null(strstr(text, "too noisy")); /* 8 groups of 0.2% see 2% */
    must_hold(text, "4 results compared (a candidate in a cell): 1 SAME, 1 FASTER, 1 SLOWER, 1 INVALID\n");
    must_hold(text, "note: 1 looks slower: compare --confirm measures again, and decides\n");
    must_hold(text, "1 regression; the worst: mine-nn in offline/f16-f32-64x64x64, -4.");
    const char *slower = strstr(text, "\nSLOWER ");
    const char *invalid = strstr(text, "\nINVALID ");
    const char *faster = strstr(text, "\nFASTER ");
    assert_true(slower && invalid && faster && slower < invalid && invalid < faster);
    assert_null(strchr(text, '\033'));
    free(text);
}

/* The caller frees the comparison. */
static void open_two(const struct script *base, const struct script *fresh, struct compare_runs *out)
{
    struct error err = {0};
    struct compare_request r = {.base = base_path, .fresh = fresh_path};
    fixture_write(base_path, base);
    fixture_write(fresh_path, fresh);
    assert_int_equal(compare_open(&r, out, &err), 0);
}

static void other_code_is_named(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct script base = {.seed = 1, .digest = "aa"};
    struct script fresh = {.seed = 2, .digest = "bb"};
    char *text = NULL;
    (void)state;
    open_two(&base, &fresh, &c);
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 0}, &text, &err), 0);
    must_hold(text, "note: NEW has other code than BASE: mine\n");
    free(text);
    assert_int_equal(compare_print(&c, COMPARE_MARKDOWN, (struct compare_style){false, 0}, &text, &err), 0);
    must_hold(text, "- NEW has other code than BASE: mine\n");
    free(text);
    compare_free(&c);
}

/* Losses of 8% that this noise hides: SAME stands, and says how little it says. */
static void blunt_same_is_told(void **state)
{
    struct compare_runs c;
    struct error err = {0};
    struct script base = {.seed = 1, .noise = 0.1};
    struct script fresh = {.seed = 2, .noise = 0.1};
    char *text = NULL;
    (void)state;
    open_two(&base, &fresh, &c);
    assert_int_equal(c.counts[JUDGED_SAME], 4);
    for (size_t i = 0; i < c.n_rows; i++)
        assert_true(compare_resolution(&c.rows[i]) > 0.05 && compare_resolution(&c.rows[i]) < 0.3);
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 0}, &text, &err), 0);
    assert_int_equal(count(text, "would not show a slowdown below "), 4);
    must_hold(text, "note: 4 of 4 results were too noisy to detect a slowdown smaller than ");
    must_hold(text, "no regression\n");
    free(text);
    assert_int_equal(compare_print(&c, COMPARE_JSON, (struct compare_style){false, 0}, &text, &err), 0);
    assert_int_equal(count(text, "\"resolution\": 0."), 4);
    free(text);
    compare_free(&c);
}

/* What a terminal of so many columns is shown, of rows of one mode. */
static char *print_in(unsigned columns)
{
    struct compare_runs c;
    struct error err = {0};
    char *text = NULL;
    open_pair(&c);
    for (size_t i = 0; i < c.n_rows; i++)
        if (strncmp(c.rows[i].key, "server", 6) == 0)
            strcpy(c.rows[i].key, "offline/f16-f32-512x64x64");
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, columns}, &text, &err), 0);
    compare_free(&c);
    return text;
}

/* Width of the table's longest row: the rule below its head has it. */
static size_t table_width(const char *text)
{
    return count(text, "─");
}

/* At any width every row keeps verdict, change, shape, candidate and both times, and nothing that is told is lost. */
static void a_narrow_terminal_has_what_matters(void **state)
{
    (void)state;
    char *whole = print_in(0);
    size_t widest = table_width(whole);
    assert_true(widest > 120);
    must_hold(whole, "  p  ");
    for (unsigned columns = (unsigned)widest; columns >= 60; columns -= 5) {
        char *text = print_in(columns);
        if (table_width(text) > columns)
            fail_msg("%zu columns of %u:\n%s", table_width(text), columns, text);
        assert_int_equal(count(text, "\nSLOWER ") + count(text, "\nFASTER ") + count(text, "\nINVALID ") +
                             count(text, "\nSAME "),
                         4);
        assert_int_equal(count(text, " µs"), count(whole, " µs"));
        must_hold(text, "64x64x64");
        must_hold(text, "saw <a> & \"b\"");
        free(text);
    }
    free(whole);
    char *text = print_in(70);
    must_hold(text, "\noffline/f16-f32\n"); /* once above the table, and whole where a remark names its cell */
    must_hold(text, "\noffline/f16-f32-");
    assert_null(strstr(text, "  p  "));
    free(text);
}

static void markdown_form(void **state)
{
    (void)state;
    char *text = print(COMPARE_MARKDOWN);
    must_hold(text, "### cudal2-bench compare: 1 regression; the worst: mine-nn in");
    must_hold(text,
              "| SAME | FASTER | SLOWER | AMBIGUOUS | MISSING | INVALID |\n|---:|---:|---:|---:|---:|---:|\n| 1 | 1 | "
              "1 | 0 | 0 | 1 |\n");
    must_hold(text, "**Largest changes** (3 of 3)");
    must_hold(text, "**Without figures** (1 of 1)");
    assert_true(strstr(text, "| FASTER |") < strstr(text, "| SLOWER | -4.")); /* by size: 11% before 5% */
    must_hold(text, "\\| c");
    free(text);
}

/* Rows 0x1x1, 1x1x1, ... all as this one, in place of the pair's. */
static void put_rows(struct compare_runs *c, const struct compare_row *like, int n)
{
    struct compare_row *rows = calloc((size_t)n, sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < n; i++) {
        rows[i] = *like;
        snprintf(rows[i].key, sizeof rows[i].key, "offline/f16-f32-%dx1x1", i);
        rows[i].trial.change = 0.0001 * i;
    }
    memset(c->counts, 0, sizeof c->counts);
    c->counts[like->verdict] = (size_t)n;
    free(c->rows);
    c->rows = rows;
    c->n_rows = (size_t)n;
}

/* 60 rows: the text shows 40 and counts the rest, Markdown the 20 largest. */
static void long_comparison_is_cut(void **state)
{
    struct compare_runs c;
    struct compare_row like = {.tested = false};
    struct error err = {0};
    char *text = NULL;
    (void)state;
    open_pair(&c);
    for (size_t j = 0; j < c.n_rows; j++)
        if (c.rows[j].verdict == JUDGED_SAME)
            like = c.rows[j];
    put_rows(&c, &like, 60);
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 0}, &text, &err), 0);
    assert_int_equal(count(text, "offline/f16-f32-"), 40);
    must_hold(text, "and 20 more that are the SAME\n");
    free(text);
    assert_int_equal(compare_print(&c, COMPARE_MARKDOWN, (struct compare_style){false, 0}, &text, &err), 0);
    assert_int_equal(count(text, "offline/f16-f32-"), 20);
    must_hold(text, "**Largest changes** (20 of 60)");
    assert_true(strstr(text, "-59x1x1") < strstr(text, "-58x1x1"));
    assert_null(strstr(text, "-39x1x1"));
    free(text);
    compare_free(&c);
}

/* A run that was cut off lacks many cells, for one reason: ten rows, and the reason once. */
static void what_is_missing_is_summed_up(void **state)
{
    struct compare_runs c;
    struct compare_row like = {.verdict = JUDGED_MISSING};
    struct error err = {0};
    char *text = NULL;
    (void)state;
    snprintf(like.candidate, sizeof like.candidate, "mine-nn");
    snprintf(like.reason, sizeof like.reason, "NEW has not measured this cell");
    open_pair(&c);
    put_rows(&c, &like, 60);
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 60}, &text, &err), 0);
    assert_int_equal(count(text, "\nMISSING "), 10);
    assert_int_equal(count(text, "NEW has not measured this cell"), 1);
    must_hold(text, "\noffline/f16-f32-0x1x1 mine-nn and 59 more: NEW has not measured this cell\n");
    must_hold(text, "\nand 50 more that are MISSING\n");
    free(text);
    snprintf(c.rows[7].reason, sizeof c.rows[7].reason, "another reason");
    assert_int_equal(compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 60}, &text, &err), 0);
    must_hold(text, "mine-nn and 58 more: NEW has");
    must_hold(text, "\noffline/f16-f32-7x1x1 mine-nn: another reason\n");
    free(text);
    compare_free(&c);
}

static const cJSON *member(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!found)
        fail_msg("no member %s", key);
    return found;
}

static void json_form(void **state)
{
    struct error err = {0};
    cJSON *tree = NULL;
    (void)state;
    char *text = print(COMPARE_JSON);
    assert_int_equal(json_parse(text, strlen(text), 1 << 20, "json", &tree, &err), 0);
    assert_string_equal(member(tree, "schema")->valuestring, COMPARE_SCHEMA);
    assert_int_equal(member(tree, "exit_code")->valuedouble, EXIT_CODE_REGRESSION);
    assert_int_equal(member(member(tree, "counts"), "INVALID")->valuedouble, 1);
    assert_int_equal(member(tree, "family")->valuedouble, 3);
    assert_true(cJSON_IsNull(member(member(tree, "aa_scatter"), "offline")));
    const cJSON *rows = member(tree, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    const cJSON *worst = rows->child;
    assert_string_equal(member(worst, "verdict")->valuestring, "SLOWER");
    assert_string_equal(member(worst, "reference")->valuestring, "torch.matmul");
    assert_true(fabs(member(worst, "change")->valuedouble + 0.0476) < 0.004);
    assert_true(member(worst, "p_slower")->valuedouble < 1e-3);
    assert_true(member(worst, "new_ns")->valuedouble > member(worst, "base_ns")->valuedouble);
    assert_true(member(worst, "base_ns")->valuedouble > 0);
    assert_int_equal(member(worst, "new_groups")->valuedouble, 8);
    assert_null(cJSON_GetObjectItemCaseSensitive(worst->next, "change")); /* INVALID has no figure */
    must_hold(member(worst->next, "reason")->valuestring, "saw <a> & \"b\" | c");
    cJSON_Delete(tree);
    free(text);
}

/* Elements open and close in order, and no '<' or '&' stands bare: what a parser would insist on. */
static void check_well_formed(const char *xml)
{
    char open[16][32];
    int depth = 0;
    const char *at = strstr(xml, "?>");
    assert_non_null(at);
    for (at += 2; *at; at++) {
        if (*at == '&')
            assert_true(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                        strncmp(at, "&quot;", 6) == 0);
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
        if (*at != '<')
            continue;
        const char *end = strchr(at, '>');
        assert_non_null(end);
        char name[32];
        assert_int_equal(sscanf(at + 1 + (at[1] == '/'), "%31[a-z]", name), 1);
        if (at[1] == '/')
            assert_string_equal(open[--depth], name);
        else if (end[-1] != '/')
            strcpy(open[depth++], name);
        at = end;
    }
    assert_int_equal(depth, 0);
}

static void junit_form(void **state)
{
    (void)state;
    char *text = print(COMPARE_JUNIT);
    check_well_formed(text);
    must_hold(text, "<testsuites name=\"cudal2-bench compare\" tests=\"4\" failures=\"1\" errors=\"1\">");
    must_hold(text, "<testsuite name=\"offline vs torch.matmul\"");
    must_hold(text, "<testsuite name=\"server vs torch.matmul\"");
    must_hold(text, "<testcase classname=\"mine-nn\" name=\"offline/f16-f32-64x64x64\">\n      <failure "
                    "message=\"SLOWER\" type=\"SLOWER\">mine-nn: -4.");
    must_hold(text,
              "<error message=\"INVALID\" type=\"INVALID\">crash: saw &lt;a&gt; &amp; &quot;b&quot; | c\\x01</error>");
    must_hold(text, "<testcase classname=\"mine-nn\" name=\"server/f16-f32-64x64x64\"/>");
    assert_int_equal(count(text, "<testcase"), 4);
    free(text);
}

static char *print_copies(bool aa, double slower, double delta)
{
    struct compare_runs c;
    struct error err = {0};
    struct script base = {.seed = 1, .aa = aa}, fresh = {.seed = 2, .aa = aa, .slower = {slower}};
    struct compare_request r = {.base = base_path, .fresh = fresh_path, .delta = delta};
    char *text = NULL;
    fixture_write(base_path, &base);
    fixture_write(fresh_path, &fresh);
    if (compare_open(&r, &c, &err) || compare_print(&c, COMPARE_TEXT, (struct compare_style){false, 0}, &text, &err))
        fail_msg("%s", err.text);
    compare_free(&c);
    return text;
}

/* Copies 4% off make delta 11%: a loss of 5% is the SAME, and the note says why. */
static void a_raised_delta_is_told(void **state)
{
    (void)state;
    char *text = print_copies(true, 0.05, 0);
    must_hold(text, "\nSAME ");
    must_hold(
        text,
        "note: offline: only slowdowns above 11% count, not the usual 2%, because copies of one kernel differed by "
        "4% in these runs (--aa)");
    must_hold(text, "note: server: only slowdowns above 11% count, not the usual 5%, ");
    free(text);
    text = print_copies(false, 0.05, 0);
    assert_null(strstr(text, "not the usual"));
    free(text);
    text = print_copies(true, 0.05, 0.11); /* asked for */
    assert_null(strstr(text, "not the usual"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_form),
        cmocka_unit_test(other_code_is_named),
        cmocka_unit_test(a_narrow_terminal_has_what_matters),
        cmocka_unit_test(markdown_form),
        cmocka_unit_test(long_comparison_is_cut),
        cmocka_unit_test(what_is_missing_is_summed_up),
        cmocka_unit_test(json_form),
        cmocka_unit_test(junit_form),
        cmocka_unit_test(blunt_same_is_told),
        cmocka_unit_test(a_raised_delta_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
