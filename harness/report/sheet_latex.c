#include <string.h>

#include "report/latex.h"
#include "report/sheet.h"

static void print_row(struct text *out, const struct sheet *s, size_t row)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? " & " : "");
        latex_add(out, sheet_at(s, row, c)->text);
    }
    text_add(out, " \\\\\n");
}

void sheet_print_latex(struct text *out, const struct sheet *s)
{
    text_add(out, "\\begin{table}\n\\caption{");
    latex_add(out, s->title);
    text_add(out, "}\n\\begin{tabular}{");
    for (size_t c = 0; c < s->n_columns; c++)
        text_add(out, s->column[c].left ? "l" : "r");
    text_add(out, "}\n\\toprule\n");
    for (size_t c = 0; c < s->n_columns; c++) {
        text_add(out, c ? " & " : "");
        latex_add(out, s->column[c].head);
    }
    text_add(out, " \\\\\n\\midrule\n");
    for (size_t row = 0; row < sheet_rows(s); row++)
        print_row(out, s, row);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
    if (s->note[0]) {
        text_add(out, "\\par ");
        latex_add(out, s->note);
        text_add(out, "\n");
    }
    text_add(out, "\\end{table}\n");
    out->failed |= s->failed;
}
