/*
 * named.h - whether everybody who was named, by the config or on the command line, was measured somewhere. The ledger
 * and `verify` count the records of a run's cells and ask at its end; whose name brought which contender the worker's
 * environment tells (its "named").
 */
#ifndef CUDAL2_RUN_NAMED_H
#define CUDAL2_RUN_NAMED_H

#include "config/config.h"
#include "record/record.h"

/* What became of one contender over all cells. */
struct named_tally {
    char name[RECORD_NAME_MAX];
    size_t measured;      /* cells with status ok */
    enum verdict verdict; /* of the cell that tells most about why not; ok: of none */
    char word[RECORD_WORD_MAX], stage[16], reason[RECORD_REASON_MAX]; /* its own; word: of the verdict */
};

#define NAMED_MAX (2 * RECORD_MAX_CONTENDERS)

struct named {
    struct named_tally list[NAMED_MAX];
    size_t n;
};

/* Adds what the record of one finished cell says. A copy stands for nobody; a place behind the winner of a search
 * ("x-nn+2") that was measured is its contender measured. */
void named_count(struct named *named, const struct cell_record *record);

/* EXIT_CODE_INCOMPARABLE when a name brought nobody who was measured, or one of those it brought failed in every cell;
 * the line names the first and why, and how many more there are. A name that is optional may be unavailable,
 * unsupported or skipped everywhere. `origins`: the environment's {name: [contender, ...]}; NULL: nobody knows, 0. */
int named_verdict(const struct named *named, const cJSON *origins, const struct config *config, struct error *err);

#endif
