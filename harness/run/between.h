/*
 * between.h - a check between the devices of a run: a few short cells that every one of them measures, whoever measured
 * them for the result. Times may differ from GPU to GPU; speedups should not by more than they do when one GPU measures
 * a cell twice.
 */
#ifndef CUDAL2_RUN_BETWEEN_H
#define CUDAL2_RUN_BETWEEN_H

#include "record/record.h"
#include "run/devices.h"

#define BETWEEN_CELLS 4
/* A run of so many cells has one, and one more for each BETWEEN_EVERY: under a hundredth of its time with two. */
#define BETWEEN_LEAST 40
#define BETWEEN_EVERY 250

struct between {
    size_t cells[BETWEEN_CELLS], n; /* of the plan */
    unsigned given[DEVICES_MAX];    /* how many of them the worker was given */
    char device[DEVICES_MAX][64];   /* UUID, or what the run calls it */
    cJSON *looks;                   /* owned; an array of what was measured */
};

/* Chooses cells of a run of several workers; `order` has the plan's cells, those that take longest first. */
void between_choose(struct between *b, const size_t *order, size_t n_cells, int workers);

/* The next cell for this worker: its place in b->cells, or -1. */
int between_next(struct between *b, int worker);

/* A cell of the plan was measured, for the result (`again` false) or for this check; others are left alone. */
void between_add(struct between *b, int worker, size_t cell, bool again, const struct cell_record *record);

/* All that was measured, as it goes into the journal's last line: [{"device","cell","again",
 * "candidates_ns":{name: median},"references_ns":{...}}], owned by the caller; NULL where there is nothing. */
cJSON *between_take(struct between *b);

void between_free(struct between *b);

#endif
