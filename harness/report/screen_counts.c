/*
 * screen_counts.c - cells by status and how many converged, in one line each. Called by screen.c at its top.
 */
#include "report/screen_counts.h"

#include <math.h>
#include <string.h>

#include "base/tree.h"

static void print_slowdowns(struct screen *screen, double blocks, double cells)
{
    bool one = blocks == 1;
    text_add(&screen->text, "%.0f block%s", blocks, one ? "" : "s");
    if (!isnan(cells))
        text_add(&screen->text, " in %.0f cell%s", cells, cells == 1 ? "" : "s");
    text_add(&screen->text, " saw a thermal or hardware slowdown and do%s not count\n", one ? "es" : "");
}

/* Cells of this status. A result written by hand may come without its counts; its cells say the same. */
static double count_of(const struct screen *screen, const char *status)
{
    double told = tree_number(tree_member(tree_member(screen->result, "summary"), "counts"), status), n = 0;
    const cJSON *cell;
    if (!isnan(told))
        return told;
    cJSON_ArrayForEach(cell, tree_member(screen->result, "cells")) n += strcmp(tree_text(cell, "status"), status) == 0;
    return n;
}

static double count_all(const struct screen *screen)
{
    double told = tree_number(tree_member(tree_member(screen->result, "summary"), "counts"), "cells");
    return isnan(told) ? cJSON_GetArraySize(tree_member(screen->result, "cells")) : told;
}

static void print_convergence(struct screen *screen, const cJSON *convergence)
{
    double measured = tree_number(convergence, "measured"), converged = tree_number(convergence, "converged");
    if (measured > 0 && !isnan(converged))
        text_add(&screen->text, "; %.0f of %.0f converged", converged, measured);
    if (tree_number(convergence, "incomparable") > 0)
        text_add(&screen->text, "; %.0f with nothing to compare", tree_number(convergence, "incomparable"));
}

void screen_counts(struct screen *screen)
{
    const cJSON *summary = tree_member(screen->result, "summary");
    const cJSON *counts = tree_member(summary, "counts");
    double missing = cJSON_GetArraySize(tree_member(tree_member(screen->result, "run"), "missing"));
    double cells = count_all(screen);
    text_add(&screen->text, "%.0f cell%s: %.0f ok, %.0f partial, %.0f skipped, %.0f failed", cells,
             cells == 1 ? "" : "s", count_of(screen, "ok"), count_of(screen, "partial"), count_of(screen, "skipped"),
             count_of(screen, "failed"));
    if (missing > 0)
        text_add(&screen->text, ", %.0f not measured yet", missing);
    print_convergence(screen, tree_member(summary, "convergence"));
    text_add(&screen->text, "\n");
    if (tree_number(counts, "dropped_blocks") > 0)
        print_slowdowns(screen, tree_number(counts, "dropped_blocks"), tree_number(counts, "cells_with_slowdown"));
    text_add(&screen->text, "\n");
}
