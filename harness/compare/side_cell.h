/*
 * side_cell.h - one record as a struct side_cell. Private to side*.c.
 */
#ifndef CUDAL2_COMPARE_SIDE_CELL_H
#define CUDAL2_COMPARE_SIDE_CELL_H

#include "compare/side.h"

/* EXIT_CODE_DATA with the place when a contender is ok and has no block in the headline timing. On failure *out needs
 * no side_cell_free. */
int side_cell_fill(const struct cell_record *r, struct side_cell *out, struct json_at at, struct error *err);
void side_cell_free(struct side_cell *cell);

/* *value: the estimated ln ratio of an A/A copy to its original in the headline timing; left alone when `copy` is no
 * copy or the two cannot be compared. -1 out of memory. */
int side_cell_aa(const struct cell_record *r, const struct contender_record *copy, double *value);

#endif
