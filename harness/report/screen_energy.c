/*
 * screen_energy.c - the table of what --energy measures. Relies on table.c and screen_each.c. Called by screen.c.
 */
#include "report/screen_energy.h"

#include <math.h>
#include <stdio.h>

#include "report/screen_each.h"

static bool is_measured(const struct result_contender *c)
{
    return c->energy.json && c->energy.joules > 0 && c->energy.gflop_per_joule > 0;
}

/* Whether all that were asked in the cell were measured: sums of some cells and of others cannot be compared. */
static bool is_whole(const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->n_contenders; i++)
        if (cell->contenders[i].energy.json && !is_measured(&cell->contenders[i]))
            return false;
    return true;
}

static void add_figure(struct table *out, double value, const char *none)
{
    if (isnan(value))
        table_add(out, NAN, "%s", none);
    else
        table_add(out, value, "%.3g", value);
}

static bool is_asked(const struct result_contender *c)
{
    return c->energy.json != NULL;
}

static void add_row(const struct result *result, const char *name, struct table *out)
{
    size_t asked = 0, measured = 0, whole = 0;
    double logs = 0, joules = 0;
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_contender *c = result_contender(&result->cells[i], name);
        if (!c || !is_asked(c))
            continue;
        asked++;
        measured += is_measured(c);
        if (!is_measured(c) || !is_whole(&result->cells[i]))
            continue;
        whole++;
        logs += log(c->energy.gflop_per_joule);
        joules += c->energy.joules;
    }
    const char *none = measured > 0 ? "-" : "not measured";
    table_add(out, NAN, "%s", name);
    table_add_share(out, measured, asked);
    add_figure(out, whole > 0 ? exp(logs / (double)whole) : (double)NAN, none);
    add_figure(out, whole > 0 ? joules : (double)NAN, none);
}

void screen_energy(const struct result *result, struct table *out)
{
    snprintf(out->title, sizeof out->title, "Energy, by the GPU's counter over rows of launches");
    snprintf(out->note, sizeof out->note,
             "Means and sums are of the cells in which all were measured. The whole GPU's energy counts, memory and "
             "fans of its board too");
    table_column(out, "contender", "contender", true);
    table_share_column(out, "cells measured", "measured");
    table_column(out, "GFLOP/J", "gflop_per_joule", false);
    table_column(out, "J, a launch in each", "joules", false);
    screen_each(result, &(struct screen_each){is_asked, add_row}, out);
}
