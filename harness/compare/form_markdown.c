/*
 * form_markdown.c - a comparison as Markdown for a merge request, the largest changes first. Relies on
 * report/markdown.h. Called through forms.h.
 */
#include "compare/form_table.h"
#include "compare/forms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/markdown.h"

#define LARGEST 20

static int by_size(const void *a, const void *b)
{
    const struct compare_row *x = *(const struct compare_row *const *)a;
    const struct compare_row *y = *(const struct compare_row *const *)b;
    double difference = fabs(y->trial.change) - fabs(x->trial.change);
    return difference > 0 ? 1 : difference < 0 ? -1 : (x > y) - (x < y);
}

static void print_rows(struct text *out, const struct compare_row *const *rows, size_t n, const char *title)
{
    struct table table;
    size_t shown = n < LARGEST ? n : LARGEST;
    if (n == 0)
        return;
    form_table_begin(&table, &table_form_whole);
    for (size_t i = 0; i < shown; i++)
        form_table_add(&table, &table_form_whole, rows[i]);
    text_add(out, "\n**%s** (%zu of %zu)\n\n", title, shown, n);
    table_print_markdown(out, &table);
    out->failed |= table.failed;
    table_free(&table);
}

static void add_tables(struct text *out, const struct compare_runs *c)
{
    const struct compare_row **rows = malloc((c->n_rows + 1) * sizeof *rows);
    size_t n = 0;
    if (!rows) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].tested)
            rows[n++] = &c->rows[i];
    qsort(rows, n, sizeof *rows, by_size);
    print_rows(out, rows, n, "Largest changes");
    n = 0;
    for (size_t i = 0; i < c->n_rows; i++)
        if (!c->rows[i].tested)
            rows[n++] = &c->rows[i];
    print_rows(out, rows, n, "Without figures");
    free(rows);
}

/* Lines of words, each as an item of a list; takes the words over. */
static void add_items(struct text *out, const char *before, struct text *words)
{
    char *rest = words->bytes;
    for (char *line; (line = strsep(&rest, "\n")) && line[0];) {
        text_add(out, "- %s", before);
        markdown_add(out, line);
        text_add(out, "\n");
    }
    out->failed |= words->failed;
    text_free(words);
}

static void add_side(struct text *out, const char *before, const struct side *side)
{
    struct text words = {0};
    compare_describe_side(&words, side);
    add_items(out, before, &words);
}

static void add_counts(struct text *out, const struct compare_runs *c)
{
    text_add(out, "|");
    for (int v = 0; v < JUDGED_COUNT; v++)
        text_add(out, " %s |", judgement_names[v]);
    text_add(out, "\n|");
    for (int v = 0; v < JUDGED_COUNT; v++)
        text_add(out, "---:|");
    text_add(out, "\n|");
    for (int v = 0; v < JUDGED_COUNT; v++)
        text_add(out, " %zu |", c->counts[v]);
    text_add(out, "\n\n");
}

static void add_title(struct text *out, const char *words)
{
    text_add(out, "### cudal2-bench compare: ");
    markdown_add(out, words);
    text_add(out, "\n\n");
}

void compare_form_markdown(struct text *out, const struct compare_runs *c, struct compare_style style)
{
    (void)style;
    struct error line = {0};
    struct text words = {0};
    compare_headline(c, &line);
    add_title(out, line.text);
    add_counts(out, c);
    add_side(out, "BASE: ", &c->base);
    add_side(out, "NEW: ", &c->fresh);
    text_add(&words, "A slowdown counts above ");
    compare_describe_delta(&words, c);
    text_add(&words, "\n");
    compare_describe_notes(&words, c, "");
    add_items(out, "", &words);
    add_tables(out, c);
}

void compare_failure_markdown(struct text *out, const struct compare_failure *failure)
{
    add_title(out, failure->why->text);
    text_add(out, "- BASE: ");
    markdown_add(out, failure->base);
    text_add(out, "\n- NEW: ");
    markdown_add(out, failure->fresh);
    text_add(out, "\n");
}
