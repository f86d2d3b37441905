/*
 * parts.h - what measuring a cell goes to (record.part_seconds), so that a slow one can be told from its record.
 */
#ifndef CUDAL2_MEASURE_PARTS_H
#define CUDAL2_MEASURE_PARTS_H

#include "measure/bench.h"

/* What passed until now is of no part. */
void parts_skip(struct bench *bench);

/* What passed since the last call of either is this part's, but for checks of timed launches, which are PART_CHECKS. */
void parts_end(struct bench *bench, enum part part);

#endif
