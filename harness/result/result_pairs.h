/*
 * result_pairs.h - the comparisons of a cell: speedups[], incomparable[], equal_path[], aa[].
 */
#ifndef CUDAL2_RESULT_RESULT_PAIRS_H
#define CUDAL2_RESULT_RESULT_PAIRS_H

#include "analysis/entry.h"
#include "base/tree.h"

/* Adds the members to the cell. Every candidate against every baseline in the headline timing; in the other
 * timings the candidates without layout suffix (the -max) against every baseline. */
void result_pairs(struct tree *cell, const struct cell_record *r, const struct entries *entries);

#endif
