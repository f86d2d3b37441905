/*
 * screen_estimates.h - the cells whose two estimates disagree (estimates.h), counted and named. Private to screen*.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_ESTIMATES_H
#define CUDAL2_REPORT_SCREEN_ESTIMATES_H

#include "report/screen_rows.h"

/* Of the cells of one mode, dtype and accumulate type: whole candidates against whole baselines, headline timing. */
void screen_estimates(struct screen *screen, const struct result_cell *const *cells, size_t n);

#endif
