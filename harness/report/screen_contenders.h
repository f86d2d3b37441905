/*
 * screen_contenders.h - every contender's time by shape: where the terminal is wide enough, or all are asked for.
 * Private to screen*.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_CONTENDERS_H
#define CUDAL2_REPORT_SCREEN_CONTENDERS_H

#include "report/screen_rows.h"

/* Nothing for two contenders or fewer, which the rows by shape show. One table where it fits; with `all`, as many
 * tables below each other as it takes; else a line that says how to see them. */
void screen_contenders(struct screen *screen, const struct result_cell *const *cells, size_t n);

#endif
