/*
 * prescreen.h - the first look at a raced variant. A race has hundreds of variants at most, most of them hopeless: what
 * they are launched before they leave is most of its time.
 */
#ifndef CUDAL2_MEASURE_PRESCREEN_H
#define CUDAL2_MEASURE_PRESCREEN_H

#include "measure/bench.h"

/* What takes this long is told well enough from the others by events around one launch; shorter ones are timed as a
 * graph, where the cost of launching does not count. */
#define PRESCREEN_ENOUGH_NS 50e3
/* A launch that keeps the host this long, and for more than a tenth of the time taken, has loaded its code meanwhile:
 * it is looked at again. */
#define PRESCREEN_LOADS_NS 50e3
#define PRESCREEN_LOADS_SHARE 0.1

/* Sets entrant->estimate_ns by the headline timing. Device timing starts from one launch between two events and, below
 * PRESCREEN_ENOUGH_NS, goes on to segment_estimate's graph. A contender's fault makes it fail; non-zero only when the
 * worker must end. */
int prescreen_first(struct bench *bench, struct entrant *entrant, struct error *err);

/* The same for a variant that has been seen: once more, and the slower of the two counts. */
int prescreen_again(struct bench *bench, struct entrant *entrant, struct error *err);

/* Prepares the variant's device-timed segment (nothing for other timings), as segment_prepare but without a warm-up
 * launch and a first replay: the look has run it. Errors as above. */
int prescreen_prepare(struct bench *bench, struct entrant *entrant, double target_ns, double fastest_ns,
                      struct error *err);

#endif
