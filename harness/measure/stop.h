/*
 * stop.h - when a cell has enough blocks. Called by cell_loop.c; settings from model/config.h.
 */
#ifndef CUDAL2_MEASURE_STOP_H
#define CUDAL2_MEASURE_STOP_H

#include "config/config.h"
#include "record/record.h"

/* Launches this long are at the power limit: they scatter by 2% within a run and differ by 1% between runs (0.3%
 * below), and a cell that asks for much less ends at its cap. */
#define STOP_LONG_NS 1.6e6

/* STOP_CAPPED: max_blocks without converging; cell_loop.c also sets it where the cell's time is up or will not do
 * (stop_is_hopeless), or no contender is left.
 * STOP_INCOMPARABLE: no pair can be compared; such a cell has not converged, it had nothing to converge. */
enum stop_decision { STOP_CONTINUE, STOP_CONVERGED, STOP_CAPPED, STOP_INCOMPARABLE };

/* The half-width that the pairs of a cell need, by what its series tell so far: the mode's; offline, where that is
 * more, the one for long launches, or a tenth of the lead up to the one for leads. All pairs need the same, A/A too.
 * Without a candidate and a baseline to compare there is no lead. */
double stop_wanted(const struct stop_config *stop, const struct cell_record *record);

/* Looks at the record's headline series over every pair that decides (the faster layout and the -max of each candidate
 * family x baseline and -max of baselines, A/A copy x original; without a candidate every baseline against the first,
 * whose family's -max plays the candidate's part; where the config has near_baselines, without the baselines that are
 * far behind the fastest) and fills converged, worst_half_width, worst_pair and coarse. A pair
 * is never known better than the clock's steps let it be (analysis/quantization.h). Called after each finished block;
 * looks only at min_blocks and every look_every after it. */
enum stop_decision stop_decide(const struct stop_config *stop, struct cell_record *record);

/* The same look without the question, for a cell that ends for another reason (its time is up) between two looks or
 * before the first: its record says how wide its intervals really are. Fewer than min_blocks that saw no slowdown never
 * converge. */
void stop_judge(const struct stop_config *stop, struct cell_record *record);

/* Whether a cell that has been measured for so many seconds will not converge by its cap: the interval that its last
 * look found widest, narrowing with the square root of the time, would still be 1.25 times as wide as wanted. False
 * before the share of the cap that the config names, and without one; also while the interval is too wide to be left at
 * that (hopeless_within). */
bool stop_is_hopeless(const struct stop_config *stop, const struct cell_record *record, double seconds);

#endif
