/*
 * screen_known.h - who was slower on new inputs than on those it had seen.
 */
#ifndef CUDAL2_REPORT_SCREEN_KNOWN_H
#define CUDAL2_REPORT_SCREEN_KNOWN_H

#include "report/screen_rows.h"

/* A line for each contender; nothing where there is none. */
void screen_known(struct screen *screen);

#endif
