/*
 * offenders.h - contenders that cost a worker again and again. Each hang costs a time limit and each crash a restart,
 * so one that did it in OFFENDER_CELLS cells of a run is not tried in the others; but for hangs only if that is one in
 * OFFENDER_SHARE of the cells that it took part in, for a plugin may hold another kernel for each shape. What is
 * counted are records, so a resumed run goes on with the count of its journal.
 */
#ifndef CUDAL2_RUN_OFFENDERS_H
#define CUDAL2_RUN_OFFENDERS_H

#include "worker/cell.h"

#define OFFENDER_CELLS 3
#define OFFENDER_SHARE 4

enum offence {
    OFFENCE_HANG,
    OFFENCE_CRASH,
    OFFENCE_EXIT,
    OFFENCE_DEVICE,
    OFFENCE_TAMPER,
    OFFENCE_STATE,
    OFFENCE_KILL,
    OFFENCE_COUNT
};

struct offender {
    char name[RECORD_NAME_MAX];
    unsigned cells[OFFENCE_COUNT]; /* in which it did this */
    unsigned tried;                /* cells that it took part in */
};

#define OFFENDER_MAX_VARIANTS 24

struct offenders {
    struct offender list[RECORD_MAX_CONTENDERS];
    size_t n;
    /* Variants of a search or of a baseline that cost a worker: there are others to choose from, so once is enough. */
    struct exclusion variants[OFFENDER_MAX_VARIANTS];
    size_t n_variants;
};

/* Adds what the record of one finished cell says. */
void offenders_count(struct offenders *o, const struct cell_record *record);

/* Adds the blamed one to the request's exclusions; with a variant's tag in its stage ("tune:1a2b3c") only that variant
 * is out, of this cell and, until the run is interrupted, of all others; where one more fits, all of the contender's
 * are out of this cell. False when it is already out, or no more fit. */
bool offenders_blame(struct offenders *o, struct cell_request *request, const struct exclusion *blamed);

/* Adds an exclusion to the request for every contender that is to be left out: status "left_out", reason "left out
 * after 3 hangs". */
void offenders_exclude(const struct offenders *o, struct cell_request *request);

#endif
