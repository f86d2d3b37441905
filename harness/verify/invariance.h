/*
 * invariance.h - whether what a contender answers depends on more than its inputs: rows of C have the same bits
 * whatever M is (batch-invariant), and a launch has the same bits every time (deterministic). Properties, no faults:
 * nobody fails here. Only with config->invariance.
 */
#ifndef CUDAL2_VERIFY_INVARIANCE_H
#define CUDAL2_VERIFY_INVARIANCE_H

#include "measure/bench.h"

#define INVARIANCE_ROWS 300   /* the largest M beside the cell's own; rows that are compared */
#define INVARIANCE_RUNS 20    /* launches on each M, half of them after a second setup */
#define INVARIANCE_VARIANTS 8 /* tried on each M, of a contender that chooses among several by a race */

/* For every living entrant but copies: multiplies the first M rows of one A by one B, of the cell's N and K, for each M
 * of 300, 64, 7, 1 and the cell's own that the contender takes, and compares bits. A contender without variants makes
 * its own choice for each M; of one that races variants, what it lists for that M must agree as well. Fills
 * record->invariance: {"batch_invariant", "deterministic", "m":[...], "runs", "variants", "differs", "unsteady",
 * "reason"}; an answer that could not be had is left out, with its reason. Non-zero only when the worker must end. */
int invariance_check(struct bench *bench, struct error *err);

#endif
