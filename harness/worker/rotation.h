/*
 * rotation.h - what `--cache rotate` achieved in a cell, for its record: whether every operand of a timed launch had
 * left the cache since it was used last. cell.c asks when the cell has been measured.
 */
#ifndef CUDAL2_WORKER_ROTATION_H
#define CUDAL2_WORKER_ROTATION_H

#include "base/json.h"
#include "measure/bench.h"

/* {"rotation":"full"|"partial"|"none","sets":N,"bytes":B,"cache_bytes":C,"reason":"..."}: N sets of one contender hold
 * B bytes. Full: what is used between two uses of a set is at least the cache. The reason is there unless it is full.
 * NULL where the config asks for another cache state. Owned by the caller. */
cJSON *rotation_of(const struct bench *bench);

#endif
