/*
 * offenders.h - contenders that cost a worker again and again. Each hang costs a time limit and each crash a restart,
 * so one that did it in OFFENDER_CELLS cells of a run is not tried in the others. What is counted are records, so a
 * resumed run goes on with the count of its journal.
 */
#ifndef CUDAL2_RUN_OFFENDERS_H
#define CUDAL2_RUN_OFFENDERS_H

#include "worker/cell.h"

#define OFFENDER_CELLS 3

enum offence { OFFENCE_HANG, OFFENCE_CRASH, OFFENCE_EXIT, OFFENCE_DEVICE, OFFENCE_TAMPER, OFFENCE_COUNT };

struct offender {
    char name[RECORD_NAME_MAX];
    unsigned cells[OFFENCE_COUNT]; /* in which it did this */
};

struct offenders {
    struct offender list[RECORD_MAX_CONTENDERS];
    size_t n;
};

/* Adds what the record of one finished cell says. */
void offenders_count(struct offenders *o, const struct cell_record *record);

/* Adds an exclusion to the request for every contender that is to be left out: status "left_out", reason "left out
 * after 3 hangs". */
void offenders_exclude(const struct offenders *o, struct cell_request *request);

#endif
