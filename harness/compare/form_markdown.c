#include "compare/form_table.h"
#include "compare/forms.h"

#include <math.h>
#include <stdlib.h>

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
    struct sheet sheet;
    size_t shown = n < LARGEST ? n : LARGEST;
    if (n == 0)
        return;
    form_table_begin(&sheet);
    for (size_t i = 0; i < shown; i++)
        form_table_add(&sheet, rows[i]);
    text_add(out, "\n**%s** (%zu of %zu)\n\n", title, shown, n);
    sheet_print_markdown(out, &sheet);
    out->failed |= sheet.failed;
    sheet_free(&sheet);
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

void compare_form_markdown(struct text *out, const struct compare_runs *c, bool colour)
{
    (void)colour;
    struct error line = {0};
    compare_headline(c, &line);
    text_add(out, "### cudal2-bench compare: %s\n\n", line.text);
    text_add(out, "|");
    for (int v = 0; v < VERDICT_COUNT; v++)
        text_add(out, " %s |", verdict_names[v]);
    text_add(out, "\n|");
    for (int v = 0; v < VERDICT_COUNT; v++)
        text_add(out, "---:|");
    text_add(out, "\n|");
    for (int v = 0; v < VERDICT_COUNT; v++)
        text_add(out, " %zu |", c->counts[v]);
    text_add(out, "\n\n- BASE: ");
    compare_describe_side(out, &c->base);
    text_add(out, "\n- NEW: ");
    compare_describe_side(out, &c->fresh);
    text_add(out, "\n- a loss counts above ");
    compare_describe_delta(out, c);
    text_add(out, "\n");
    compare_describe_notes(out, c, "- ");
    add_tables(out, c);
}

void compare_failure_markdown(struct text *out, const struct compare_failure *failure)
{
    text_add(out, "### cudal2-bench compare: %s\n\n- BASE: %s\n- NEW: %s\n", failure->why->text, failure->base,
             failure->fresh);
}
