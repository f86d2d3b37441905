/*
 * form_text.c - a comparison for the terminal, as wide as it is, with notes that say what to do. Relies on
 * report/table.h. Called through forms.h.
 */
#include "compare/form_table.h"
#include "compare/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "report/screen_cells.h"

#define SHOWN_MAX 40
/* Of rows that are MISSING: they say little, and are many where a run was cut off. */
#define MISSING_MAX 10

const struct table_form table_form_whole = {
    .statistics = true, .speedups = true, .against = true, .skip = 0, .remarks = true};

void form_table_begin(struct table *s, const struct table_form *form)
{
    *s = (struct table){.n_columns = 0};
    table_column(s, "verdict", "verdict", true);
    table_column(s, "change", "change", false);
    table_column(s, form->skip ? "shape" : "cell", "cell", true);
    table_column(s, "candidate", "candidate", true);
    table_column(s, "BASE", "base_time", false);
    table_column(s, "NEW", "new_time", false);
    if (form->against)
        table_column(s, "against", "reference", true);
    if (form->speedups) {
        table_column(s, "lead BASE", "base_speedup", false);
        table_column(s, "lead NEW", "new_speedup", false);
    }
    if (form->statistics) {
        table_column(s, "p", "p", false);
        table_column(s, "groups", "groups", false);
    }
    if (form->remarks)
        table_column(s, "", "remark", true);
}

static void add_speedup(struct table *s, bool tested, struct sample side)
{
    if (tested)
        table_add(s, compare_speedup(side), "%+.1f%%", 100 * compare_speedup(side));
    else
        table_add(s, NAN, "-");
}

static void add_statistics(struct table *s, const struct compare_row *row)
{
    if (row->tested) {
        table_add(s, compare_p(row), "%.1g", compare_p(row));
        table_add(s, NAN, "%zu/%zu", row->trial.base.n, row->trial.fresh.n);
        return;
    }
    table_add(s, NAN, "-");
    table_add(s, NAN, "-");
}

void form_table_add(struct table *s, const struct table_form *form, const struct compare_row *row)
{
    char remark[sizeof row->reason];
    table_add(s, NAN, "%s", judgement_names[row->verdict]);
    if (row->tested)
        table_add(s, compare_change(row), "%+.1f%%", 100 * compare_change(row));
    else
        table_add(s, NAN, "-");
    table_add(s, NAN, "%s", row->key + form->skip);
    table_add(s, NAN, "%s", row->candidate);
    screen_add_time(s, row->tested ? row->base_ns : (double)NAN);
    screen_add_time(s, row->tested ? row->fresh_ns : (double)NAN);
    if (form->against)
        table_add(s, NAN, "%s", row->reference[0] ? row->reference : "-");
    if (form->speedups) {
        add_speedup(s, row->tested, row->trial.base);
        add_speedup(s, row->tested, row->trial.fresh);
    }
    if (form->statistics)
        add_statistics(s, row);
    compare_remark(row, remark, sizeof remark);
    if (form->remarks)
        table_add(s, NAN, "%s", remark);
}

/* Rows stand by verdict. */
static bool is_shown(const struct compare_runs *c, size_t i)
{
    bool missing = c->rows[i].verdict == JUDGED_MISSING;
    if (missing && i >= MISSING_MAX)
        return c->rows[i - MISSING_MAX].verdict != JUDGED_MISSING;
    return missing || c->rows[i].verdict != JUDGED_SAME || i < SHOWN_MAX;
}

/* "and 76 more that are MISSING" */
static void add_hidden(struct text *out, const struct compare_runs *c, enum judgement verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        n += c->rows[i].verdict == verdict && !is_shown(c, i);
    if (n > 0)
        text_add(out, "and %zu more that are %s%s\n", n, verdict == JUDGED_SAME ? "the " : "",
                 judgement_names[verdict]);
}

static void make_table(const struct compare_runs *c, const struct table_form *form, struct table *table)
{
    form_table_begin(table, form);
    for (size_t i = 0; i < c->n_rows; i++)
        if (is_shown(c, i))
            form_table_add(table, form, &c->rows[i]);
}

/* Bytes of "offline/f16-f32-" where every shown row begins with the same. */
static size_t common_key(const struct compare_runs *c)
{
    const char *first = NULL;
    size_t common = 0;
    for (size_t i = 0; i < c->n_rows; i++) {
        size_t length = (size_t)(problem_key_sizes(c->rows[i].key) - c->rows[i].key);
        if (!is_shown(c, i))
            continue;
        if (first && (length != common || strncmp(first, c->rows[i].key, length) != 0))
            return 0;
        first = c->rows[i].key;
        common = length;
    }
    return common;
}

/* The most telling table that fits, or the least where none does. */
static struct table_form choose_form(const struct compare_runs *c, unsigned columns)
{
    const size_t common = common_key(c);
    const struct table_form forms[] = {table_form_whole,
                                       {common, true, true, true, true},
                                       {common, true, true, true, false},
                                       {common, false, true, true, false},
                                       {common, false, false, true, false},
                                       {common, false, false, false, false}};
    size_t n = sizeof forms / sizeof forms[0];
    for (size_t i = 0; i + 1 < n; i++) {
        struct table table;
        make_table(c, &forms[i], &table);
        size_t width = table_total_width(&table);
        table_free(&table);
        if (columns == 0 || width <= columns)
            return forms[i];
    }
    return forms[n - 1];
}

struct remark {
    char text[sizeof((struct compare_row *)NULL)->reason];
    size_t n; /* rows that say the same, this one the first; 0: an earlier one is */
};

/* The remarks of all rows that are worth one, in their order. */
static struct remark *collect_remarks(const struct compare_runs *c)
{
    struct remark *remarks = calloc(c->n_rows + 1, sizeof *remarks);
    for (size_t i = 0; i < c->n_rows && remarks; i++) {
        size_t first = 0;
        if (c->rows[i].verdict == JUDGED_SAME && !is_shown(c, i))
            continue;
        compare_remark(&c->rows[i], remarks[i].text, sizeof remarks[i].text);
        while (first < i && (remarks[first].n == 0 || strcmp(remarks[first].text, remarks[i].text) != 0))
            first++;
        remarks[first].n += remarks[i].text[0] != '\0';
    }
    return remarks;
}

/* One line for each remark: whose it is, or who is the first of how many. */
static void add_remarks(struct text *out, const struct compare_runs *c)
{
    struct remark *remarks = collect_remarks(c);
    out->failed |= remarks == NULL;
    for (size_t i = 0; i < c->n_rows && remarks; i++) {
        if (remarks[i].n == 0)
            continue;
        text_add(out, "%s ", c->rows[i].key);
        plain_add(out, c->rows[i].candidate);
        if (remarks[i].n > 1)
            text_add(out, " and %zu more", remarks[i].n - 1);
        text_add(out, ": ");
        plain_add(out, remarks[i].text);
        text_add(out, "\n");
    }
    free(remarks);
}

static void add_table(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    struct table table;
    struct table_form form = choose_form(c, style.columns);
    make_table(c, &form, &table);
    if (form.skip)
        text_add(out, "%.*s\n", (int)form.skip - 1, c->rows[0].key);
    table_print_text(out, &table, style.colour);
    table_free(&table);
    if (!form.remarks)
        add_remarks(out, c);
    add_hidden(out, c, JUDGED_MISSING);
    add_hidden(out, c, JUDGED_SAME);
}

static void add_counts(struct text *out, const struct compare_runs *c)
{
    text_add(out, "%zu results compared (a candidate in a cell):", c->n_rows);
    for (int v = 0; v < JUDGED_COUNT; v++)
        if (c->counts[v] > 0 || v <= JUDGED_SLOWER)
            text_add(out, " %zu %s%s", c->counts[v], judgement_names[v], v + 1 < JUDGED_COUNT ? "," : "");
    if (out->length > 0 && out->bytes[out->length - 1] == ',')
        out->bytes[--out->length] = '\0';
    text_add(out, "\n");
}

static void add_guide(struct text *out, const struct compare_runs *c)
{
    text_add(out, "\nA slowdown counts above ");
    compare_describe_delta(out, c);
    text_add(out, "\nchange: of speed, relative to the baseline timed beside the candidate (against)\n"
                  "BASE, NEW: the candidate's median time; lead: its speedup over that baseline\n\n");
}

void compare_form_text(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    struct error line = {0};
    text_add(out, "BASE ");
    compare_describe_side(out, &c->base);
    text_add(out, "\nNEW  ");
    compare_describe_side(out, &c->fresh);
    add_guide(out, c);
    add_table(out, c, style);
    text_add(out, "\n");
    add_counts(out, c);
    compare_describe_notes(out, c, "note: ");
    compare_headline(c, &line);
    text_add(out, "%s\n", line.text);
}
