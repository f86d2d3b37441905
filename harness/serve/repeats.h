/*
 * repeats.h - by how much a repeat of a job differs beyond what the interval of its run says, learnt from baselines:
 * two layouts of one are timed in every job, and problems come again. Widens outcomes by that. Method:
 * docs/lab/serve-details.md. Called by evaluate.c, which looks, and by server*.c, under the server's lock.
 */
#ifndef CUDAL2_SERVE_REPEATS_H
#define CUDAL2_SERVE_REPEATS_H

#include <cjson/cJSON.h>

#include "record/record.h"
#include "serve/submission.h"

#define REPEATS_KEYS 1024 /* whose latest look is remembered */
#define REPEATS_MOVES 512 /* the latest */

/* What is known before anything was repeated: on an H100 (results/h100/tests/2026-11-27-serve.txt) 20 ratios changed by
 * 0.27% in the middle, which is a deviation of 0.28% of each, and their own intervals of 0.37% explain 0.16%. It weighs
 * as much as so many changes. */
#define REPEATS_FIRST_DEVIATION 0.0024
#define REPEATS_FIRST_WEIGHT 20.0

/* The ratio of a baseline's two layouts in one cell, log units. */
struct repeat {
    char key[RECORD_KEY_MAX + 2 * RECORD_NAME_MAX + 4];
    double estimate, variance; /* of the estimate, by the cell's own interval */
};

/* Of the cells of a run. */
struct repeat_log {
    struct repeat list[SUBMISSION_PROBLEMS];
    size_t n;
};

/* All zero: nothing yet. */
struct repeats {
    struct repeat latest[REPEATS_KEYS];
    struct repeat_move {
        double square, variance; /* of a change, and what intervals explain of it */
    } moves[REPEATS_MOVES];
    size_t n_latest, oldest, n_moves, next;
};

/* Nothing where the cell has no such pair. */
void repeats_look(struct repeat_log *log, const struct cell_record *record);

/* Of each in turn, against the latest one of the same pair and problem. */
void repeats_add(struct repeats *r, const struct repeat_log *log);

/* Standard deviation of a job's log ratio that no interval of a run shows. */
double repeats_deviation(const struct repeats *r);

/* Half of the interval of a job, from half of its run's own: in 95% a repeat lies in it, and it in the repeat's. */
double repeats_half_width(const struct repeats *r, double own);

/* Makes ratio_low and ratio_high of the problems, of the terms and of the reward those of that interval; the run's own
 * become run_low and run_high of each problem. Nothing in an outcome without a reward. */
void repeats_widen(const struct repeats *r, cJSON *outcome);

#endif
