/* report/outcome: where few shapes reached the wanted precision, no format of the tables shows a mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/outcome.h"
#include "report/report.h"
#include "result_fixture.h"

/* A journal of so many cells of which so many converged. */
static void write_cells(unsigned converged, unsigned cells, enum mode mode)
{
    struct journal *j = begin();
    for (unsigned i = 0; i < cells; i++) {
        struct cell_record *r = simple_cell_in(mode, 64 + 64 * (int64_t)i);
        r->converged = i < converged;
        put_cell(j, r);
    }
    journal_close(j);
}

/* What report prints of that journal; the caller frees it. */
static char *printed(enum report_format format, int table)
{
    const char *const results[] = {journal_path};
    struct report_request request = {.results = results, .n_results = 1, .format = format, .table = table};
    struct error err = {0};
    char *text = NULL;
    size_t length = 0;
    request.stream = open_memstream(&text, &length);
    assert_non_null(request.stream);
    if (report_main_from(&request, &err))
        fail_msg("%s", err.text);
    fclose(request.stream);
    return text;
}

static void must_print(enum report_format format, int table, const char *wanted)
{
    char *text = printed(format, table);
    if (!strstr(text, wanted))
        fail_msg("\"%s\" is not in:\n%s", wanted, text);
    free(text);
}

/* Every table of means says what they leave out. */
static void tables_say_what_is_left_out(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    put_cell(j, declined_cell(128));
    put_cell(j, declined_cell(256));
    journal_close(j);
    must_print(REPORT_JSON, 1, "\"offline_left_out\": 2");
    must_print(REPORT_JSON, 1, "\"offline_geomean_of_all\": 0.047");
    must_print(REPORT_MARKDOWN, 1, "| offline left out | offline of all |");
    must_print(REPORT_MARKDOWN, 5, "; 2 of 3 shapes left out, without a result");
    for (int table = 1; table <= 3; table++)
        must_print(REPORT_MARKDOWN, table,
                   "offline: 2 of 3 shapes left out, without a result; with those as 1x over "
                   "torch.matmul +4.7");
}

/* ---- the rule ---- */

static void half_of_the_shapes_are_enough(void **state)
{
    static const struct {
        struct outcome outcome;
        bool mean;
        const char *words;
    } table[] = {
        {{0, 0}, true, ""}, /* published: not known */
        {{2, 2}, true, ""},
        {{2, 1}, true, "1 of 2 shapes reached the wanted precision"},
        {{3, 1}, false, "1 of 3 shapes reached the wanted precision: no mean of so few"},
        {{8, 0}, false, "no shape reached the wanted precision: no mean, and the rest is a hint at best"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char words[128];
        outcome_say(table[i].outcome, words, sizeof words);
        assert_string_equal(words, table[i].words);
        assert_int_equal(outcome_allows_mean(table[i].outcome), table[i].mean);
    }
}

/* ---- every format ---- */

#define SO_FEW "1 of 3 shapes reached the wanted precision: no mean of so few"

static void no_format_has_a_mean_of_noise(void **state)
{
    (void)state;
    write_cells(1, 3, MODE_OFFLINE);
    must_print(REPORT_MARKDOWN, 1, "| torch.matmul | +14.89% | 3/3 | +14.89% | 0 | 1 | 3 |\n");
    must_print(REPORT_MARKDOWN, 1, "\n\noffline: " SO_FEW "; trimmed: ");
    must_print(REPORT_MARKDOWN, 2, "| torch.matmul | 1 | 3 |\n\noffline: " SO_FEW "\n");
    must_print(REPORT_MARKDOWN, 3, "| +14.89% | 1/1 | 1 |\n");
    must_print(REPORT_MARKDOWN, 3, "| +14.89% | 2/2 | 0 |\n\noffline: " SO_FEW "\n");
    must_print(REPORT_TEXT, 1, "\noffline: " SO_FEW ";");
    must_print(REPORT_LATEX, 1, "torch.matmul & +14.89 & 3/3 & +14.89 & ");
    must_print(REPORT_LATEX, 2, "\\end{tabular}\n\\par\\smallskip offline: " SO_FEW "\n\\end{table}");
}

static void machines_get_nothing_and_the_counts(void **state)
{
    (void)state;
    write_cells(1, 3, MODE_SERVER);
    must_print(REPORT_CSV, 1, ",offline_converged,offline_measured,server_converged,server_measured,");
    must_print(REPORT_CSV, 1, ",torch.matmul,,,,,,,,,,,,0.14891");
    must_print(REPORT_CSV, 1, ",0,0,0.14891,,,1,3,cudal2-max,");
    must_print(REPORT_CSV, 2, ",torch.matmul,,,,,1,3,");
    must_print(REPORT_JSON, 1, "\"server_mean\": null");
    must_print(REPORT_JSON, 1, "\"server_converged\": 1");
    must_print(REPORT_JSON, 1, "\"note\": \"server: " SO_FEW ";");
    must_print(REPORT_JSON, 2, "\"server_mean_of_max\": null");
    must_print(REPORT_JSON, 3, "\"mean\": null");
}

static void precise_shapes_have_a_mean_and_no_note(void **state)
{
    static const enum report_format formats[] = {REPORT_TEXT, REPORT_MARKDOWN, REPORT_LATEX};
    (void)state;
    write_cells(2, 3, MODE_OFFLINE);
    must_print(REPORT_MARKDOWN, 1, "| torch.matmul | +14.89% | 3/3 | +14.89% | +15.0");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (int table = 1; table <= 3; table++) {
            char *text = printed(formats[i], table);
            assert_null(strstr(text, "precision"));
            assert_null(strstr(text, "converged"));
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(half_of_the_shapes_are_enough), TEST(no_format_has_a_mean_of_noise),
                                       TEST(machines_get_nothing_and_the_counts), TEST(tables_say_what_is_left_out),
                                       TEST(precise_shapes_have_a_mean_and_no_note)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
