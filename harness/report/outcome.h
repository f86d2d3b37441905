/*
 * outcome.h - how far the cells of one mode and number format came, and whether that allows a mean over their shapes.
 *
 * The mean of noisy ratios is large whatever the kernels do (the mean of x and 1/x is above 1, and a stall of the
 * reference counts in full), so where fewer than half of the shapes reached the wanted precision no format shows one,
 * nor what is computed from it (standard deviation, interval, mean of the better of both).
 */
#ifndef CUDAL2_REPORT_OUTCOME_H
#define CUDAL2_REPORT_OUTCOME_H

#include "base/error.h"
#include "result/result.h"

#include <stdbool.h>
#include <stddef.h>

/* Cells with speedups, and those of them that reached the wanted precision. None at all (published speedups, of which
 * it is not known) allows a mean. */
struct outcome {
    size_t measured, converged;
};

struct outcome outcome_of(const struct result *result, const struct result_group *group);
bool outcome_allows_mean(struct outcome outcome);

/* "1 of 8 shapes reached the wanted precision: no mean of so few"; "" where all of them did. */
void outcome_say(struct outcome outcome, char *out, size_t capacity);

/* EXIT_CODE_INCOMPARABLE when no cell was measured: whatever a format can say all the same (why, and where), a script
 * learns it by the exit status. */
int outcome_expect_measured(const struct result *result, struct error *err);

#endif
