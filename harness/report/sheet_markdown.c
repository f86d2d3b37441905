#include "report/sheet.h"

static void add_escaped(struct text *out, const char *text)
{
    for (const char *c = text; *c; c++)
        text_add(out, *c == '|' ? "\\|" : "%c", *c);
}

void sheet_print_markdown(struct text *out, const struct sheet *s)
{
    if (s->title[0])
        text_add(out, "**%s**\n\n", s->title);
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, "| ");
        add_escaped(out, s->column[c].head);
        text_add(out, " ");
    }
    text_add(out, "|\n");
    for (size_t c = 0; c < s->n_columns; c++)
        text_add(out, s->column[c].left ? "|:--" : "|--:");
    text_add(out, "|\n");
    for (size_t row = 0; row < sheet_rows(s); row++) {
        for (size_t c = 0; c < s->n_columns; c++) {
            text_add(out, "| ");
            add_escaped(out, sheet_at(s, row, c)->text);
            text_add(out, " ");
        }
        text_add(out, "|\n");
    }
    if (s->note[0])
        text_add(out, "\n%s\n", s->note);
    out->failed |= s->failed;
}
