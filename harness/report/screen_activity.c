/*
 * screen_activity.c - the lines about launches watched under CUPTI and launches that overlap. Relies on the result's
 * summary. Called by screen.c.
 */
#include "report/screen_activity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/activity.h"
#include "base/tree.h"
#include "stats/interval.h"

/* The recorder is a witness of device time: this far apart in the median, one of the two is wrong. */
#define APART 0.02

/* Watched, a launch stands alone. A longer one then runs at a clock that a row of them does not have, and takes three
 * quarters to nine tenths of its time in a row. */
#define LONG_NS 1e5

static bool has_server_cells(const struct screen *screen)
{
    const cJSON *cell;
    cJSON_ArrayForEach(cell, tree_member(screen->result, "cells"))
    {
        if (strcmp(tree_text(cell, "mode"), "server") == 0)
            return true;
    }
    return false;
}

/* NAN where this contender's launch has none, is long, or is launched early, which a launch alone cannot be. */
static double short_ratio(const cJSON *contender)
{
    double ns = tree_number(tree_member(tree_member(contender, "timings"), "device"), "median_ns");
    bool counts = ns <= LONG_NS && !tree_true(contender, "early");
    return counts ? tree_number(tree_member(contender, "activity"), "ratio") : NAN;
}

/* The median over the run, or NAN. */
static double short_ratios(const struct screen *screen, size_t most)
{
    const cJSON *cell, *contender;
    double *ratios = calloc(most + 1, sizeof *ratios), median = NAN;
    size_t n = 0;
    if (!ratios)
        return NAN;
    cJSON_ArrayForEach(cell, tree_member(screen->result, "cells"))
    {
        cJSON_ArrayForEach(contender, tree_member(cell, "contenders"))
        {
            double ratio = short_ratio(contender);
            if (!isnan(ratio) && n < most)
                ratios[n++] = ratio;
        }
    }
    if (n > 0)
        median = stats_median(ratios, n);
    free(ratios);
    return median;
}

/* From idle a device time is of one launch, with a graph's start in it, so the two are not to agree there. */
static void add_witness(struct screen *screen, const cJSON *ratio)
{
    double median = tree_number(ratio, "median");
    bool from_idle = has_server_cells(screen);
    double brief = from_idle ? NAN : short_ratios(screen, tree_whole(ratio, "n"));
    text_add(&screen->text, "; one-kernel launches take %.2f of their device time by CUPTI (%.2f to %.2f)%s", median,
             tree_number(ratio, "min"), tree_number(ratio, "max"),
             from_idle ? ", which holds the start of a graph" : "");
    if (!isnan(brief))
        text_add(&screen->text, ", those of up to 0.1 ms %.2f", brief);
    text_add(&screen->text, "\n");
    if (!isnan(brief) && fabs(brief - 1) > APART)
        text_add(&screen->text,
                 "  Over %.0f%% apart: device times hold more, or less, than the kernels (docs/method.md)\n",
                 100 * APART);
}

/* Rows of launches that were watched, and those in which launches overlapped. */
struct rows {
    unsigned watched, overlapped;
    double most_ns;
};

/* In cells whose launches were to stand alone (or, for the rest, to overlap as they like). */
static struct rows count_rows(const cJSON *cells, bool alone)
{
    const cJSON *cell, *contender;
    struct rows rows = {0, 0, 0};
    cJSON_ArrayForEach(cell, cells)
    {
        if ((strcmp(tree_text(cell, "overlap"), overlap_names[OVERLAP_NONE]) == 0) != alone)
            continue;
        cJSON_ArrayForEach(contender, tree_member(cell, "contenders"))
        {
            double ns = tree_number(tree_member(contender, "activity"), "overlap_ns");
            rows.watched += isnan(ns) ? 0u : 1u;
            rows.overlapped += ns > ACTIVITY_CLOCK_NS;
            rows.most_ns = fmax(rows.most_ns, isnan(ns) ? 0 : ns);
        }
    }
    return rows;
}

static void add_rows(struct screen *screen)
{
    const struct rows r = count_rows(tree_member(screen->result, "cells"), true);
    if (r.watched == 0)
        return;
    if (r.overlapped == 0)
        text_add(&screen->text, "  Launches alone: in none of %u rows did a launch begin before the one ahead ended\n",
                 r.watched);
    else
        text_add(&screen->text, "  NOT alone: in %u of %u rows launches began %.2f us before the one ahead had ended\n",
                 r.overlapped, r.watched, 1e-3 * r.most_ns);
}

static bool was_watched(const cJSON *cell)
{
    const cJSON *contender;
    cJSON_ArrayForEach(contender, tree_member(cell, "contenders"))
    {
        if (tree_member(contender, "activity"))
            return true;
    }
    return false;
}

/* A run says as many; several that are shown as one say nothing. */
static unsigned count_watched(const cJSON *cells)
{
    const cJSON *cell;
    unsigned n = 0;
    cJSON_ArrayForEach(cell, cells) n += was_watched(cell);
    return n;
}

void screen_activity(struct screen *screen)
{
    const cJSON *activity = tree_member(tree_member(screen->result, "summary"), "activity");
    const cJSON *run = tree_member(tree_member(screen->result, "run"), "activity");
    const cJSON *ratio = tree_member(activity, "ratio");
    double launches = tree_number(activity, "launches"), refuted = tree_number(activity, "refuted");
    unsigned cells = count_watched(tree_member(screen->result, "cells"));
    if (tree_text(run, "unavailable")[0])
        text_add(&screen->text, "GPU activity was not watched%s: %s\n", activity ? " to the end" : "",
                 tree_text(run, "unavailable"));
    if (!activity)
        return;
    text_add(&screen->text, "GPU activity: %.0f launch%s watched in %u cell%s, %.0f refuted", launches,
             launches == 1 ? "" : "es", cells, cells == 1 ? "" : "s", refuted);
    if (tree_number(activity, "unavailable") > 0)
        text_add(&screen->text, ", %.0f could not be watched", tree_number(activity, "unavailable"));
    if (ratio)
        add_witness(screen, ratio);
    else
        text_add(&screen->text, "\n");
    add_rows(screen);
}
