#include "compare/form_table.h"
#include "compare/forms.h"

#include <math.h>

#define SHOWN_MAX 40

void form_table_begin(struct sheet *s)
{
    *s = (struct sheet){.n_columns = 0};
    sheet_column(s, "verdict", "verdict", true);
    sheet_column(s, "change", "change", false);
    sheet_column(s, "cell", "cell", true);
    sheet_column(s, "candidate", "candidate", true);
    sheet_column(s, "against", "reference", true);
    sheet_column(s, "BASE", "base_speedup", false);
    sheet_column(s, "NEW", "new_speedup", false);
    sheet_column(s, "p", "p", false);
    sheet_column(s, "groups", "groups", false);
    sheet_column(s, "", "remark", true);
}

static void add_figures(struct sheet *s, const struct compare_row *row)
{
    double base = compare_speedup(row->trial.base);
    double fresh = compare_speedup(row->trial.fresh);
    sheet_add(s, base, "%+.1f%%", 100 * base);
    sheet_add(s, fresh, "%+.1f%%", 100 * fresh);
    sheet_add(s, compare_p(row), "%.1g", compare_p(row));
    sheet_add(s, NAN, "%zu/%zu", row->trial.base.n, row->trial.fresh.n);
}

void form_table_add(struct sheet *s, const struct compare_row *row)
{
    char remark[sizeof row->reason];
    compare_remark(row, remark, sizeof remark);
    sheet_add(s, NAN, "%s", verdict_names[row->verdict]);
    if (row->tested)
        sheet_add(s, compare_change(row), "%+.1f%%", 100 * compare_change(row));
    else
        sheet_add(s, NAN, "-");
    sheet_add(s, NAN, "%s", row->key);
    sheet_add(s, NAN, "%s", row->candidate);
    sheet_add(s, NAN, "%s", row->reference[0] ? row->reference : "-");
    if (row->tested)
        add_figures(s, row);
    for (int i = 0; !row->tested && i < 4; i++)
        sheet_add(s, NAN, "-");
    sheet_add(s, NAN, "%s", remark);
}

static void add_table(struct text *out, const struct compare_runs *c, bool colour)
{
    struct sheet sheet;
    size_t shown = 0;
    form_table_begin(&sheet);
    for (size_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].verdict != VERDICT_SAME || i < SHOWN_MAX) {
            form_table_add(&sheet, &c->rows[i]);
            shown++;
        }
    sheet_print_text(out, &sheet, colour);
    out->failed |= sheet.failed;
    sheet_free(&sheet);
    if (shown < c->n_rows)
        text_add(out, "and %zu more that are the SAME\n", c->n_rows - shown);
}

static void add_counts(struct text *out, const struct compare_runs *c)
{
    text_add(out, "%zu compared:", c->n_rows);
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (c->counts[v] > 0 || v <= VERDICT_SLOWER)
            text_add(out, " %zu %s%s", c->counts[v], verdict_names[v], v + 1 < VERDICT_COUNT ? "," : "");
    if (out->length > 0 && out->bytes[out->length - 1] == ',')
        out->bytes[--out->length] = '\0';
    text_add(out, "\n");
}

void compare_form_text(struct text *out, const struct compare_runs *c, bool colour)
{
    struct error line = {0};
    text_add(out, "BASE ");
    compare_describe_side(out, &c->base);
    text_add(out, "\nNEW  ");
    compare_describe_side(out, &c->fresh);
    text_add(out, "\na loss counts above ");
    compare_describe_delta(out, c);
    text_add(out, "\nchange: in speed relative to the baseline timed beside it (against)\n"
                  "BASE, NEW: speedup over that baseline; groups: of blocks that it rests on\n\n");
    add_table(out, c, colour);
    text_add(out, "\n");
    add_counts(out, c);
    compare_describe_notes(out, c, "note: ");
    compare_headline(c, &line);
    text_add(out, "%s\n", line.text);
}
