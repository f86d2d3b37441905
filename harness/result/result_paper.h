/*
 * result_paper.h - a cell measured by the paper's protocol (measure/paper.h) in the same form as every other: its pairs
 * as speedups[] and aa[], the means of its contenders as timings. There are no blocks behind them, only the pairs'
 * own figures.
 */
#ifndef CUDAL2_RESULT_RESULT_PAPER_H
#define CUDAL2_RESULT_RESULT_PAPER_H

#include "record/record.h"
#include "base/tree.h"

/* Adds `speedups` and, with copies, `aa` to the cell. Beside the pairs themselves every family stands for its layouts
 * as in the paper: of a candidate's layouts the fastest one, against the reference's that makes the speedup smallest.
 */
void result_paper_pairs(struct tree *cell, const struct cell_record *r);

/* timings{} of a contender: in the headline timing the number of its launches and their mean, nothing else. */
cJSON *result_paper_timings(const struct cell_record *r, const struct contender_record *c);

/* Mean of one launch over all of the contender's pairs, ns; NaN when it has none. *n: how many launches. */
double result_paper_mean_ns(const struct cell_record *r, const struct contender_record *c, double *n);

#endif
