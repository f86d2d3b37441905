/*
 * screen_energy.h - what contenders make of a joule, for the screen.
 */
#ifndef CUDAL2_REPORT_SCREEN_ENERGY_H
#define CUDAL2_REPORT_SCREEN_ENERGY_H

#include "report/table.h"
#include "result/result.h"

/* A row for each contender that was asked in any cell (--energy): in how many of them it was measured; and of the cells
 * in which all were measured its mean GFLOP a joule (geometric) and the joules of one launch in each, added. No rows
 * where nobody was asked. */
void screen_energy(const struct result *result, struct table *out);

#endif
