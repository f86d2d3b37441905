/*
 * screen_uneven.h - who does in few launches the work of many (analysis/uneven.h), for screen.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_UNEVEN_H
#define CUDAL2_REPORT_SCREEN_UNEVEN_H

#include "report/screen_rows.h"

/* A line for each pair whose speedup is of means; nothing where there is none. */
void screen_uneven(struct screen *screen);

#endif
