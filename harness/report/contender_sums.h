/*
 * contender_sums.h - what one contender raced, took of energy and showed of its bits, over the cells of a result.
 * Called by contender_table.c and by the screen.
 */
#ifndef CUDAL2_REPORT_CONTENDER_SUMS_H
#define CUDAL2_REPORT_CONTENDER_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "result/result.h"

/* Races before the blocks: in how many cells, of how many variants in all and in the median cell (NaN: none). */
struct race_sums {
    size_t cells;
    double all, median, seconds, busy_seconds;
};

/* Cells in which it was asked for and measured. Means and sums are of `whole` cells, in which all were measured. */
struct energy_sums {
    size_t asked, measured, whole;
    double gflop_per_joule; /* geometric mean; NaN without whole cells */
    double joules;          /* of one launch in each, added; NaN likewise */
    double fewest_steps;    /* of the counter under a row: the resolution; NaN where none is known */
};

struct answer_sums {
    size_t yes, known;
};

struct bits_sums {
    struct answer_sums batch_invariant, deterministic;
};

/* Of the contender of this name in the cells of a group, or in all (NULL). Races: false out of memory. */
bool sum_races(const struct result *result, const struct result_group *group, const char *name, struct race_sums *out);
void sum_energy(const struct result *result, const struct result_group *group, const char *name,
                struct energy_sums *out);
void sum_bits(const struct result *result, const struct result_group *group, const char *name, struct bits_sums *out);

#endif
