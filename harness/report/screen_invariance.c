/*
 * screen_invariance.c - the table of properties that --invariance finds out. Relies on table.c and screen_each.c.
 * Called by screen.c.
 */
#include "report/screen_invariance.h"

#include <math.h>
#include <stdio.h>

#include "report/contender_sums.h"
#include "report/screen_each.h"

static bool is_asked(const struct result_contender *c)
{
    return c->invariance.json != NULL;
}

static void add_row(const struct result *result, const char *name, struct table *out)
{
    struct bits_sums sums;
    sum_bits(result, NULL, name, &sums);
    table_add(out, NAN, "%s", name);
    table_add_share(out, sums.batch_invariant.yes, sums.batch_invariant.known);
    table_add_share(out, sums.deterministic.yes, sums.deterministic.known);
}

void screen_invariance(const struct result *result, struct table *out)
{
    snprintf(out->title, sizeof out->title, "The same bits: for every M, and in 20 launches (cells of all)");
    snprintf(out->note, sizeof out->note,
             "batch-invariant: rows of C are alike under M of 1, 7, 64, 300 and the cell's own (docs/results.md)");
    table_column(out, "contender", "contender", true);
    table_share_column(out, "batch-invariant", "batch_invariant");
    table_share_column(out, "deterministic", "deterministic");
    screen_each(result, &(struct screen_each){is_asked, add_row}, out);
}
