/*
 * table.c - a table in the making: columns, rows, cells that are words, numbers or intervals. Pure. Called by the
 * tables, the screen and the figures, which fill one, and by compare/; table_*.c print it.
 */
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/width.h"

void table_column(struct table *s, const char *head, const char *key, bool left)
{
    if (s->n_columns == TABLE_COLUMNS || s->n_cells > 0) {
        s->failed = true;
        return;
    }
    struct table_column *column = &s->column[s->n_columns++];
    snprintf(column->head, sizeof column->head, "%s", head);
    snprintf(column->key, sizeof column->key, "%s", key);
    column->left = left;
}

void table_interval_column(struct table *s, const char *head, const char *key)
{
    table_column(s, head, key, false);
    if (!s->failed)
        s->column[s->n_columns - 1].pair = TABLE_INTERVAL;
}

void table_share_column(struct table *s, const char *head, const char *key)
{
    table_column(s, head, key, false);
    if (!s->failed)
        s->column[s->n_columns - 1].pair = TABLE_SHARE;
}

void table_group(struct table *s, const char *group)
{
    if (s->n_columns > 0)
        snprintf(s->column[s->n_columns - 1].group, sizeof s->column->group, "%s", group);
}

void table_hide(struct table *s)
{
    if (s->n_columns > 0)
        s->column[s->n_columns - 1].hidden = true;
}

void table_head(const struct table_column *column, char out[132])
{
    snprintf(out, 132, "%s%s%s", column->group, column->group[0] ? " " : "", column->head);
}

static bool make_room(struct table *s)
{
    if (s->n_cells < s->capacity)
        return true;
    size_t capacity = s->capacity ? 2 * s->capacity : 256;
    struct table_cell *cells = realloc(s->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    s->cells = cells;
    s->capacity = capacity;
    return true;
}

void table_add(struct table *s, double value, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *copy = make_room(s) ? plain_copy(text) : NULL;
    if (!copy) {
        s->failed = true;
        return;
    }
    s->cells[s->n_cells++] = (struct table_cell){.text = copy, .value = value, .high = NAN};
}

void table_add_interval(struct table *s, double low, double high)
{
    if (isnan(low)) {
        table_add(s, NAN, "-");
        return;
    }
    table_add(s, low, "[%+.2f, %+.2f]", 100 * low, 100 * high);
    if (!s->failed)
        s->cells[s->n_cells - 1].high = high;
}

void table_add_share(struct table *s, size_t part, size_t whole)
{
    if (whole == 0) {
        table_add(s, NAN, "-");
        return;
    }
    table_add(s, (double)part, "%zu/%zu", part, whole);
    if (!s->failed)
        s->cells[s->n_cells - 1].high = (double)whole;
}

static bool says_nothing(const struct table *s, size_t column)
{
    for (size_t row = 0; row < table_rows(s); row++)
        if (strcmp(table_at(s, row, column)->text, "-") != 0)
            return false;
    return table_rows(s) > 0;
}

void table_for_readers(const struct table *s, struct table *out)
{
    size_t from[TABLE_COLUMNS];
    *out = (struct table){.failed = s->failed};
    memcpy(out->name, s->name, sizeof out->name);
    memcpy(out->label, s->label, sizeof out->label);
    memcpy(out->title, s->title, sizeof out->title);
    memcpy(out->note, s->note, sizeof out->note);
    for (size_t c = 0; c < s->n_columns; c++)
        if (!s->column[c].hidden && !says_nothing(s, c)) {
            from[out->n_columns] = c;
            out->column[out->n_columns++] = s->column[c];
        }
    for (size_t row = 0; row < table_rows(s); row++)
        for (size_t c = 0; c < out->n_columns; c++)
            table_add(out, NAN, "%s", table_at(s, row, from[c])->text);
}

void table_wrap_note(struct table *s, unsigned columns)
{
    char *line = s->note, *space = NULL;
    for (char *c = s->note; *c && columns > 0; c++) {
        space = *c == ' ' ? c : space;
        if (*c == '\n') {
            line = c + 1;
            space = NULL;
        } else if (space && (size_t)(c - line) >= columns) {
            *space = '\n';
            line = space + 1;
            space = NULL;
        }
    }
}

void table_for_terminal(const struct table *s, unsigned columns, struct table *out)
{
    struct table narrow = *s; /* whose cells stay the table's */
    table_for_readers(&narrow, out);
    for (size_t c = s->n_columns; c-- > 1 && columns > 0 && table_total_width(out) > columns;) {
        narrow.column[c].hidden = true;
        table_free(out);
        table_for_readers(&narrow, out);
    }
    table_wrap_note(out, columns);
}

void table_free(struct table *s)
{
    for (size_t i = 0; i < s->n_cells; i++)
        free(s->cells[i].text);
    free(s->cells);
    *s = (struct table){0};
}

size_t table_rows(const struct table *s)
{
    return s->n_columns ? s->n_cells / s->n_columns : 0;
}

const struct table_cell *table_at(const struct table *s, size_t row, size_t column)
{
    return &s->cells[row * s->n_columns + column];
}

size_t table_column_width(const struct table *s, size_t column)
{
    char head[132];
    table_head(&s->column[column], head);
    size_t width = width_of(head);
    for (size_t row = 0; row < table_rows(s); row++) {
        size_t here = width_of(table_at(s, row, column)->text);
        width = here > width ? here : width;
    }
    return width;
}

size_t table_total_width(const struct table *s)
{
    size_t total = 0;
    for (size_t c = 0; c < s->n_columns; c++)
        total += table_column_width(s, c) + (c ? 2 : 0);
    return total;
}
