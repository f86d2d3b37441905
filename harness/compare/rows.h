/*
 * rows.h - from two sides to rows: who is compared with whom, and why not. Private to compare.c.
 */
#ifndef CUDAL2_COMPARE_ROWS_H
#define CUDAL2_COMPARE_ROWS_H

#include "compare/compare.h"

/* A row for each candidate that was ok in BASE, and for each that BASE skipped where NEW did not: tested ones with
 * samples and reference, the others with verdict and reason. Counts what both runs skipped. -1 out of memory. */
int rows_make(struct compare_runs *c);

/* Gives the row the group values of another run in place of NEW's, or makes it INVALID with the reason. */
void row_take_second_look(struct compare_row *row, const struct side *base, const struct side *confirm);

/* Counts the verdicts and puts the worst first: SLOWER, INVALID, MISSING, AMBIGUOUS, then by change. */
void rows_arrange(struct compare_runs *c);

#endif
