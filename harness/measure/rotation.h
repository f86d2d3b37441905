/*
 * rotation.h - `--cache rotate`: no operand of a timed launch is still in the cache. Where a launch's own operands are
 * twice the cache it needs nothing; where the other sets that a row uses in between hold the cache's size they drive it
 * out; else the cache is emptied, and then no set is used twice. A launch that is timed by itself always finds it
 * emptied. So does a row that is not captured, whose host code is told the set of each launch. Called by segment.c, and
 * by cell.c for the record.
 */
#ifndef CUDAL2_MEASURE_ROTATION_H
#define CUDAL2_MEASURE_ROTATION_H

#include "base/json.h"
#include "measure/bench.h"

/* Whether the cache must be emptied before the entrant, prepared and estimated, is timed like this. False where the
 * config asks for another cache state. */
bool rotation_empties(const struct bench *bench, const struct entrant *entrant, enum timing timing);

/* Whether the host code of the entrant, which is prepared, is told the set of each launch at every timing, as on the
 * rungs blocked and events. What it learns of one row must say nothing of the next: the order is drawn for each, no set
 * is used twice in one, and the cache is emptied ahead of it. */
bool rotation_is_told(const struct bench *bench, const struct entrant *entrant);

/* Fewer launches where the sets are so few and small that one would come round while it is still cached. */
void rotation_limit(const struct bench *bench, struct device_shape *shape);
/* The same where all sets would come round. */
void rotation_limit_told(const struct bench *bench, const struct entrant *entrant, struct device_shape *shape);

/* The order of a row's sets (device_shape.order): drawn anew for each row that is prepared, and where it is told for
 * each timing; 0 where the config asks for another cache state. */
uint64_t rotation_order(struct bench *bench);

/* {"rotation":"full"|"unknown","by":"size"|"sets"|"flush","sets":N,"bytes":B,"cache_bytes":C,"reason":"..."}: how it
 * was done in the headline timing (flush: for one contender at least); N sets of one contender hold B bytes. Unknown,
 * with the reason: the device does not say how large its cache is. NULL where the config asks for another cache state.
 * Owned by the caller. */
cJSON *rotation_of(const struct bench *bench);

#endif
