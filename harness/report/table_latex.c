/*
 * table_latex.c - prints a table as a booktabs table with caption and label, in minus signs and columns that fit a
 * page. Relies on latex.c. Called through table.h by report.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/latex.h"
#include "report/table.h"

/* The text block of an A4 article, upright and turned. */
#define UPRIGHT_PT 345.0
#define TURNED_PT 598.0

/* Sizes of type, from 10 points down, and what then stands between columns. */
struct size {
    const char *command;
    double scale, separation_pt;
};
static const struct size sizes[] = {{"small", 0.925, 3}, {"footnotesize", 0.85, 3}, {"scriptsize", 0.8, 2}};
#define SIZES (sizeof sizes / sizeof *sizes)

/* At 10 points: signs are wide in Computer Modern, points and brackets narrow. */
static double text_pt(const char *text, size_t length)
{
    double width = 0;
    for (size_t i = 0; i < length; i++)
        width += strchr("%+-", text[i]) ? 8.1 : strchr("[],.:/ ", text[i]) ? 3.3 : 5.1;
    return width;
}

/* Where a head is broken in two lines: before its bracket. */
static size_t first_line(const char *head)
{
    const char *bracket = strstr(head, " (");
    return bracket ? (size_t)(bracket - head) : strlen(head);
}

static bool ends_in_percent(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && text[length - 1] == '%';
}

/* Then its head says so once. */
static bool is_percent(const struct table *s, size_t column)
{
    size_t n = 0;
    for (size_t row = 0; row < table_rows(s); row++) {
        const char *text = table_at(s, row, column)->text;
        n += ends_in_percent(text);
        if (!ends_in_percent(text) && strcmp(text, "-") != 0)
            return false;
    }
    return n > 0;
}

/* The cell without the sign that the head has. */
static void cell_text(const struct table *s, size_t row, size_t column, char out[128])
{
    snprintf(out, 128, "%s", table_at(s, row, column)->text);
    if (ends_in_percent(out) && is_percent(s, column))
        out[strlen(out) - 1] = '\0';
}

static void head_text(const struct table *s, size_t column, char out[72])
{
    const char *head = s->column[column].head;
    size_t first = first_line(head);
    bool percent = is_percent(s, column);
    if (head[first])
        snprintf(out, 72, "%.*s%s%s", (int)first, head, percent ? " in %" : "", head + first);
    else
        snprintf(out, 72, "%s%s", head, percent ? " (%)" : "");
}

static double column_pt(const struct table *s, size_t column)
{
    char head[72];
    head_text(s, column, head);
    size_t first = first_line(head);
    double width = fmax(text_pt(head, first), text_pt(head + first, strlen(head + first)));
    for (size_t row = 0; row < table_rows(s); row++) {
        char text[128];
        cell_text(s, row, column, text);
        width = fmax(width, text_pt(text, strlen(text)));
    }
    return width;
}

static double width_pt(const struct table *s, const struct size *size)
{
    double width = 0;
    for (size_t c = 0; c < s->n_columns; c++)
        width += size->scale * column_pt(s, c) + 2 * size->separation_pt;
    return width;
}

/* The largest type in which it fits the page upright, else the largest in which it fits turned. */
static const struct size *choose_size(const struct table *s, bool *turned)
{
    for (*turned = false;; *turned = true) {
        for (size_t i = 0; i < SIZES; i++)
            if (width_pt(s, &sizes[i]) <= (*turned ? TURNED_PT : UPRIGHT_PT))
                return &sizes[i];
        if (*turned)
            return &sizes[SIZES - 1];
    }
}

/* LaTeX numbers tables itself: "Table 1: " is its own. */
static const char *caption_of(const char *title)
{
    const char *colon = strstr(title, ": ");
    return strncmp(title, "Table ", 6) == 0 && colon && colon - title <= 8 ? colon + 2 : title;
}

static bool has_groups(const struct table *s)
{
    for (size_t c = 0; c < s->n_columns; c++)
        if (s->column[c].group[0])
            return true;
    return false;
}

static size_t group_end(const struct table *s, size_t first)
{
    size_t end = first + 1;
    while (end < s->n_columns && strcmp(s->column[end].group, s->column[first].group) == 0)
        end++;
    return end;
}

/* A line of groups above the heads, each with a rule below. */
static void print_groups(struct text *out, const struct table *s)
{
    for (size_t c = 0; c < s->n_columns; c = group_end(s, c)) {
        text_add(out, "%s", c ? " & " : "");
        if (!s->column[c].group[0] && group_end(s, c) == c + 1)
            continue;
        text_add(out, "\\multicolumn{%zu}{c}{", group_end(s, c) - c);
        latex_add(out, s->column[c].group);
        text_add(out, "}");
    }
    text_add(out, " \\\\\n");
    for (size_t c = 0; c < s->n_columns; c = group_end(s, c))
        if (s->column[c].group[0])
            text_add(out, "\\cmidrule(lr){%zu-%zu}\n", c + 1, group_end(s, c));
}

static void print_head(struct text *out, const char *head)
{
    size_t first = first_line(head);
    char line[72];
    if (!head[first]) {
        latex_add(out, head);
        return;
    }
    snprintf(line, sizeof line, "%.*s", (int)first, head);
    text_add(out, "\\shortstack[r]{");
    latex_add(out, line);
    text_add(out, "\\\\");
    latex_add(out, head + first + 1);
    text_add(out, "}");
}

static void print_heads(struct text *out, const struct table *s)
{
    if (has_groups(s))
        print_groups(out, s);
    for (size_t c = 0; c < s->n_columns; c++) {
        char head[72];
        head_text(s, c, head);
        text_add(out, c ? " & " : "");
        print_head(out, head);
    }
    text_add(out, " \\\\\n\\midrule\n");
}

static void print_row(struct text *out, const struct table *s, size_t row)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        char text[128];
        cell_text(s, row, c, text);
        text_add(out, c ? " & " : "");
        latex_add(out, text);
    }
    text_add(out, " \\\\\n");
}

static void print_tabular(struct text *out, const struct table *s)
{
    text_add(out, "\\begin{tabular}{");
    for (size_t c = 0; c < s->n_columns; c++)
        text_add(out, s->column[c].left ? "l" : "r");
    text_add(out, "}\n\\toprule\n");
    print_heads(out, s);
    for (size_t row = 0; row < table_rows(s); row++)
        print_row(out, s, row);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

void table_print_latex(struct text *out, const struct table *s)
{
    bool turned = false;
    const struct size *size = choose_size(s, &turned);
    const char *environment = turned ? "sidewaystable" : "table";
    text_add(out, "%% needs \\usepackage{booktabs%s}\n\\begin{%s}\n\\centering\n\\caption{", turned ? ",rotating" : "",
             environment);
    latex_add(out, caption_of(s->title));
    text_add(out, "}\n\\label{tab:%s}\n\\%s\n\\setlength{\\tabcolsep}{%gpt}\\smallskip\n",
             s->label[0] ? s->label : s->name, size->command, size->separation_pt);
    print_tabular(out, s);
    if (s->note[0]) {
        text_add(out, "\\par\\smallskip ");
        latex_add(out, s->note);
        text_add(out, "\n");
    }
    text_add(out, "\\end{%s}\n", environment);
    out->failed |= s->failed;
}
