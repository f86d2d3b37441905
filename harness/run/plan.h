/*
 * plan.h - the cells of a run in the order they are measured, computed alike by every process from config and seed.
 *
 * The order is the config's own: modes, then accumulate types, then shapes. A cell's seed depends on the run's seed and
 * the cell's key only, so neither the order nor a split over machines changes what a cell sees.
 */
#ifndef CUDAL2_RUN_PLAN_H
#define CUDAL2_RUN_PLAN_H

#include "base/digest.h"
#include "config/config.h"

struct plan_cell {
    struct cudal2_problem problem;
    enum mode mode;
    const char *label;   /* the config's, or "" */
    uint64_t seed;       /* of every random decision in this cell */
    size_t place;        /* in the whole plan, which may be cut into shards */
    double cost_seconds; /* modelled, for the ETA and for shards */
};

struct plan {
    struct plan_cell *cells; /* owned */
    size_t n_cells;
    char hash[DIGEST_HEX]; /* of all cells, seeds included */
};

/* `config` must outlive the plan (labels). `on_cuda` resolves dtype native. Duplicate shapes of the config are an error
 * of config_load, not of this. Accumulation in f16 exists for f16 operands only: other dtypes have one cell a shape,
 * with accumulate f32. EXIT_CODE_DATA when nothing is left to measure. */
int plan_build(const struct config *config, bool on_cuda, uint64_t seed, struct plan *out, struct error *err);
void plan_free(struct plan *p);
/* Which of the config's shapes a cell has. */
size_t plan_shape(const struct config *config, const struct plan_cell *cell);

/* Seconds until a run has measured cells of modelled cost `left`, when `workers` have taken `elapsed` seconds for cells
 * of modelled cost `done`. The model counts at first and what was measured takes over, so that a first cell in which
 * everything is loaded does not foretell hours. */
double plan_eta(double done, double left, double elapsed, int workers);

/* Index of the cell of this problem and mode, or -1. */
long plan_find(const struct plan *p, const struct cudal2_problem *problem, enum mode mode);

#endif
