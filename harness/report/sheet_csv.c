/*
 * sheet_csv.c - prints a sheet as CSV, an interval in two columns. Relies on csv.c. Called through sheet.h by
 * report.c.
 */
#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/sheet.h"

static void add_cell(struct text *out, const struct sheet_cell *cell)
{
    if (!isnan(cell->value))
        text_add(out, "%.9g", cell->value);
    else
        csv_add(out, strcmp(cell->text, "-") == 0 ? "" : cell->text);
}

static void add_second(struct text *out, const struct sheet_cell *cell)
{
    text_add(out, ",");
    if (!isnan(cell->high))
        text_add(out, "%.9g", cell->high);
}

static void add_key(struct text *out, const struct sheet_column *column)
{
    if (column->pair == SHEET_INTERVAL)
        text_add(out, "%s_low,%s_high", column->key, column->key);
    else if (column->pair == SHEET_SHARE)
        text_add(out, "%s,%s_of", column->key, column->key);
    else
        csv_add(out, column->key);
}

/* Several sheets may share a file, and one sheet many a reader's table: each row says which it is of. */
static void begin_row(struct text *out, const struct sheet *s, const char *field)
{
    if (!s->title[0])
        return;
    csv_add(out, field);
    text_add(out, ",");
}

void sheet_print_csv(struct text *out, const struct sheet *s)
{
    begin_row(out, s, "table");
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? "," : "");
        add_key(out, &s->column[c]);
    }
    text_add(out, "\n");
    sheet_print_csv_rows(out, s);
}

void sheet_print_csv_rows(struct text *out, const struct sheet *s)
{
    for (size_t row = 0; row < sheet_rows(s); row++) {
        begin_row(out, s, s->title);
        for (size_t c = 0; c < s->n_columns; c++) {
            text_add(out, c ? "," : "");
            add_cell(out, sheet_at(s, row, c));
            if (s->column[c].pair != SHEET_SINGLE)
                add_second(out, sheet_at(s, row, c));
        }
        text_add(out, "\n");
    }
    out->failed |= s->failed;
}
