#include <string.h>

#include "report/sheet.h"

static void add_escaped(struct text *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("&%$#_{}", *c))
            text_add(out, "\\%c", *c);
        else if (strncmp(c, "±", strlen("±")) == 0)
            text_add(out, "$\\pm$"), c += strlen("±") - 1;
        else if (strncmp(c, "µ", strlen("µ")) == 0)
            text_add(out, "$\\mu$"), c += strlen("µ") - 1;
        else
            text_add(out, "%c", *c);
    }
}

static void print_row(struct text *out, const struct sheet *s, size_t row)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? " & " : "");
        add_escaped(out, sheet_at(s, row, c)->text);
    }
    text_add(out, " \\\\\n");
}

void sheet_print_latex(struct text *out, const struct sheet *s)
{
    text_add(out, "\\begin{table}\n\\caption{");
    add_escaped(out, s->title);
    text_add(out, "}\n\\begin{tabular}{");
    for (size_t c = 0; c < s->n_columns; c++)
        text_add(out, s->column[c].left ? "l" : "r");
    text_add(out, "}\n\\toprule\n");
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? " & " : "");
        add_escaped(out, s->column[c].head);
    }
    text_add(out, " \\\\\n\\midrule\n");
    for (size_t row = 0; row < sheet_rows(s); row++)
        print_row(out, s, row);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
    if (s->note[0]) {
        text_add(out, "\\par ");
        add_escaped(out, s->note);
        text_add(out, "\n");
    }
    text_add(out, "\\end{table}\n");
    out->failed |= s->failed;
}
