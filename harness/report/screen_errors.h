/*
 * screen_errors.h - who was timed with other arithmetic than it was verified with.
 */
#ifndef CUDAL2_REPORT_SCREEN_ERRORS_H
#define CUDAL2_REPORT_SCREEN_ERRORS_H

#include "report/screen_rows.h"

/* A line for each contender; nothing where there is none. */
void screen_errors(struct screen *screen);

#endif
