/*
 * screen_borrowed.h - whose product it was that a candidate took, where a library's was seen.
 */
#ifndef CUDAL2_REPORT_SCREEN_BORROWED_H
#define CUDAL2_REPORT_SCREEN_BORROWED_H

#include "report/screen_rows.h"

/* A line for each candidate and library; nothing where there is none. */
void screen_borrowed(struct screen *screen);

#endif
