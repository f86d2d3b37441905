/*
 * screen_left_out.h - beside the means of a summary's rows: how many shapes they leave out, and the mean with those.
 */
#ifndef CUDAL2_REPORT_SCREEN_LEFT_OUT_H
#define CUDAL2_REPORT_SCREEN_LEFT_OUT_H

#include "report/table.h"
#include "result/result.h"

/* What the two columns are, for a table's note. */
#define SCREEN_LEFT_OUT "left out: shapes without a result of the candidate; of all: trimmed, with those as 1x"

/* Whether a row of the group has any: else there are no columns. */
bool screen_leaves_out(const struct result_speedup_row *rows, size_t n, const struct result_group *group);
void screen_left_out_columns(struct table *s);
void screen_left_out_cells(struct table *s, const struct result_speedup_row *row);

#endif
