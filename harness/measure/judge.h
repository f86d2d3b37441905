/*
 * judge.h - whether an output is right but for rounding: errors of projections, elements and rows against the RMS error
 * that is allowed to a contender. What is allowed follows from the cell's verification (verify/stage.c); before it, and
 * without it, an output must only not be gross. All errors are in units of what they scale with (device/probe.h).
 */
#ifndef CUDAL2_MEASURE_JUDGE_H
#define CUDAL2_MEASURE_JUDGE_H

#include "measure/bench.h"

/* RMS error of what is not known any closer. */
#define JUDGE_GROSS 0.25
/* The largest error in units of the RMS that is allowed, which is three times what a contender has shown, or more: of
 * an element, and of a row of the projection, which is a sum of many errors. */
#define JUDGE_LARGEST_ELEMENT 8.0
#define JUDGE_LARGEST_ROW 6.0

/* What the entrant is allowed: entrant->error_allowed, or JUDGE_GROSS where nothing is known. */
double judge_allowed(const struct entrant *entrant);

/* An RMS over few errors scatters: what it may be, in units of what that of many is. */
double judge_scatter(double elements);

/* The floor for probe_product: what the smallest numbers of the dtype lose. */
double judge_floor(enum cudal2_dtype dtype, double allowed);

/* Ok when it passes; else wrong_result or input_mutated, with the reason in why[CUDAL2_WHY]. */

/* A projection of `rows` rows. */
enum verdict judge_product(const struct probe_difference *difference, int64_t rows, double allowed, char *why);

/* `elements` elements of whole rows (probe_ops.band). */
enum verdict judge_band(const struct probe_difference *difference, double elements, double allowed, char *why);

/* Single elements: found[i] is what lay at spots[i]. */
enum verdict judge_spots(const struct probe_spot *spots, const double *found, size_t n, double allowed, char *why);

#endif
