/*
 * variants.h - which variants of a contender race in a cell, and where they come from. In this order:
 *
 *   search     what the tuner asked for (bench->search): its list, or with a list of none the contender's own
 *   tuned      the tuning table's winner for this very problem, and its runner-up if that is within 2%
 *   cache      the winner of an earlier race for this problem, verified then
 *   neighbour  the winners of the nearest problems in the table, the model's choice (ranked) and some of the
 *              contender's own (measure/choose.h); by config->choice all of them race, or the first is taken
 *   own        what the contender lists
 *
 * The source is told in the record's tuning object when a table, the model or a search had a say; an absent one is own
 * or cache.
 */
#ifndef CUDAL2_MEASURE_VARIANTS_H
#define CUDAL2_MEASURE_VARIANTS_H

#include "measure/bench.h"

#define RACE_MAX_VARIANTS 512

/* Fills out[RACE_MAX_VARIANTS] and record->tuning. Returns how many race, or a negative cudal2_status with the reason
 * in why[CUDAL2_WHY]. A single one needs no race. */
int variants_gather(struct bench *bench, struct entrant *entrant, struct cudal2_variant *out, char *why);

/* Of a contender of whose list `n` came, and no winner: unsupported where it has nothing for the problem, else
 * setup_error. */
enum verdict variants_refused(int n);

/* Whether the tuner chooses this entrant's variants: they are then judged one by one and not remembered. */
bool variants_searched(const struct bench *bench, const struct entrant *entrant);

/* Remembers a verified winner on disk by GPU, driver, libraries, problem, mode, timing and cache state. Nothing for
 * one that a table has for this very problem, or that came from a search. */
void race_remember(const struct bench *bench, const struct entrant *entrant);

/* Forgets what was remembered, so that the next run races again: for a winner that could not be set up or was wrong. */
void race_forget(const struct bench *bench, const struct entrant *entrant);

#endif
