/*
 * screen_left_out.c - the columns about shapes that means do not count. Relies on table.c. Called by screen.c.
 */
#include "report/screen_left_out.h"

#include <math.h>

bool screen_leaves_out(const struct result_speedup_row *rows, size_t n, const struct result_group *group)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= rows[i].left_out > 0 && result_same_group(&rows[i].group, group);
    return any;
}

void screen_left_out_columns(struct table *s)
{
    table_column(s, "left out", "left_out", false);
    table_column(s, "of all", "geomean_of_all", false);
}

void screen_left_out_cells(struct table *s, const struct result_speedup_row *row)
{
    if (row->left_out > 0) {
        table_add(s, row->left_out, "%.0f", row->left_out);
        table_add(s, row->geomean_of_all, "%+.1f%%", 100 * row->geomean_of_all);
    } else {
        table_add(s, NAN, "-");
        table_add(s, NAN, "-");
    }
}
