/*
 * form_junit.c - a comparison as JUnit XML, a case for each row, told in the schema that Jenkins takes. Relies on
 * base/plain.h. Called through forms.h.
 */
#include "compare/forms.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/tree.h"

/* XML 1.0 has no place for control characters, escaped or not, nor for U+FFFE and U+FFFF: plain.h writes all of them
 * out. */
static void add_escaped(struct text *out, const char *words)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    char *plain = plain_copy(words);
    for (const char *c = plain; c && *c; c++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            entity = entities[i].character == *c ? entities[i].entity : entity;
        if (entity)
            text_add(out, "%s", entity);
        else
            text_add_bytes(out, c, 1);
    }
    out->failed |= !plain;
    free(plain);
}

static void add_attribute(struct text *out, const char *name, const char *value)
{
    text_add(out, " %s=\"", name);
    add_escaped(out, value);
    text_add(out, "\"");
}

static void add_body(struct text *out, const struct compare_row *row)
{
    char remark[sizeof row->reason];
    struct text body = {0};
    compare_remark(row, remark, sizeof remark);
    if (row->tested)
        text_add(&body,
                 "%s: %+.2f%% of its speed against %s in %s time: speedup %+.2f%% in BASE (%zu groups), %+.2f%% "
                 "in NEW (%zu groups), p = %.2g%s",
                 row->candidate, 100 * compare_change(row), row->reference, timing_names[row->timing],
                 100 * compare_speedup(row->trial.base), row->trial.base.n, 100 * compare_speedup(row->trial.fresh),
                 row->trial.fresh.n, compare_p(row), remark[0] ? "; " : "");
    text_add(&body, "%s", remark);
    add_escaped(out, body.bytes ? body.bytes : "");
    out->failed |= body.failed;
    text_free(&body);
}

static const char *element_of(enum judgement verdict)
{
    static const char *const elements[JUDGED_COUNT] = {
        [JUDGED_SLOWER] = "failure",
        [JUDGED_AMBIGUOUS] = "skipped",
        [JUDGED_MISSING] = "error",
        [JUDGED_INVALID] = "error",
    };
    return elements[verdict];
}

static void add_case(struct text *out, const struct compare_row *row)
{
    const char *element = element_of(row->verdict);
    text_add(out, "    <testcase");
    add_attribute(out, "classname", row->candidate);
    add_attribute(out, "name", row->key);
    if (!element) {
        text_add(out, "/>\n");
        return;
    }
    text_add(out, ">\n      <%s", element);
    add_attribute(out, "message", judgement_names[row->verdict]);
    if (row->verdict != JUDGED_AMBIGUOUS)
        add_attribute(out, "type", judgement_names[row->verdict]);
    text_add(out, ">");
    add_body(out, row);
    text_add(out, "</%s>\n    </testcase>\n", element);
}

/* ---- suites: rows of one mode and reference ---- */

static int by_suite(const void *a, const void *b)
{
    const struct compare_row *x = *(const struct compare_row *const *)a;
    const struct compare_row *y = *(const struct compare_row *const *)b;
    if (x->mode != y->mode)
        return x->mode < y->mode ? -1 : 1;
    int order = strcmp(x->reference, y->reference);
    return order ? order : (x > y) - (x < y);
}

static bool same_suite(const struct compare_row *x, const struct compare_row *y)
{
    return x->mode == y->mode && strcmp(x->reference, y->reference) == 0;
}

/* `skipped` belongs to a suite alone: Jenkins' schema (junit-10.xsd) refuses it on <testsuites>. */
static void add_totals(struct text *out, const size_t counts[JUDGED_COUNT], size_t n)
{
    text_add(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", n, counts[JUDGED_SLOWER],
             counts[JUDGED_MISSING] + counts[JUDGED_INVALID]);
}

static void add_suite_totals(struct text *out, const size_t counts[JUDGED_COUNT], size_t n)
{
    add_totals(out, counts, n);
    text_add(out, " skipped=\"%zu\">\n", counts[JUDGED_AMBIGUOUS]);
}

static void add_suite(struct text *out, const struct compare_runs *c, const struct compare_row *const *rows, size_t n)
{
    size_t counts[JUDGED_COUNT] = {0};
    struct text name = {0};
    for (size_t i = 0; i < n; i++)
        counts[rows[i]->verdict]++;
    if (rows[0]->reference[0])
        text_add(&name, "%s vs %s", mode_names[rows[0]->mode], rows[0]->reference);
    else
        text_add(&name, "%s, not compared", mode_names[rows[0]->mode]);
    text_add(out, "  <testsuite");
    add_attribute(out, "name", name.bytes ? name.bytes : "");
    add_attribute(out, "timestamp", c->fresh.run.started);
    add_suite_totals(out, counts, n);
    for (size_t i = 0; i < n; i++)
        add_case(out, rows[i]);
    text_add(out, "  </testsuite>\n");
    out->failed |= name.failed;
    text_free(&name);
}

static void add_head(struct text *out)
{
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cudal2-bench compare\"");
}

void compare_form_junit(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    (void)style;
    const struct compare_row **rows = malloc((c->n_rows + 1) * sizeof *rows);
    if (!rows) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < c->n_rows; i++)
        rows[i] = &c->rows[i];
    qsort(rows, c->n_rows, sizeof *rows, by_suite);
    add_head(out);
    add_totals(out, c->counts, c->n_rows);
    text_add(out, ">\n");
    for (size_t start = 0; start < c->n_rows;) {
        size_t end = start;
        while (end < c->n_rows && same_suite(rows[start], rows[end]))
            end++;
        add_suite(out, c, rows + start, end - start);
        start = end;
    }
    text_add(out, "</testsuites>\n");
    free(rows);
}

static const char *name_of_code(int code)
{
    switch (code) {
    case EXIT_CODE_INCOMPARABLE:
        return "INCOMPARABLE";
    case EXIT_CODE_VERIFICATION:
        return "WRONG_RESULT";
    case EXIT_CODE_DATA:
        return "UNREADABLE";
    default:
        return "FAILED";
    }
}

void compare_failure_junit(struct text *out, const struct compare_failure *failure)
{
    static const size_t one[JUDGED_COUNT] = {[JUDGED_INVALID] = 1};
    struct text runs = {0};
    text_add(&runs, "%s vs %s", failure->fresh, failure->base);
    add_head(out);
    add_totals(out, one, 1);
    text_add(out, ">\n  <testsuite name=\"comparison\"");
    add_suite_totals(out, one, 1);
    text_add(out, "    <testcase classname=\"cudal2-bench compare\"");
    add_attribute(out, "name", runs.bytes ? runs.bytes : "");
    text_add(out, ">\n      <error");
    add_attribute(out, "message", name_of_code(failure->why->code));
    add_attribute(out, "type", name_of_code(failure->why->code));
    text_add(out, ">");
    add_escaped(out, failure->why->text);
    text_add(out, "</error>\n    </testcase>\n  </testsuite>\n</testsuites>\n");
    out->failed |= runs.failed;
    text_free(&runs);
}
