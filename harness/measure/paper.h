/*
 * paper.h - `--protocol paper`: the paper's own evaluation (section 2.4), pair by pair: a warm-up of 10 s, then at
 * least 30 s of iterations; each runs candidate and reference once in random order, both timed by Listing 1's events;
 * the score is the mean over iterations of t_ref / t_candidate - 1. In server mode the gap is waited before each
 * launch.
 */
#ifndef CUDAL2_MEASURE_PAPER_H
#define CUDAL2_MEASURE_PAPER_H

#include "measure/bench.h"

/* Runs every candidate x baseline pair of living entrants on the current operands (each set up on them); without a
 * living candidate the first baseline's family stands against the other baselines, and a copy (A/A) always meets its
 * original alone. Appends one object to record->paper_pairs for each: {candidate, reference, iterations,
 * batches, mean_of_ratios, ci95:[lo,hi], geomean, candidate_mean_ns, reference_mean_ns}, gaps:{n, mean_ns, least_ns,
 * greatest_ns} in server mode (idle time that really passed), and health (clocks, power, temperature, throttle reasons,
 * seen once a second) where the device knows it. The interval is from 20 batch means, because neighbouring iterations
 * are not independent. converged says that there is a pair, worst_pair which interval is the widest. Non-zero only when
 * the worker must end; a contender's fault, or a time below the arithmetic floor, drops all of its pairs. */
int paper_run(struct bench *bench, struct error *err);

#endif
