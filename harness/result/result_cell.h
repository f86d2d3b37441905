/*
 * result_cell.h - one cell of result.json from one record.
 */
#ifndef CUDAL2_RESULT_RESULT_CELL_H
#define CUDAL2_RESULT_RESULT_CELL_H

#include "record/record.h"

/* What the device can do at its maximum clocks; 0 unknown. */
struct peak {
    double flops, flops_f32, bytes_per_s; /* flops_f32: 0 where it is not told apart */
};

/* The roofline, in seconds: arithmetic at the peak, or A, B and C moved once through DRAM. 0 when unknown. A problem in
 * the L2 can beat the second; only the first refutes a time (bench_is_plausible). */
double peak_floor_seconds(const struct peak *peak, const struct cudal2_problem *problem);

/* Owned by the caller; NULL out of memory. Form: docs/results.md. */
cJSON *result_cell(const struct cell_record *r, const struct peak *peak);

#endif
