/*
 * screen_counts - how many cells came to what, for the screen.
 */
#ifndef CUDAL2_REPORT_SCREEN_COUNTS_H
#define CUDAL2_REPORT_SCREEN_COUNTS_H

#include "report/screen_rows.h"

/* Adds cells by status, how many converged, and the blocks of slowdowns. What the summary does not say is counted in
 * the cells, or left out where they do not tell it either. */
void screen_counts(struct screen *screen);

#endif
