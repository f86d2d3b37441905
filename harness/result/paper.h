/*
 * paper.h - a cell measured by the paper's protocol (measure/paper.h) in the same form as every other: its pairs as
 * speedups and A/A, the means of its contenders as timings. There are no blocks behind them, only the pairs' own
 * figures.
 */
#ifndef CUDAL2_RESULT_PAPER_H
#define CUDAL2_RESULT_PAPER_H

#include "result/cell.h"

/* Adds speedups and, with copies, A/A to the cell. Beside the pairs themselves every family stands for its layouts as
 * in the paper: of a candidate's layouts the fastest one, against the reference's that makes the speedup smallest. */
void paper_fill_pairs(const struct cell_record *r, struct made_cell *out);

/* The headline timing of a contender: the number of its launches and their mean, nothing else. Not taken without any.
 */
void paper_fill_timing(const struct cell_record *r, const struct contender_record *c, struct result_timing *out);

/* Mean of one launch over all of the contender's pairs, ns; NaN when it has none. *n: how many launches. */
double paper_mean_ns(const struct cell_record *r, const struct contender_record *c, double *n);

#endif
