/*
 * timed_error.h - how far off timed outputs are from the true product, over all that was judged. A single launch may
 * err by more than verification takes (judge.h), all of them together may not. And against what the same contender
 * showed in verification: who changes to other arithmetic is told so. Up to what baselines err by, half as much again,
 * that is a remark, for a library may choose another order of sums when it likes. Beyond, twice the error that it
 * showed is wrong: what was timed was not verified. So is, whatever baselines err by, three times what it showed, where
 * every launch is judged alone.
 */
#ifndef CUDAL2_MEASURE_TIMED_ERROR_H
#define CUDAL2_MEASURE_TIMED_ERROR_H

#include "measure/bench.h"

/* From this ratio on, either way, more than chance has changed (test_judge). */
#define TIMED_ERROR_CHANGES 1.5
/* Of fewer elements nothing is said. */
#define TIMED_ERROR_LEAST 100.0
/* Together they are wrong from this ratio to verification's bound on, which an RMS of so many elements of so many
 * launches does not reach by chance (verify/model.h, MODEL_RMS_NEAR). */
#define TIMED_ERROR_WRONG 1.25
#define TIMED_ERROR_WRONG_LEAST 1000.0
#define TIMED_ERROR_WRONG_LAUNCHES 16u
/* Of a device that judges segments: inputs are not spread there, and scatter less. */
#define TIMED_ERROR_WRONG_SEGMENTS 8u
/* So they are from this ratio to what the contender showed on, where that is more than a share of the bound, which is
 * three times what baselines and theory say (verify/model.h). */
#define TIMED_ERROR_OTHER 2.0
#define TIMED_ERROR_OTHER_SHARE 0.5
/* And from this ratio on, however small the error, where that many launches were each judged by themselves (the CPU
 * device): honest ones stay below 1.4 there. */
#define TIMED_ERROR_ALONE 3.0

/* So many of the elements of one output have errors of their own: all share the few inputs of a short row or column. */
double timed_error_independent(const struct cudal2_problem *p, double elements);

/* Counts the errors of `elements` elements, or of rows of a projection, which are as large in their units. */
void timed_error_add(struct timed_counts *counts, const struct probe_difference *difference, double elements);
/* The same of single elements: found[i] is what lay at spots[i]. */
void timed_error_add_spots(struct timed_counts *counts, const struct probe_spot *spots, const double *found, size_t n);

/* The RMS error of what was judged over that of verification; NaN where one of them is not known or 0. */
double timed_error_ratio(const struct entrant *entrant);
/* Wrong_result with the reason in why[CUDAL2_WHY] when all that was judged so far errs by more than verification would
 * have taken, or by other arithmetic than it saw; else ok. */
enum verdict timed_error_judge(const struct entrant *entrant, char *why);
/* Whether the ratio is more than the scatter of as many elements as were looked at, there and here. */
bool timed_error_changes(const struct entrant *entrant);

#endif
