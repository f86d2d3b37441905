/*
 * table_text.c - prints a table for a terminal, columns padded by display width. Relies on base/width.h. Called
 * through table.h by screen and report.
 */
#include <ctype.h>
#include <string.h>

#include "base/width.h"
#include "report/table.h"

#define BOLD "\033[1m"
#define GREEN "\033[32m"
#define RED "\033[31m"
#define PLAIN "\033[0m"

static void pad(struct text *out, size_t count)
{
    text_add(out, "%*s", (int)count, "");
}

/* A signed percentage is a speedup: green above zero, red below. */
static const char *colour_of(const char *text)
{
    bool signed_number = (text[0] == '+' || text[0] == '-') && isdigit((unsigned char)text[1]);
    if (!signed_number || !strchr(text, '%'))
        return NULL;
    return text[0] == '+' ? GREEN : RED;
}

static void print_cell(struct text *out, const char *text, size_t width, bool left, const char *colour)
{
    size_t space = width - width_of(text);
    if (!left)
        pad(out, space);
    text_add(out, "%s%s%s", colour ? colour : "", text, colour ? PLAIN : "");
    if (left)
        pad(out, space);
}

/* Blanks at the end of a line are nobody's friend in a diff. */
static void end_line(struct text *out)
{
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    text_add(out, "\n");
}

static void print_rule(struct text *out, size_t width)
{
    for (size_t i = 0; i < width; i++)
        text_add(out, "─");
    text_add(out, "\n");
}

void table_print_text(struct text *out, const struct table *s, bool colour)
{
    size_t width[TABLE_COLUMNS];
    for (size_t c = 0; c < s->n_columns; c++)
        width[c] = table_column_width(s, c);
    if (s->title[0])
        text_add(out, "%s%s%s\n", colour ? BOLD : "", s->title, colour ? PLAIN : "");
    for (size_t c = 0; c < s->n_columns; c++) {
        char head[132];
        table_head(&s->column[c], head);
        text_add(out, c ? "  " : "");
        print_cell(out, head, width[c], s->column[c].left, colour ? BOLD : NULL);
    }
    end_line(out);
    print_rule(out, table_total_width(s));
    for (size_t row = 0; row < table_rows(s); row++) {
        for (size_t c = 0; c < s->n_columns; c++) {
            const char *text = table_at(s, row, c)->text;
            text_add(out, c ? "  " : "");
            print_cell(out, text, width[c], s->column[c].left, colour ? colour_of(text) : NULL);
        }
        end_line(out);
    }
    if (s->note[0])
        text_add(out, "%s\n", s->note);
    out->failed |= s->failed;
}
