/*
 * cublaslt_enumerate.h - more of cuBLASLt's algorithms for one problem than its heuristic tells: the heuristic's
 * answers and what the library itself accepts around them. For the family cublaslt-exhaustive. Called by cublaslt.c.
 */
#ifndef CUDAL2_BASELINES_CUBLASLT_ENUMERATE_H
#define CUDAL2_BASELINES_CUBLASLT_ENUMERATE_H

#include "cublaslt_algorithms.h"

/* The union of
 *   1. the heuristic's answers (lt_all_algorithms), of which the first LT_SEEDS are varied:
 *   2. one attribute changed, but for the tile,
 *   3. two of them at once, drawn by the problem's sizes,
 *   4. the tile and one or two of them, drawn likewise,
 * of those that cublasLtMatmulAlgoCheck accepts within workspace_bytes, without repetition, in this order. 2, 3 and 4
 * get a third each of the room that 1 leaves, and LT_DRAWS tries. At most `capacity` (512 in the harness) are written
 * to out. Returns as lt_heuristic. */
#define LT_SEEDS 8
#define LT_DRAWS 8192
int lt_enumerate(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out, int capacity,
                 char *why);

#endif
