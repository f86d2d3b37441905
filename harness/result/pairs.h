/*
 * pairs.h - the comparisons of a cell: speedups, incomparable pairs, equal paths, A/A.
 */
#ifndef CUDAL2_RESULT_PAIRS_H
#define CUDAL2_RESULT_PAIRS_H

#include "analysis/entry.h"
#include "result/cell.h"

/* Adds the lists to the cell. Every candidate against every baseline in the headline timing; in the other timings the
 * candidates without layout suffix (the -max) against every baseline. */
void pairs_fill(const struct cell_record *r, const struct entries *entries, struct made_cell *out);

#endif
