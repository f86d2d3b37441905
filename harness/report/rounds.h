/*
 * rounds.h - what only a journal has: the median of each contender in each round (a group of blocks with fresh
 * allocations and inputs, the unit of every interval).
 */
#ifndef CUDAL2_REPORT_ROUNDS_H
#define CUDAL2_REPORT_ROUNDS_H

#include "record/record.h"

struct round {
    const struct cell_record *cell;
    const struct contender_record *contender;
    enum timing timing;
    unsigned group; /* from 0 */
    size_t blocks;  /* that this timing was taken in */
    double median_ns;
    bool slowed;      /* a thermal or hardware slowdown fell into it; no table counts it */
    size_t n_healthy; /* rounds of this contender that were not slowed */
};

/* Non-zero ends the reading with that code; err is set by the visitor. */
typedef int (*round_visitor)(void *context, const struct round *round, struct error *err);

/* Visits, in the order of the journal that belongs to `path` (source.h), every round of every contender that is ok; A/A
 * copies too. timing is an enum timing; -1: each cell's headline. EXIT_CODE_DATA as journal_read and
 * source_find_journal, and when the journal beside a result is of another run. */
int rounds_visit(const char *path, int timing, round_visitor visit, void *context, struct error *err);

#endif
