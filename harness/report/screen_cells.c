/*
 * screen_cells.c - a cell's short name and a time with its unit, in columns. Relies on base/width.h. Called by
 * screen*.c and by compare's table.
 */
#include "report/screen_cells.h"

#include <math.h>

#include "base/width.h"
#include "report/screen_rotation.h"

#define LABEL_COLUMNS 20

double screen_median_ns(const struct result_cell *cell, const struct result_contender *contender)
{
    const struct result_timing *t = result_headline(cell, contender);
    return isnan(t->median_ns) ? t->mean_ns : t->median_ns; /* the paper's protocol keeps means only */
}

void screen_add_time(struct table *s, double ns)
{
    if (isnan(ns))
        table_add(s, NAN, "-");
    else if (ns < 1e6)
        table_add(s, ns, "%.*f µs", ns < 10e3 ? 2 : 1, ns / 1e3);
    else
        table_add(s, ns, "%.*f ms", ns < 100e6 ? 2 : 0, ns / 1e6);
}

void screen_add_shape(struct table *s, const struct result_cell *cell)
{
    struct text shown = {0};
    width_add_cut(&shown, cell->label, LABEL_COLUMNS);
    table_add(s, NAN, "%.0fx%.0fx%.0f%s%s%s%s%s", cell->m, cell->n, cell->k, cell->args[0] ? ":" : "", cell->args,
              screen_rotation_mark(cell), cell->label[0] ? " " : "", shown.bytes ? shown.bytes : "");
    s->failed |= shown.failed;
    text_free(&shown);
}
