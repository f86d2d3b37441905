/*
 * probe.h - the error profile of a contender on another problem than the cell's, on matrices of its own: for cells too
 * short to show what a kernel accumulates in, and to see on this machine what half and float look like.
 */
#ifndef CUDAL2_VERIFY_PROBE_H
#define CUDAL2_VERIFY_PROBE_H

#include "measure/bench.h"
#include "verify/model.h"

/* The cell's problem with the least multiple of its K that is at least MODEL_PROBE_K, so that a kernel for the one
 * takes the other; M and N are halved as long as it would take too much memory. */
struct cudal2_problem probe_problem(const struct bench *bench);
/* Bytes that the least of such problems takes. */
uint64_t probe_bytes(const struct cudal2_problem *cell);

/* Sets the entrant's contender up for `problem`, with the variant that the entrant has, launches it once on N(0,1)
 * inputs and gives its RMS error relative to the output, against fp64 sums. NaN with the reason in why[CUDAL2_WHY] when
 * it does not take the problem or there is no memory; infinite when the output holds a NaN. The entrant itself stays as
 * it is. Non-zero only for device errors (the caller asks entrant_fault). */
int probe_profile(struct bench *bench, const struct entrant *entrant, const struct cudal2_problem *problem,
                  double *profile, char *why, struct error *err);

/* Profiles, billed f32 and f16, of the first living baseline that does both and claims nothing wider, at MODEL_PROBE_K
 * for the cell's dtype; kept on disk by the bench's identity. Zeros where there is no such baseline or it cannot be
 * profiled. Non-zero only when the device is lost. */
int probe_calibrate(struct bench *bench, struct model_calibration *out, struct error *err);

#endif
