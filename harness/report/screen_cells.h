/*
 * screen_cells.h - what every table by shape shows of a cell in the same way: its name, and times. Called by
 * screen*.c and compare's table.
 */
#ifndef CUDAL2_REPORT_SCREEN_CELLS_H
#define CUDAL2_REPORT_SCREEN_CELLS_H

#include "report/table.h"
#include "result/result.h"

/* In the cell's headline timing; NaN when it was not taken. */
double screen_median_ns(const struct result_cell *cell, const struct result_contender *contender);
/* "3.12 µs", "-" for NaN. */
void screen_add_time(struct table *s, double ns);
/* Sizes and label. */
void screen_add_shape(struct table *s, const struct result_cell *cell);

#endif
