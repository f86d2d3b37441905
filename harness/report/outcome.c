/*
 * outcome.c - counts converged and measured cells of a group and says whether a mean over its shapes may be shown.
 * Pure. Called by tables, figures, screen and page.
 */
#include "report/outcome.h"

#include <stdio.h>

struct outcome outcome_of(const struct result *result, const struct result_group *group)
{
    struct outcome outcome = {0, 0};
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_cell *cell = &result->cells[i];
        if (cell->n_speedups == 0 || !result_same_group(&cell->group, group))
            continue;
        outcome.measured++;
        outcome.converged += cell->converged;
    }
    return outcome;
}

bool outcome_allows_mean(struct outcome outcome)
{
    return 2 * outcome.converged >= outcome.measured;
}

void outcome_say(struct outcome outcome, char *out, size_t capacity)
{
    out[0] = '\0';
    if (outcome.measured > 0 && outcome.converged == 0)
        snprintf(out, capacity, "no shape reached the wanted precision: no mean, and the rest is a hint at best");
    else if (outcome.converged < outcome.measured)
        snprintf(out, capacity, "%zu of %zu shapes reached the wanted precision%s", outcome.converged, outcome.measured,
                 outcome_allows_mean(outcome) ? "" : ": no mean of so few");
}

int outcome_expect_measured(const struct result *result, struct error *err)
{
    for (size_t i = 0; i < result->n_cells; i++)
        if (result->cells[i].outcome == CELL_OK || result->cells[i].outcome == CELL_PARTIAL)
            return 0;
    if (result->n_cells == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing to report: no cells in what was given");
    return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing to report: no cell was measured in what was given");
}
