/*
 * thin.h - what of a result goes into its file. A tree made from the journal has everything; the file of a
 * thousand shapes leaves out what tables do not read and the journal tells (docs/results.md).
 */
#ifndef CUDAL2_RESULT_THIN_H
#define CUDAL2_RESULT_THIN_H

#include "result/result.h"

/* Takes out of every cell, after the summary was made of all of it:
 *   speedups and A/A comparisons outside the headline, speedups of a candidate in one layout, and equal_path;
 *   n and groups of a speedup that are the cell's blocks and groups;
 *   of a contender: the family that its name tells, the role "baseline", percent_of_roofline (from floor_ns), timings
 *   not taken, min_ns and sd_ns, equal_path, launches, the rung "graph", the times of its race, and a verification
 *   like that of the first contender. */
void result_thin(cJSON *result);

/* Puts back what can be told from the rest of a cell that was read from a file: family, role, percent_of_roofline, n,
 * groups. A family goes into the contender's JSON, which owns its text. False when out of memory. */
bool thin_widen(struct result_cell *cell);

#endif
