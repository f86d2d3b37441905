/* Results of before 2026-11-25 do not say whether launches could overlap: they could, and who was launched so is told.
 */
#include "report/overlap.h"

#include <string.h>

#include "base/tree.h"

static bool overlaps(const cJSON *cell)
{
    const cJSON *contender;
    if (strcmp(tree_text(cell, "overlap"), overlap_names[OVERLAP_NONE]) == 0)
        return false;
    cJSON_ArrayForEach(contender, tree_member(cell, "contenders"))
    {
        if (tree_true(contender, "early"))
            return true;
    }
    return false;
}

static int mode_of(const char *name)
{
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (strcmp(name, mode_names[mode]) == 0)
            return mode;
    return -1;
}

void overlap_find(const cJSON *result, bool rows[MODE_COUNT])
{
    const cJSON *cell;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        rows[mode] = false;
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        int mode = mode_of(tree_text(cell, "mode"));
        if (mode >= 0 && !rows[mode])
            rows[mode] = overlaps(cell);
    }
}

const char *overlap_timing(const bool rows[MODE_COUNT], const char *mode, const char *timing)
{
    int at = mode_of(mode);
    bool row = at >= 0 && rows[at] && strcmp(timing, timing_names[TIMING_DEVICE]) == 0;
    return row ? "device-row" : timing;
}
