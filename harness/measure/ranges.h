/*
 * ranges.h - NVTX ranges for a profiler (Nsight Systems, ncu): one for each cell, and within it one for whoever's turn
 * it is. There are none, and nothing is loaded, unless the profiler has put its library's name into the process's
 * environment (NVTX_INJECTION64_PATH); a worker keeps that with CUDAL2_ISOLATION=off alone.
 */
#ifndef CUDAL2_MEASURE_RANGES_H
#define CUDAL2_MEASURE_RANGES_H

/* Loads what the profiler named, once in a process; a worker must do so before it is confined. */
void ranges_open(void);

/* From one thread. Turns lie within a cell, else they are passed over; one with the same words as the last goes on with
 * it. */
void ranges_begin_cell(const char *key);
void ranges_turn(const char *contender, const char *stage);
void ranges_end_cell(void);

#endif
