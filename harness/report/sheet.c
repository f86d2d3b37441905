/*
 * sheet.c - a table in the making: columns, rows, cells that are words, numbers or intervals. Pure. Filled by tables,
 * screen and figures; printed by sheet_*.c.
 */
#include "report/sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/width.h"

void sheet_column(struct sheet *s, const char *head, const char *key, bool left)
{
    if (s->n_columns == SHEET_COLUMNS || s->n_cells > 0) {
        s->failed = true;
        return;
    }
    struct sheet_column *column = &s->column[s->n_columns++];
    snprintf(column->head, sizeof column->head, "%s", head);
    snprintf(column->key, sizeof column->key, "%s", key);
    column->left = left;
}

void sheet_interval_column(struct sheet *s, const char *head, const char *key)
{
    sheet_column(s, head, key, false);
    if (!s->failed)
        s->column[s->n_columns - 1].pair = SHEET_INTERVAL;
}

void sheet_share_column(struct sheet *s, const char *head, const char *key)
{
    sheet_column(s, head, key, false);
    if (!s->failed)
        s->column[s->n_columns - 1].pair = SHEET_SHARE;
}

void sheet_group(struct sheet *s, const char *group)
{
    if (s->n_columns > 0)
        snprintf(s->column[s->n_columns - 1].group, sizeof s->column->group, "%s", group);
}

void sheet_hide(struct sheet *s)
{
    if (s->n_columns > 0)
        s->column[s->n_columns - 1].hidden = true;
}

void sheet_head(const struct sheet_column *column, char out[132])
{
    snprintf(out, 132, "%s%s%s", column->group, column->group[0] ? " " : "", column->head);
}

static bool make_room(struct sheet *s)
{
    if (s->n_cells < s->capacity)
        return true;
    size_t capacity = s->capacity ? 2 * s->capacity : 256;
    struct sheet_cell *cells = realloc(s->cells, capacity * sizeof *cells);
    if (!cells)
        return false;
    s->cells = cells;
    s->capacity = capacity;
    return true;
}

void sheet_add(struct sheet *s, double value, const char *format, ...)
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
    s->cells[s->n_cells++] = (struct sheet_cell){.text = copy, .value = value, .high = NAN};
}

void sheet_add_interval(struct sheet *s, double low, double high)
{
    if (isnan(low)) {
        sheet_add(s, NAN, "-");
        return;
    }
    sheet_add(s, low, "[%+.2f, %+.2f]", 100 * low, 100 * high);
    if (!s->failed)
        s->cells[s->n_cells - 1].high = high;
}

void sheet_add_share(struct sheet *s, size_t part, size_t whole)
{
    if (whole == 0) {
        sheet_add(s, NAN, "-");
        return;
    }
    sheet_add(s, (double)part, "%zu/%zu", part, whole);
    if (!s->failed)
        s->cells[s->n_cells - 1].high = (double)whole;
}

static bool says_nothing(const struct sheet *s, size_t column)
{
    for (size_t row = 0; row < sheet_rows(s); row++)
        if (strcmp(sheet_at(s, row, column)->text, "-") != 0)
            return false;
    return sheet_rows(s) > 0;
}

void sheet_for_readers(const struct sheet *s, struct sheet *out)
{
    size_t from[SHEET_COLUMNS];
    *out = (struct sheet){.failed = s->failed};
    memcpy(out->name, s->name, sizeof out->name);
    memcpy(out->label, s->label, sizeof out->label);
    memcpy(out->title, s->title, sizeof out->title);
    memcpy(out->note, s->note, sizeof out->note);
    for (size_t c = 0; c < s->n_columns; c++)
        if (!s->column[c].hidden && !says_nothing(s, c)) {
            from[out->n_columns] = c;
            out->column[out->n_columns++] = s->column[c];
        }
    for (size_t row = 0; row < sheet_rows(s); row++)
        for (size_t c = 0; c < out->n_columns; c++)
            sheet_add(out, NAN, "%s", sheet_at(s, row, from[c])->text);
}

void sheet_free(struct sheet *s)
{
    for (size_t i = 0; i < s->n_cells; i++)
        free(s->cells[i].text);
    free(s->cells);
    *s = (struct sheet){0};
}

size_t sheet_rows(const struct sheet *s)
{
    return s->n_columns ? s->n_cells / s->n_columns : 0;
}

const struct sheet_cell *sheet_at(const struct sheet *s, size_t row, size_t column)
{
    return &s->cells[row * s->n_columns + column];
}

size_t sheet_column_width(const struct sheet *s, size_t column)
{
    char head[132];
    sheet_head(&s->column[column], head);
    size_t width = width_of(head);
    for (size_t row = 0; row < sheet_rows(s); row++) {
        size_t here = width_of(sheet_at(s, row, column)->text);
        width = here > width ? here : width;
    }
    return width;
}

size_t sheet_total_width(const struct sheet *s)
{
    size_t total = 0;
    for (size_t c = 0; c < s->n_columns; c++)
        total += sheet_column_width(s, c) + (c ? 2 : 0);
    return total;
}
