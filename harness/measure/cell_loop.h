/*
 * cell_loop.h - the measuring of a cell: groups of blocks until the stop rule is content.
 */
#ifndef CUDAL2_MEASURE_CELL_LOOP_H
#define CUDAL2_MEASURE_CELL_LOOP_H

#include "measure/bench.h"

/* Measures the living entrants (chosen variants in entrant->variant). Every group has matrices at other places, fresh
 * inputs and fresh setups. Fills groups, blocks, converged and all series. Non-zero only when the worker must end. */
int cell_loop_run(struct bench *bench, struct error *err);

#endif
