/*
 * screen_activity.c - the lines about launches watched under CUPTI and launches that overlap. Relies on the result's
 * summary. Called by screen.c.
 */
#include "report/screen_activity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/activity.h"
#include "stats/interval.h"

/* The recorder is a witness of device time: this far apart in the median, one of the two is wrong. */
#define APART 0.02

/* Watched, a launch stands alone. A longer one then runs at a clock that a row of them does not have, and takes three
 * quarters to nine tenths of its time in a row. */
#define LONG_NS 1e5

static bool has_server_cells(const struct screen *screen)
{
    for (size_t i = 0; i < screen->result->n_cells; i++)
        if (strcmp(screen->result->cells[i].group.mode, mode_names[MODE_SERVER]) == 0)
            return true;
    return false;
}

/* NAN where this contender's launch has none, is long, or is launched early, which a launch alone cannot be. */
static double short_ratio(const struct result_contender *c)
{
    return c->timings[TIMING_DEVICE].median_ns <= LONG_NS && !c->early ? c->activity.ratio : (double)NAN;
}

/* The median over the run, or NAN. */
static double short_ratios(const struct screen *screen, double most)
{
    double *ratios = most > 0 ? calloc((size_t)most, sizeof *ratios) : NULL, median = NAN;
    size_t n = 0;
    for (size_t i = 0; i < screen->result->n_cells && ratios; i++) {
        const struct result_cell *cell = &screen->result->cells[i];
        for (size_t c = 0; c < cell->n_contenders; c++) {
            double ratio = short_ratio(&cell->contenders[c]);
            if (!isnan(ratio) && n < (size_t)most)
                ratios[n++] = ratio;
        }
    }
    if (n > 0)
        median = stats_median(ratios, n);
    free(ratios);
    return median;
}

/* From idle a device time is of one launch, with a graph's start in it, so the two are not to agree there. */
static void add_witness(struct screen *screen, const struct result_ratios *ratio)
{
    bool from_idle = has_server_cells(screen);
    double brief = from_idle ? NAN : short_ratios(screen, ratio->n);
    text_add(&screen->text, "; one-kernel launches take %.2f of their device time by CUPTI (%.2f to %.2f)%s",
             ratio->median, ratio->min, ratio->max, from_idle ? ", which holds the start of a graph" : "");
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
static struct rows count_rows(const struct result *result, bool alone)
{
    struct rows rows = {0, 0, 0};
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_cell *cell = &result->cells[i];
        if ((strcmp(cell->overlap, overlap_names[OVERLAP_NONE]) == 0) != alone)
            continue;
        for (size_t c = 0; c < cell->n_contenders; c++) {
            double ns = cell->contenders[c].activity.overlap_ns;
            rows.watched += isnan(ns) ? 0u : 1u;
            rows.overlapped += ns > ACTIVITY_CLOCK_NS;
            rows.most_ns = fmax(rows.most_ns, isnan(ns) ? 0 : ns);
        }
    }
    return rows;
}

static void add_rows(struct screen *screen)
{
    const struct rows r = count_rows(screen->result, true);
    if (r.watched == 0)
        return;
    if (r.overlapped == 0)
        text_add(&screen->text, "  Launches alone: in none of %u rows did a launch begin before the one ahead ended\n",
                 r.watched);
    else
        text_add(&screen->text, "  NOT alone: in %u of %u rows launches began %.2f us before the one ahead had ended\n",
                 r.overlapped, r.watched, 1e-3 * r.most_ns);
}

static bool was_watched(const struct result_cell *cell)
{
    for (size_t c = 0; c < cell->n_contenders; c++)
        if (cell->contenders[c].activity.json)
            return true;
    return false;
}

/* A run says as many; several that are shown as one say nothing. */
static unsigned count_watched(const struct result *result)
{
    unsigned n = 0;
    for (size_t i = 0; i < result->n_cells; i++)
        n += was_watched(&result->cells[i]);
    return n;
}

void screen_activity(struct screen *screen)
{
    const struct result_looks *looks = &screen->result->summary.activity;
    const char *unavailable = screen->result->run.activity.unavailable;
    unsigned cells = count_watched(screen->result);
    if (unavailable[0])
        text_add(&screen->text, "GPU activity was not watched%s: %s\n", looks->json ? " to the end" : "", unavailable);
    if (!looks->json)
        return;
    text_add(&screen->text, "GPU activity: %.0f launch%s watched in %u cell%s, %.0f refuted", looks->launches,
             looks->launches == 1 ? "" : "es", cells, cells == 1 ? "" : "s", looks->refuted);
    if (looks->unavailable > 0)
        text_add(&screen->text, ", %.0f could not be watched", looks->unavailable);
    if (looks->ratio.json)
        add_witness(screen, &looks->ratio);
    else
        text_add(&screen->text, "\n");
    add_rows(screen);
}
