/*
 * overlap.c - whether a time's launches could overlap, and who was launched so. Results of before 2026-11-25 do not say
 * it: theirs could. Pure. Called by the tables, the screen, the page and the exports of this room.
 */
#include "report/overlap.h"

#include <string.h>

static bool overlaps(const struct result_cell *cell)
{
    bool early = false;
    for (size_t i = 0; i < cell->n_contenders; i++)
        early |= cell->contenders[i].early;
    return early && strcmp(cell->overlap, overlap_names[OVERLAP_NONE]) != 0;
}

static int mode_of(const char *name)
{
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (strcmp(name, mode_names[mode]) == 0)
            return mode;
    return -1;
}

void overlap_find(const struct result *result, bool rows[MODE_COUNT])
{
    for (int mode = 0; mode < MODE_COUNT; mode++)
        rows[mode] = false;
    for (size_t i = 0; i < result->n_cells; i++) {
        int mode = mode_of(result->cells[i].group.mode);
        if (mode >= 0)
            rows[mode] |= overlaps(&result->cells[i]);
    }
}

const char *overlap_timing(const bool rows[MODE_COUNT], const char *mode, const char *timing)
{
    int at = mode_of(mode);
    return at >= 0 && rows[at] ? timing_overlapping_name(timing) : timing;
}
