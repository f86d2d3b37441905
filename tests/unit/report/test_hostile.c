/* Words from outside that would fool a terminal, a spreadsheet, LaTeX, Markdown, HTML, XML or a reader, through every
 * format of report and compare: each is checked by rules of its own reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "compare/forms.h"
#include "journal_fixture.h"
#include "report/load.h"
#include "report/report.h"
#include "report/screen.h"
#include "result/make.h"
#include "base/tree.h"
#include "scratch_fixture.h"

/* One of each kind; a name in a record has 63 bytes. */
#define EVIL                                                                                                           \
    "\x1b[31m\n\t\xc2\x9b"                                                                                             \
    "2J\xe2\x80\xae\xe2\x80\xa8|<b>\\input{x}&$#_%~^[*](h://y)`\"',"

/* Names and values of these members tell the program what a thing is; every other word is the outside's. */
static bool is_ours(const char *key)
{
    static const char *const keys[] = {"schema", "status", "mode",      "headline", "timing",    "role",
                                       "family", "layout", "copy_of",   "rung",     "candidate", "reference",
                                       "key",    "cache",  "contender", "kind"};
    for (size_t i = 0; key && i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void spoil(cJSON *node)
{
    for (; node; node = node->next) {
        char worse[512];
        if (cJSON_IsString(node) && !is_ours(node->string)) {
            snprintf(worse, sizeof worse, "=%s%s", node->valuestring, EVIL);
            cJSON_SetValuestring(node, worse);
        }
        spoil(node->child);
    }
}

/* ---- a run of one cell ---- */

static struct cell_record *record_of(bool hostile, int64_t m)
{
    const char *const names[] = {hostile ? "=torch" EVIL : "torchy", hostile ? "@lt" EVIL : "lt",
                                 hostile ? "+me" EVIL : "mine"};
    struct cell_record *r = fixture_record(m, MODE_OFFLINE);
    fixture_contender(r, names[0], false);
    fixture_contender(r, names[1], false);
    fixture_contender(r, names[2], true);
    fixture_fail(fixture_contender(r, hostile ? "gone" EVIL : "gone", true), "unavailable",
                 hostile ? EVIL : "not here");
    strcpy(r->label, hostile ? "-2+3" EVIL : "a label");
    for (int b = 0; b < 16; b++) {
        unsigned block = fixture_block(r, 2);
        for (size_t c = 0; c < 3; c++)
            series_add(&r->contenders[c].timings[TIMING_DEVICE], block, 4000 + 100 * (double)c);
    }
    r->converged = true;
    return r;
}

static void write_run(const char *path, bool hostile)
{
    remove(path);
    struct journal *j = new_journal(path);
    cJSON *run =
        cJSON_Parse("{\"started\":\"2026\",\"seed\":\"1\",\"build\":{\"commit\":\"abc\"},\"config_path\":\"c\","
                    "\"config\":{\"dtype\":\"f16\",\"modes\":[\"offline\"]},\"plan\":[]}");
    cJSON *env = cJSON_Parse("{\"device\":{\"name\":\"G\",\"driver\":\"1\"},\"libraries\":{\"lt\":{\"lt\":\"13\"}}}");
    if (hostile) {
        spoil(run->child);
        spoil(env->child);
    }
    put_tree(j, "run", run);
    put_tree(j, "env", env);
    put_cell(j, record_of(hostile, 64));
    put_cell(j, record_of(hostile, 128));
    put_tree(j, "end", cJSON_CreateObject());
    journal_close(j);
}

/* ---- what holds for every format ---- */

static bool is_dangerous(uint32_t code)
{
    return (code < 0x20 && code != '\n') || (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void must_be_harmless(const char *what, const char *text)
{
    assert_non_null(text);
    for (size_t left = strlen(text), length; left > 0; text += length, left -= length) {
        uint32_t code = utf8_code(text, left, &length);
        if (length == 0 || is_dangerous(code))
            fail_msg("%s: U+%04x in \"%.40s\"", what, (unsigned)code, text);
    }
}

static size_t count(const char *text, const char *words)
{
    size_t n = 0;
    while ((text = strstr(text, words))) {
        n++;
        text += strlen(words);
    }
    return n;
}

/* ---- by format ---- */

/* Fields of one line of CSV; each is checked for what a spreadsheet would run. */
static size_t count_fields(const char *line)
{
    size_t n = 1;
    bool quoted = false;
    for (const char *c = line; *c; c++) {
        bool begins = c == line || (!quoted && c[-1] == ',');
        const char *first = begins && *c == '"' ? c + 1 : c;
        if (begins && strchr("=+-@\t", *first) && *first && !isdigit((unsigned char)first[1]) && first[1] != '.')
            fail_msg("a formula: %.60s", c);
        quoted ^= *c == '"';
        n += *c == ',' && !quoted;
    }
    assert_false(quoted);
    return n;
}

static void check_csv(char *text)
{
    size_t wanted = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        size_t n = line[0] ? count_fields(line) : 0;
        if (n && wanted && n != wanted)
            fail_msg("%zu fields instead of %zu: %s", n, wanted, line);
        wanted = n;
    }
}

static size_t count_unescaped(const char *text, char wanted)
{
    size_t n = 0;
    for (const char *c = text; *c; c++) {
        if (*c == '\\')
            c++;
        else
            n += *c == wanted;
        if (!*c)
            break;
    }
    return n;
}

static size_t count_links(const char *line)
{
    size_t n = 0;
    for (const char *at = line; (at = strstr(at, "](")); at++)
        n += at == line || at[-1] != '\\';
    return n;
}

static void check_markdown(char *text)
{
    size_t wanted = 0;
    assert_null(strstr(text, "://"));
    for (char *line; (line = strsep(&text, "\n"));) {
        size_t bars = line[0] == '|' ? count_unescaped(line, '|') : 0;
        if (bars && wanted && bars != wanted)
            fail_msg("%zu bars instead of %zu: %s", bars, wanted, line);
        wanted = bars;
        if (count_unescaped(line, '<') + count_unescaped(line, '`') + count_links(line))
            fail_msg("markup: %s", line);
    }
}

/* Commands that the printer itself writes, and the names of specials. */
static bool is_allowed_command(const char *name, size_t length)
{
    static const char *const names[] = {
        "usepackage",     "shortstack", "smallskip",    "begin",      "end",          "caption",
        "label",          "toprule",    "midrule",      "bottomrule", "par",          "textbackslash",
        "textasciitilde", "textless",   "textgreater",  "textbar",    "textquotedbl", "textasciicircum",
        "textasciigrave", "centering",  "footnotesize", "setlength",  "tabcolsep",    "pm",
        "small",          "scriptsize", "mu",           "times",      "cmidrule",     "multicolumn"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
            return true;
    return false;
}

static void check_latex(const char *text)
{
    for (const char *c = strchr(text, '\\'); c; c = strchr(c, '\\')) {
        size_t length = strspn(c + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length > 0 ? !is_allowed_command(c + 1, length) : !strchr("\\&%$#_{}", c[1]))
            fail_msg("a command: %.30s", c);
        c += length > 0 ? length : 2;
    }
    assert_int_equal(count_unescaped(text, '$') % 2, 0);
    assert_int_equal(count_unescaped(text, '{'), count_unescaped(text, '}'));
    assert_int_equal(count_unescaped(text, '#') + count_unescaped(text, '~') + count_unescaped(text, '^'), 0);
}

/* NAME{label="value",...} NUMBER */
static void check_prometheus(char *text)
{
    for (char *line; (line = strsep(&text, "\n")) && line[0];) {
        if (line[0] == '#')
            continue;
        char *at = line + strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789_");
        assert_int_equal(*at, '{');
        for (at++; *at != '}'; at += *at == ',') {
            at += strspn(at, "abcdefghijklmnopqrstuvwxyz_");
            if (strncmp(at, "=\"", 2) != 0)
                fail_msg("no label: %s", line);
            for (at += 2; *at && *at != '"'; at++)
                at += *at == '\\';
            assert_int_equal(*at++, '"');
        }
        char *end = NULL;
        strtod(at + 1, &end);
        assert_true(end > at + 1 && *end == '\0');
    }
}

static void check_json(const char *text)
{
    cJSON *tree = NULL;
    struct error err = {0};
    if (json_parse(text, strlen(text), 1 << 24, "json", &tree, &err))
        fail_msg("%s", err.text);
    cJSON_Delete(tree);
}

static void check(enum report_format format, char *text)
{
    switch (format) {
    case REPORT_CSV:
    case REPORT_MEDIANS:
        check_csv(text);
        break;
    case REPORT_MARKDOWN:
        check_markdown(text);
        break;
    case REPORT_LATEX:
        check_latex(text);
        break;
    case REPORT_PROMETHEUS:
        check_prometheus(text);
        break;
    case REPORT_JSON:
    case REPORT_BENCHER:
    case REPORT_GOOGLE:
    case REPORT_RESULT:
        check_json(text);
        break;
    default:
        break;
    }
}

/* ---- report ---- */

static char *report_as(enum report_format format, const char *path)
{
    const char *const paths[] = {path};
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    struct report_request request = {.results = paths, .n_results = 1, .format = format};
    request.stream = open_memstream(&text, &length);
    assert_non_null(request.stream);
    if (report_main_from(&request, &err))
        fail_msg("%s: %s", report_format_names[format], err.text);
    fclose(request.stream);
    return text;
}

static void every_format_of_report_is_harmless(void **state)
{
    (void)state;
    for (int f = 0; report_format_names[f]; f++) {
        const char *path = scratch_path("run.jsonl");
        if (f == REPORT_FIGURES || f == REPORT_GITHUB)
            continue; /* several files: the same printers of CSV and JSON */
        write_run(path, false);
        char *honest = report_as((enum report_format)f, path);
        write_run(path, true);
        char *text = report_as((enum report_format)f, path);
        must_be_harmless(report_format_names[f], text);
        /* Nothing of it begins a line, a tag or a script. */
        assert_int_equal(count(text, "\n"), count(honest, "\n"));
        if (f == REPORT_HTML)
            assert_int_equal(count(text, "<"), count(honest, "<"));
        check((enum report_format)f, text);
        free(text);
        free(honest);
    }
}

static char *screen_of(const char *path)
{
    const struct load_request request = {&path, 1, false, NULL, false};
    const struct screen_options options = {.columns = 0};
    struct error err = {0};
    struct result *result = NULL;
    char *text = NULL;
    assert_int_equal(load_results(&request, &result, &err), 0);
    assert_int_equal(screen_report(result, &options, &text, &err), 0);
    result_free(result);
    return text;
}

static void the_screen_is_harmless(void **state)
{
    const char *path = scratch_path("run.jsonl");
    (void)state;
    write_run(path, false);
    char *honest = screen_of(path);
    write_run(path, true);
    char *text = screen_of(path);
    must_be_harmless("screen", text);
    assert_int_equal(count(text, "\n"), count(honest, "\n"));
    assert_non_null(strstr(text, "\\x1b[31m\\x0a\\x09\\u009b2J\\u202e\\u2028|<b>"));
    free(text);
    free(honest);
}

/* A result has its number format in words. */
static void a_number_format_of_a_result_is_a_word_too(void **state)
{
    const char *path = scratch_path("run.jsonl"), *result_path = scratch_path("r.json");
    struct error err = {0};
    cJSON *result = NULL;
    (void)state;
    write_run(path, true);
    assert_int_equal(result_json_from_journal(path, &result, &err), 0);
    spoil(result->child);
    char *printed = result_print(result);
    assert_int_equal(file_write_atomic(result_path, printed, strlen(printed), &err), 0);
    assert_non_null(strstr(printed, "\"dtype\":\"=f16\\u001b[31m"));
    remove(path);
    for (int f = 0; report_format_names[f]; f++) {
        if (f == REPORT_FIGURES || f == REPORT_GITHUB || f == REPORT_MEDIANS)
            continue;
        char *text = report_as((enum report_format)f, result_path);
        must_be_harmless(report_format_names[f], text);
        check((enum report_format)f, text);
        free(text);
    }
    free(printed);
    cJSON_Delete(result);
}

/* ---- compare ---- */

static char *compare_as(enum compare_format format, const char *base, const char *fresh)
{
    const struct compare_request request = {.base = base, .fresh = fresh};
    struct compare_runs c;
    struct error err = {0};
    char *text = NULL;
    if (compare_open(&request, &c, &err) || compare_print(&c, format, (struct compare_style){false, 0}, &text, &err))
        fail_msg("%s", err.text);
    compare_free(&c);
    return text;
}

static void check_xml(const char *text, const char *honest)
{
    assert_int_equal(count(text, "<"), count(honest, "<"));
    assert_int_equal(count(text, "\""), count(honest, "\""));
}

static void every_format_of_compare_is_harmless(void **state)
{
    const char *base = scratch_path("b\x1b[31m.jsonl"), *fresh = scratch_path("n\xff\n<a>.jsonl");
    (void)state;
    for (int f = COMPARE_TEXT; f <= COMPARE_HTML; f++) {
        write_run(base, false);
        write_run(fresh, false);
        char *honest = compare_as((enum compare_format)f, base, fresh);
        write_run(base, true);
        write_run(fresh, true);
        char *text = compare_as((enum compare_format)f, base, fresh);
        must_be_harmless(compare_format_names[f], text);
        assert_int_equal(count(text, "\n"), count(honest, "\n"));
        if (f == COMPARE_HTML)
            assert_int_equal(count(text, "<"), count(honest, "<"));
        else if (f == COMPARE_JUNIT)
            check_xml(text, honest);
        else if (f == COMPARE_JSON)
            check_json(text);
        else if (f == COMPARE_MARKDOWN)
            check_markdown(text);
        free(text);
        free(honest);
    }
}

/* ---- the parts ---- */

static void plain_words(void **state)
{
    static const char *const cases[][2] = {
        {"torch.matmul", "torch.matmul"},
        {"caf\xc3\xa9 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac",
         "caf\xc3\xa9 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac"},
        {"a\x1b[0m\x7f\r", "a\\x1b[0m\\x7f\\x0d"},
        {"\xc2\x85\xe2\x80\xa9\xe2\x81\xa6", "\\u0085\\u2029\\u2066"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"},
        {"\xef\xbf\xbf", "\\uffff"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *once = plain_copy(cases[i][0]);
        assert_string_equal(once, cases[i][1]);
        assert_int_equal(plain_is(cases[i][0]), strcmp(cases[i][0], cases[i][1]) == 0);
        char *twice = plain_copy(once);
        assert_string_equal(twice, once);
        free(once);
        free(twice);
    }
}

static void a_terminal_gets_lines_and_colours(void **state)
{
    struct text text = {0};
    (void)state;
    text_add(&text, "\033[1mbold\033[0m\n\033[2J\033]0;title\007\033[31;1m\xc2\x9bm\r");
    plain_for_terminal(&text);
    assert_string_equal(text.bytes, "\033[1mbold\033[0m\n\\x1b[2J\\x1b]0;title\\x07\\x1b[31;1m\\u009bm\\x0d");
    text_free(&text);
}

static void an_error_is_one_line(void **state)
{
    struct error err = {0};
    (void)state;
    error_set(&err, EXIT_CODE_DATA, "%s", "a\x1b[2J\n\xc2\x9b\xe2\x80\xae\xffz \xc3\xa9");
    assert_string_equal(err.text, "a?[2J????z \xc3\xa9");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_format_of_report_is_harmless),
        TEST(the_screen_is_harmless),
        TEST(a_number_format_of_a_result_is_a_word_too),
        TEST(every_format_of_compare_is_harmless),
        TEST(plain_words),
        TEST(a_terminal_gets_lines_and_colours),
        TEST(an_error_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
