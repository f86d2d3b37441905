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

/* A result written by hand may come without its counts; its cells say the same. */
static double count_of(const struct screen *screen, enum cell_status status, double told)
{
    double n = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++)
        n += screen->result->cells[i].outcome == status;
    return isnan(told) ? n : told;
}

/* NAN where the run does not say. */
static double offline_half_width(const struct result *result)
{
    return tree_number(tree_member(tree_member(result->run.json, "config"), "stop"), "offline_half_width");
}

/* Large leads and long launches may need less (stop.h): how many cells have no more than that. */
static void print_wider(struct screen *screen)
{
    double width = offline_half_width(screen->result);
    unsigned n = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_cell *cell = &screen->result->cells[i];
        n += cell->converged && strcmp(cell->group.mode, "offline") == 0 && cell->worst_half_width > width;
    }
    if (n > 0)
        text_add(&screen->text, ", %u of them with an interval wider than ±%g%%", n, 100 * width);
}

static void print_convergence(struct screen *screen, const struct result_convergence *c)
{
    if (c->measured > 0 && !isnan(c->converged)) {
        text_add(&screen->text, "; %.0f of %.0f converged", c->converged, c->measured);
        print_wider(screen);
    }
    if (c->incomparable > 0)
        text_add(&screen->text, "; %.0f with nothing to compare", c->incomparable);
}

void screen_counts(struct screen *screen)
{
    const struct result_summary *summary = &screen->result->summary;
    const struct result_counts *counts = &summary->counts;
    double cells = isnan(counts->cells) ? (double)screen->result->n_cells : counts->cells;
    text_add(&screen->text, "%.0f cell%s: %.0f ok, %.0f partial, %.0f skipped, %.0f failed", cells,
             cells == 1 ? "" : "s", count_of(screen, CELL_OK, counts->ok),
             count_of(screen, CELL_PARTIAL, counts->partial), count_of(screen, CELL_SKIPPED, counts->skipped),
             count_of(screen, CELL_FAILED, counts->failed));
    if (screen->result->run.n_missing > 0)
        text_add(&screen->text, ", %zu not measured yet", screen->result->run.n_missing);
    print_convergence(screen, &summary->convergence);
    text_add(&screen->text, "\n");
    if (counts->dropped_blocks > 0)
        print_slowdowns(screen, counts->dropped_blocks, counts->cells_with_slowdown);
    text_add(&screen->text, "\n");
}
