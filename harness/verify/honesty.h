/*
 * honesty.h - what contenders do while they are timed (docs/trust.md has the threats). A contender that was right when
 * it was verified may still skip, defer or replay work later, so at blocks that the supervisor's seed chooses, and
 * once more when the cell is over, every living entrant is checked between two blocks. (Beside that each launch that is
 * timed is a check: measure/timed.h.)
 *
 * Fresh: one of its sets gets inputs never seen before, every C is poisoned and every guard patterned; then the
 * very segment that is timed runs once more, and C must be wholly written, right (Freivalds), still the same a little
 * later, A and B untouched, the guards intact, and the clocks agree with each other.
 *
 * Between (the first time, then by turns that are drawn, and the last where launches were seen to begin early): a
 * segment of the same topology, with some elements of C, and often some inputs, changed before each launch and a count
 * of what is left after it, so that no launch inside a segment can be skipped because another wrote the same C, or
 * because C looks right; the last outputs must be right within the rounding of the dtype. On CUDA half of the launches,
 * drawn, have work ahead of them that lets them begin early, and brings A, B and a poisoned C late (probe.h, veil): a
 * launch that may overlap the one ahead (programmatic stream serialization) must wait for its end before it reads or
 * writes.
 *
 * Novel (the first time, then by turns that are drawn): a launch on new inputs takes no longer than the timed
 * ones (replay_check.h). Where the segment of Fresh was such a launch and took no longer, the contender's next timed
 * launch is judged instead (timed_counts.owed).
 *
 * Escape (the first time, on CUDA, for what is not timed as a graph): one launch behind a held stream must leave C
 * alone.
 *
 * To a contender, a check is a segment like any other until it is over. Times taken in checks are dropped, because
 * fresh inputs leave the caches in another state than a counted segment finds. Their cost is in phase "other".
 */
#ifndef CUDAL2_VERIFY_HONESTY_H
#define CUDAL2_VERIFY_HONESTY_H

#include "measure/bench.h"

/* A bench's between_blocks. Does nothing but at the chosen one. An entrant that is caught has failed with its verdict
 * (docs/results.md); non-zero only when the worker must end. */
int honesty_after_block(struct bench *bench, struct error *err);

/* Called when the cell's measuring is over, with the entrants still set up: the last check, or the only one in a cell
 * that ended before its block came. */
int honesty_finish(struct bench *bench, struct error *err);

#endif
