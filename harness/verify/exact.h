/*
 * exact.h - the exact-match criterion of paper 2.3.2: on {0,1} inputs every partial sum is a non-negative integer that
 * never falls, so where the true sum is below the limit of exact integers (2048 for fp16, 256 for bf16) any
 * accumulation order and width gives exactly that sum.
 */
#ifndef CUDAL2_VERIFY_EXACT_H
#define CUDAL2_VERIFY_EXACT_H

#include "measure/bench.h"

/* Largest sum (exclusive) that the dtype holds exactly together with every smaller integer. */
double exact_limit(enum cudal2_dtype dtype);

/* The same for a problem's elements with alpha and beta, in size: they are multiples of 1/8, so alpha times a sum and
 * beta times a C of 0 or 1 stay exact below it, in whatever order. */
double exact_limit_of(const struct cudal2_problem *problem);

/* Probability of a 1, chosen from K so that at least 90% of the sums lie strictly between 0 and the limit: the mean sum
 * K p^2, times |alpha|, is at most half the limit (at least ten standard deviations below it for fp16 and bf16 alike),
 * 1/2 where K is small enough, and more where so few products would leave many sums at 0 (K < 11). */
double exact_density(const struct cudal2_problem *problem);

/* Inputs of one seed on the device and their reference, against which any number of entrants can be checked. Some of
 * its elements have been computed on the CPU too. */
struct exact_case {
    double density, limit;
    uint64_t seed;    /* of A in `set`; B has the next one, C where it is an input OPERANDS_SEED_C beside it */
    float *reference; /* device memory, m*n floats */
    size_t set; /* which of an entrant's sets is checked: another one for each seed; the same values for everyone */
};

/* Fills bench->operands with the case's inputs and computes the reference. exact_release frees it. EXIT_CODE_INTERNAL
 * when the device's reference is not what the CPU finds. */
int exact_prepare(struct bench *bench, uint64_t seed, struct exact_case *out, struct error *err);
void exact_release(struct bench *bench, struct exact_case *exact);

/* Poisons C, launches once, compares. *verdict is ok when it passed, else launch_error or wrong_result (why the
 * launch failed, or the first wrong element, in why[CUDAL2_WHY]); non-zero only for device errors (the caller asks
 * entrant_fault). Updates the entrant's verification record. */
int exact_check(struct bench *bench, struct entrant *entrant, const struct exact_case *exact, enum verdict *verdict,
                char *why, struct error *err);

#endif
