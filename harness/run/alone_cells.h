/*
 * alone_cells.h - the cells in which baselines are timed again without plugins (alone.h): drawn among those in which
 * one counts beside a candidate, with the times that the run has of them. Called by alone.c.
 */
#ifndef CUDAL2_RUN_ALONE_CELLS_H
#define CUDAL2_RUN_ALONE_CELLS_H

#include "run/alone_judge.h"
#include "run/ledger.h"

struct alone_name {
    char name[RECORD_NAME_MAX];
    bool candidate;
    bool suspect; /* a baseline whose time beside the plugins was over the margin in every look */
    bool without; /* it was timed in a worker without the plugin in question */
    bool beside;  /* it was timed in one with it */
    struct alone_looks looks[ALONE_MEASURES];
    struct alone_pairs pairs[ALONE_MEASURES];
    enum alone_verdict verdict[ALONE_MEASURES];
    struct alone_interval longer[ALONE_MEASURES]; /* where the verdict says so */
};

struct alone_cell {
    size_t cell; /* of the plan */
    bool open;   /* more is to be timed in it */
    bool given;  /* of the workers that are up now one has it */
    size_t n;
    struct alone_name list[RECORD_MAX_CONTENDERS];
};

/* Draws `wanted` cells, by what nobody can foresee, of those in which a candidate and a baseline have a time and no
 * verdict. *out is owned by the caller (free); *n may be 0. */
int alone_cells_draw(const struct ledger *ledger, size_t wanted, struct alone_cell **out, size_t *n, struct error *err);

/* A contender of the cell; added where it is new. NULL: there is no room, or it is an A/A copy. */
struct alone_name *alone_cells_name(struct alone_cell *c, const struct contender_record *r);

/* Of the times of its first blocks, so many at most; 0 where it has none, or a verdict. */
double alone_cells_time(const struct cell_record *record, const struct contender_record *r, enum alone_measure measure,
                        size_t blocks);

#endif
