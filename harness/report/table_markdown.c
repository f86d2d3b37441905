/*
 * table_markdown.c - prints a table as a Markdown table. Relies on markdown.c. Called through table.h by report.c.
 */
#include "report/markdown.h"
#include "report/table.h"

void table_print_markdown(struct text *out, const struct table *s)
{
    if (s->title[0]) {
        text_add(out, "**");
        markdown_add(out, s->title);
        text_add(out, "**\n\n");
    }
    for (size_t c = 0; c < s->n_columns; c++) {
        char head[132];
        table_head(&s->column[c], head);
        text_add(out, "| ");
        markdown_add(out, head);
        text_add(out, " ");
    }
    text_add(out, "|\n");
    for (size_t c = 0; c < s->n_columns; c++)
        text_add(out, s->column[c].left ? "|:--" : "|--:");
    text_add(out, "|\n");
    for (size_t row = 0; row < table_rows(s); row++) {
        for (size_t c = 0; c < s->n_columns; c++) {
            text_add(out, "| ");
            markdown_add(out, table_at(s, row, c)->text);
            text_add(out, " ");
        }
        text_add(out, "|\n");
    }
    if (s->note[0]) {
        text_add(out, "\n");
        markdown_add(out, s->note);
        text_add(out, "\n");
    }
    out->failed |= s->failed;
}
