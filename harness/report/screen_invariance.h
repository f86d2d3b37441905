/*
 * screen_invariance.h - which contenders give a row of C the same bits for every M, and every time, for the screen.
 */
#ifndef CUDAL2_REPORT_SCREEN_INVARIANCE_H
#define CUDAL2_REPORT_SCREEN_INVARIANCE_H

#include "report/table.h"
#include "result/result.h"

/* A row for each contender that was asked in any cell: in how many cells the answer was yes, of those with an answer.
 * No rows where nobody was asked (--invariance). */
void screen_invariance(const struct result *result, struct table *out);

#endif
