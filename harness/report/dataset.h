/*
 * dataset.h - speedups over shapes from any source: results of ours, or the CSV files that the authors of CUDA-L2
 * published. What every table and figure is computed from.
 */
#ifndef CUDAL2_REPORT_DATASET_H
#define CUDAL2_REPORT_DATASET_H

#include "report/outcome.h"
#include "report/overlap.h"
#include "analysis/aggregate.h"

#include <stdbool.h>

#define DATASET_NAME_MAX 64

/* One shape. mean: of ratios (the paper's); low, high: interval of the geomean, NaN where unknown. */
struct shape_value {
    double m, n, k, mean, geomean, low, high;
    bool converged; /* its cell reached the wanted precision; false where unknown */
};

/* One candidate against one reference over the shapes; all speedups are ratios minus 1. */
struct line {
    char source[16];                                    /* "measured" or "claimed" */
    char mode[16], dtype[8], accumulate[8], timing[16]; /* timing as overlap_timing calls it */
    char candidate[DATASET_NAME_MAX], reference[DATASET_NAME_MAX];
    char device[64], cache[16]; /* what it was taken on and in; "several" of several, "" where nobody says */
    struct outcome outcome;     /* of all cells of its mode and number format */
    size_t left_out;            /* shapes that its means do not count (result/left_out.h) */
    size_t n, capacity;
    struct shape_value *values; /* one for each shape */
};

struct dataset {
    struct line *lines;
    size_t n, capacity;
    bool rows[MODE_COUNT]; /* overlap_find of the result that is being added */
};

/* The line of this identity (source to reference of `like`), made when it is not there. NULL out of memory. */
struct line *dataset_line(struct dataset *d, const struct line *like);
int line_add(struct line *line, const struct shape_value *value); /* -1 out of memory */
const struct line *dataset_find(const struct dataset *d, const struct line *like);
/* Where the outcome allows no mean, mean and max_mean, sd, low and high are NaN. */
void line_aggregate(const struct line *line, struct aggregate *out);
void dataset_free(struct dataset *d);

/* True for "cudal2-nn", "cudal2-tn" and "cudal2-nn+2" (a search's second finalist): one layout of a candidate, not the
 * whole of it. */
bool dataset_has_layout(const char *name);

/* Adds the speedups of a result in one timing (NULL: each cell's headline), whole candidates only (no layout suffix).
 */
int dataset_add_result(struct dataset *d, const struct result *result, const char *timing, struct error *err);

/* Adds a published CSV: a head line "mnk,<baseline>,...", then M_N_K and one ratio t_baseline / t_candidate for each
 * baseline; empty fields and missing shapes are fine. Mode and accumulate type come from the file's name ("server",
 * "F32"). EXIT_CODE_DATA with file and line otherwise. */
int dataset_add_published(struct dataset *d, const char *path, struct error *err);

#endif
