/*
 * screen_races.h - what races among variants cost each contender: algorithms, seconds, launches. Called by screen.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_RACES_H
#define CUDAL2_REPORT_SCREEN_RACES_H

#include "report/screen_rows.h"

/* One line for each contender that raced variants in this run; nothing where nobody did, and for winners that an
 * earlier run remembered. */
void screen_races(struct screen *screen);

#endif
