/*
 * alone_timing.h - the state of alone.c, and the workers that time its cells. Called by alone.c.
 */
#ifndef CUDAL2_RUN_ALONE_TIMING_H
#define CUDAL2_RUN_ALONE_TIMING_H

#include "run/alone.h"
#include "run/alone_cells.h"

#define ALONE_NOBODY SIZE_MAX

struct alone {
    const struct alone_request *request;
    cJSON *config; /* owned; of the run, with less time for each cell */
    size_t n_cells, n_plugins, asked, disturbed;
    struct exclusion plugins[START_MAX_REFUSED];
    struct alone_cell *cells; /* owned */
    size_t present;           /* the one plugin that the workers load, or ALONE_NOBODY */
    bool screening;
    bool last;       /* the round is the last one: time is up */
    unsigned turn;   /* of screening, or the round */
    unsigned phases; /* so far, for seeds */
    uint64_t pairs_began_ns;
};

/* The run's config with cells of ALONE_BLOCKS, or for pairs of a time that is the same without a plugin and beside it.
 * Owned by the caller, NULL out of memory. */
cJSON *alone_config(const struct alone_request *request, bool for_pairs);

/* One fresh worker on each device times the cells that are open, with that plugin (ALONE_NOBODY: with none), and its
 * times go where `screening`, `present` and `turn` say. Nothing where the run is stopped. */
int alone_time_cells(struct alone *a, size_t present, struct error *err);

bool alone_is_stopped(const struct alone *a);

#endif
