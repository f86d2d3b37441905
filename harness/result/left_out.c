/*
 * left_out.c - whether a pair's mean lacks a cell, and the mean with such cells in it. Pure. Called by summary.c and by
 * report/.
 */
#include "result/left_out.h"

#include <math.h>
#include <string.h>

#include "analysis/entry.h"

#define MAX "-max"

bool result_stands_for(const struct result_contender *contender, const char *name)
{
    size_t length = strlen(contender->family);
    if (contender->role == RESULT_COPY)
        return false;
    if (strcmp(name, ENTRY_STRONGEST) == 0)
        return contender->role == RESULT_BASELINE;
    if (strcmp(contender->name, name) == 0)
        return true;
    return length > 0 && strncmp(name, contender->family, length) == 0 && strcmp(name + length, MAX) == 0;
}

static double median_of(const struct result_contender *c, const struct left_out_pair *pair)
{
    return pair->equal_path ? c->equal_path[pair->timing].median_ns : c->timings[pair->timing].median_ns;
}

static bool has_pair(const struct result_cell *cell, const struct left_out_pair *pair)
{
    const struct result_pair *list = pair->equal_path ? cell->equal_path : cell->speedups;
    size_t n = pair->equal_path ? cell->n_equal_path : cell->n_speedups;
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = list[i].timing == pair->timing && strcmp(list[i].candidate, pair->candidate) == 0 &&
                strcmp(list[i].reference, pair->reference) == 0;
    return found;
}

bool result_leaves_out(const struct result_cell *cell, const struct left_out_pair *pair)
{
    bool entered = false, timed = false;
    for (size_t i = 0; i < cell->n_contenders && pair->timing < TIMING_COUNT; i++) {
        const struct result_contender *c = &cell->contenders[i];
        entered |= result_stands_for(c, pair->candidate);
        timed |= result_stands_for(c, pair->reference) && c->verdict == VERDICT_OK && median_of(c, pair) > 0;
    }
    return entered && timed && !has_pair(cell, pair);
}

double result_mean_of_all(double geomean, double n, double left_out)
{
    double share = left_out > 0 ? n / (n + left_out) : 1;
    return expm1(log1p(geomean) * share);
}
