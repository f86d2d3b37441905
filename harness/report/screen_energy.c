/*
 * screen_energy.c - the table of what --energy measures. Relies on contender_sums.h and screen_each.c. Called by
 * screen.c.
 */
#include "report/screen_energy.h"

#include <math.h>
#include <stdio.h>

#include "report/contender_sums.h"
#include "report/screen_each.h"

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
    struct energy_sums sums;
    sum_energy(result, NULL, name, &sums);
    const char *none = sums.measured > 0 ? "-" : "not measured";
    table_add(out, NAN, "%s", name);
    table_add_share(out, sums.measured, sums.asked);
    add_figure(out, sums.gflop_per_joule, none);
    add_figure(out, sums.joules, none);
    add_figure(out, sums.fewest_steps, none);
}

void screen_energy(const struct result *result, struct table *out)
{
    snprintf(out->title, sizeof out->title, "Energy, by the GPU's counter over rows of launches");
    snprintf(out->note, sizeof out->note,
             "Means and sums are of the cells in which all were measured. The whole GPU's energy counts, memory and "
             "fans of its board too. Fewest steps: how often the counter moved under the shortest row of launches");
    table_column(out, "contender", "contender", true);
    table_share_column(out, "cells measured", "measured");
    table_column(out, "GFLOP/J", "gflop_per_joule", false);
    table_column(out, "J, a launch in each", "joules", false);
    table_column(out, "fewest steps", "fewest_steps", false);
    screen_each(result, &(struct screen_each){is_asked, add_row}, out);
}
