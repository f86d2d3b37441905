/*
 * variants.h - which variants of a contender race in a cell, and where they come from. In this order:
 *
 *   search     what the tuner asked for (bench->search): its list, or with a list of none the contender's own
 *   tuned      the tuning table's winner for this very problem, and its runner-up if that is within 2%
 *   neighbour  the winners of the nearest problems in the table, at most three different ones that can be set up here
 *   cache      the winner of an earlier race, verified then
 *   own        what the contender lists
 *
 * The source is told in the record's tuning object when a table or a search had a say; an absent one is own or cache.
 */
#ifndef CUDAL2_MEASURE_VARIANTS_H
#define CUDAL2_MEASURE_VARIANTS_H

#include "measure/bench.h"

#define RACE_MAX_VARIANTS 100

/* Fills out[RACE_MAX_VARIANTS] and record->tuning. Returns how many race, or a negative cudal2_status with the reason
 * in why[CUDAL2_WHY]. A single one needs no race. */
int variants_gather(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why);

/* Whether the tuner chooses this entrant's variants: they are then judged one by one and not remembered. */
bool variants_searched(const struct bench *bench, const struct entrant *entrant);

/* Remembers a verified winner on disk by GPU, driver, libraries, problem, mode, timing and cache state. Nothing for
 * one that came from a table or a search. */
void race_remember(const struct bench *bench, const struct entrant *entrant);

/* Forgets what was remembered, so that the next run races again: for a winner that could not be set up or was wrong. */
void race_forget(const struct bench *bench, const struct entrant *entrant);

#endif
