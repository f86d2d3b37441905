/*
 * outcome.c - counts converged and measured cells of a group and says whether a mean over its shapes may be shown.
 * Pure. Called by tables, figures, screen and page.
 */
#include "report/outcome.h"

#include <stdio.h>
#include <string.h>

#include "base/tree.h"

static bool is_of(const cJSON *cell, const char *mode, const char *dtype, const char *accumulate)
{
    return strcmp(tree_text(cell, "mode"), mode) == 0 && strcmp(tree_text(cell, "dtype"), dtype) == 0 &&
           strcmp(tree_text(cell, "accumulate"), accumulate) == 0;
}

bool outcome_same_group(const cJSON *a, const cJSON *b)
{
    return is_of(a, tree_text(b, "mode"), tree_text(b, "dtype"), tree_text(b, "accumulate"));
}

struct outcome outcome_of(const cJSON *result, const char *mode, const char *dtype, const char *accumulate)
{
    struct outcome outcome = {0, 0};
    const cJSON *cell;
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        const cJSON *speedups = tree_member(cell, "speedups");
        if (!speedups || !speedups->child || !is_of(cell, mode, dtype, accumulate))
            continue;
        outcome.measured++;
        outcome.converged += tree_true(cell, "converged");
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

static bool was_measured(const cJSON *cell)
{
    const char *status = tree_text(cell, "status");
    return strcmp(status, "ok") == 0 || strcmp(status, "partial") == 0;
}

int outcome_expect_measured(const cJSON *result, struct error *err)
{
    const cJSON *cell, *cells = tree_member(result, "cells");
    cJSON_ArrayForEach(cell, cells)
    {
        if (was_measured(cell))
            return 0;
    }
    if (!cells || !cells->child)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing to report: no cells in what was given");
    return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing to report: no cell was measured in what was given");
}
