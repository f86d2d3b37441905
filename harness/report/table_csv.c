/*
 * table_csv.c - prints a table as CSV, an interval in two columns. Relies on csv.c. Called through table.h by
 * report.c.
 */
#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "report/table.h"

static void add_cell(struct text *out, const struct table_cell *cell)
{
    if (!isnan(cell->value))
        text_add(out, "%.9g", cell->value);
    else
        csv_add(out, strcmp(cell->text, "-") == 0 ? "" : cell->text);
}

static void add_second(struct text *out, const struct table_cell *cell)
{
    text_add(out, ",");
    if (!isnan(cell->high))
        text_add(out, "%.9g", cell->high);
}

static void add_key(struct text *out, const struct table_column *column)
{
    if (column->pair == TABLE_INTERVAL)
        text_add(out, "%s_low,%s_high", column->key, column->key);
    else if (column->pair == TABLE_SHARE)
        text_add(out, "%s,%s_of", column->key, column->key);
    else
        csv_add(out, column->key);
}

/* Several tables may share a file, and one table many a reader's table: each row says which it is of. */
static void begin_row(struct text *out, const struct table *s, const char *field)
{
    if (!s->title[0])
        return;
    csv_add(out, field);
    text_add(out, ",");
}

void table_print_csv(struct text *out, const struct table *s)
{
    begin_row(out, s, "table");
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? "," : "");
        add_key(out, &s->column[c]);
    }
    text_add(out, "\n");
    table_print_csv_rows(out, s);
}

void table_print_csv_rows(struct text *out, const struct table *s)
{
    for (size_t row = 0; row < table_rows(s); row++) {
        begin_row(out, s, s->title);
        for (size_t c = 0; c < s->n_columns; c++) {
            text_add(out, c ? "," : "");
            add_cell(out, table_at(s, row, c));
            if (s->column[c].pair != TABLE_SINGLE)
                add_second(out, table_at(s, row, c));
        }
        text_add(out, "\n");
    }
    out->failed |= s->failed;
}
