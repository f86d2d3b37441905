/*
 * tables.c - the paper's Tables 1 to 4 as tables, 5 and 6 of time_tables.c, 7 of chain_table.c, 8 of
 * contender_table.c. Relies on dataset.c and table_parts.c. Called by report.c, which has them printed in any form, and
 * by page_tables.c.
 */
#include "report/tables.h"

#include "report/aa.h"
#include "report/chain_table.h"
#include "report/claimed.h"
#include "report/contender_table.h"
#include "report/estimates.h"
#include "report/sizes.h"
#include "report/table4.h"
#include "report/table_parts.h"
#include "report/time_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Table 1 ---- */

/* What others published has one estimate, and nobody trimmed it. */
static void table1_columns(struct table *s, const struct line *group)
{
    const char *first = strcmp(group->source, "measured") == 0 ? TRIMMED : "geomean";
    table_column(s, "baseline", "baseline", true);
    for (size_t m = 0; m < GROUP_MODES; m++) {
        const char *mode = group_modes[m];
        mode_column(s, mode, first, "geomean", TABLE_SINGLE);
        mode_column(s, mode, "wins", "wins", TABLE_SHARE);
        mode_column(s, mode, "median", "median", TABLE_SINGLE);
        mode_column(s, mode, PAPER, "mean", TABLE_SINGLE);
        mode_column(s, mode, "std", "std", TABLE_SINGLE);
        mode_column(s, mode, PAPER_INTERVAL, "mean_ci95", TABLE_INTERVAL);
        mode_column(s, mode, "apart", "apart", TABLE_SINGLE);
        left_out_columns(s, mode);
    }
}

/* Shapes whose two estimates disagree; unknown where the line has no intervals. */
static void add_apart(struct table *s, const struct line *line)
{
    size_t n = 0;
    bool known = false;
    for (size_t i = 0; line && i < line->n; i++) {
        const struct shape_value *v = &line->values[i];
        n += estimates_are_apart(v->mean, v->low, v->high);
        known |= !isnan(v->low);
    }
    add_count(s, n, known);
}

static void table1_cells(struct table *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.geomean, true);
    table_add_share(s, a.wins, a.n);
    add_percent(s, a.median, true);
    add_percent(s, a.mean, true);
    add_percent(s, a.sd, false);
    table_add_interval(s, a.low, a.high);
    add_apart(s, line);
    left_out_cells(s, line, a.geomean);
}

/* The furthest of a line's shapes outside their intervals. */
static const struct shape_value *furthest(const struct line *line)
{
    const struct shape_value *found = NULL;
    double most = 0;
    for (size_t i = 0; line && i < line->n; i++) {
        const struct shape_value *v = &line->values[i];
        double outside = fmax(v->low - v->mean, v->mean - v->high);
        if (outside > most) {
            most = outside;
            found = v;
        }
    }
    return found;
}

/* What the two estimates are, and where they disagree most. */
static void note_estimates(const struct dataset *d, const struct line *group, struct table *s)
{
    const char *separator = "apart: shapes whose mean lies outside their interval, most of all";
    if (strcmp(group->source, "measured") != 0)
        return;
    table_note(s, TRIMMED ": geometric mean without extreme repeats; " PAPER ": mean of all ratios");
    for (size_t m = 0; m < GROUP_MODES; m++) {
        const struct shape_value *v = furthest(group_last(d, group, group_modes[m]));
        if (v)
            table_note(s, "%s %s %.0fx%.0fx%.0f", separator, group_modes[m], v->m, v->n, v->k);
        separator = v ? "and" : separator;
    }
}

static int table1_of_group(const struct dataset *d, const struct line *group, table_sink sink, void *context)
{
    const char *references[128];
    struct table s = {0};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, group);
    describe_table(&s, "table1", "Table 1", group);
    table1_columns(&s, group);
    outcome_columns(&s, &outcomes);
    identity_columns(&s);
    note_estimates(d, group, &s);
    left_out_note(&s, d, group);
    for (size_t i = 0; i < n; i++) {
        const struct line *lines[GROUP_MODES] = {group_line(d, group, group_modes[0], references[i]),
                                                 group_line(d, group, group_modes[1], references[i])};
        if (!lines[0] && !lines[1])
            continue;
        table_add(&s, NAN, "%s", references[i]);
        table1_cells(&s, lines[0]);
        table1_cells(&s, lines[1]);
        outcome_cells(&s, &outcomes);
        identity_cells(&s, group);
    }
    int code = sink(context, 1, &s);
    table_free(&s);
    return code;
}

/* ---- Table 2 ---- */

static int table2_of_group(const struct dataset *d, const struct line *group, table_sink sink, void *context)
{
    const char *references[128];
    struct table s = {0};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, group);
    describe_table(&s, "table2", "Table 2: the better of candidate and baseline", group);
    table_column(&s, "baseline", "baseline", true);
    for (size_t m = 0; m < GROUP_MODES; m++)
        mode_column(&s, group_modes[m], "mean of max", "mean_of_max", TABLE_SINGLE);
    left_out_note(&s, d, group);
    outcome_columns(&s, &outcomes);
    identity_columns(&s);
    for (size_t i = 0; i < n; i++) {
        struct aggregate a[GROUP_MODES];
        for (size_t m = 0; m < GROUP_MODES; m++)
            aggregate_or_nothing(group_line(d, group, group_modes[m], references[i]), &a[m]);
        if (a[0].n + a[1].n == 0)
            continue;
        table_add(&s, NAN, "%s", references[i]);
        add_percent(&s, a[0].max_mean, true);
        add_percent(&s, a[1].max_mean, true);
        outcome_cells(&s, &outcomes);
        identity_cells(&s, group);
    }
    int code = sink(context, 2, &s);
    table_free(&s);
    return code;
}

/* ---- Table 3 ---- */

static void add_bin_name(struct table *s, size_t axis, size_t index)
{
    double from = (double)index * size_axes[axis].width;
    double to = from + size_axes[axis].width;
    if (size_axes[axis].exponent)
        table_add(s, from, "%.0f to %.0f", from, to);
    else
        table_add(s, exp2(from), "%.0f to %.0f", exp2(from), exp2(to));
}

static void table3_columns(struct table *s, const struct line *line, size_t axis)
{
    bool scant = !outcome_allows_mean(line->outcome);
    table_column(s, size_axes[axis].head, "size", true);
    table_column(s, "axis", "axis", true);
    table_hide(s);
    table_column(s, TRIMMED, "geomean", false);
    table_share_column(s, "wins", "wins");
    table_column(s, PAPER, "mean", false);
    table_column(s, "converged", "converged", false);
    if (!scant)
        table_hide(s);
    table_column(s, "mode", "mode", true);
    table_hide(s);
    table_column(s, "baseline", "baseline", true);
    table_hide(s);
    identity_columns(s);
    outcome_note(s, line->mode, line->outcome);
    left_out_note_of(s, line);
}

static void table3_row(struct table *s, const struct line *line, size_t axis, const struct size_bin *bin)
{
    double n = (double)bin->n;
    table_add(s, NAN, "%s", size_axes[axis].key);
    add_percent(s, expm1(bin->sum_log / n), true);
    table_add_share(s, bin->wins, bin->n);
    add_percent(s, bin->sum / n, true);
    add_count(s, bin->converged, strcmp(line->source, "measured") == 0);
    table_add(s, NAN, "%s", line->mode);
    table_add(s, NAN, "%s", line->reference);
    identity_cells(s, line);
}

static int table3_table(const struct line *line, size_t axis, table_sink sink, void *context)
{
    struct size_bin bins[SIZE_BINS];
    struct table s = {0};
    size_fill_bins(line, &size_axes[axis], bins);
    describe_table(&s, "table3", "Table 3", line);
    size_t used = strlen(s.label);
    snprintf(s.label + used, sizeof s.label - used, "-%s-%s", line->mode, size_axes[axis].key);
    snprintf(s.title, sizeof s.title, "Table 3: %s over %s by %s, %s %s, accumulate %s", line->candidate,
             line->reference, size_axes[axis].head, line->source, line->mode, line->accumulate);
    table3_columns(&s, line, axis);
    for (size_t i = 0; i < SIZE_BINS; i++) {
        if (bins[i].n == 0)
            continue;
        add_bin_name(&s, axis, i);
        table3_row(&s, line, axis, &bins[i]);
    }
    int code = sink(context, 3, &s);
    table_free(&s);
    return code;
}

static int table3_of_group(const struct dataset *d, const struct line *group, table_sink sink, void *context)
{
    int code = 0;
    for (size_t m = 0; m < GROUP_MODES; m++) {
        const struct line *line = group_last(d, group, group_modes[m]);
        for (size_t axis = 0; line && axis < SIZE_AXES && code == 0; axis++)
            code = table3_table(line, axis, sink, context);
    }
    return code;
}

int tables_make(const struct dataset *d, const struct result *result, int number, table_sink sink, void *context)
{
    static int (*const makers[])(const struct dataset *, const struct line *, table_sink,
                                 void *) = {NULL, table1_of_group, table2_of_group, table3_of_group};
    int code = 0;
    if (number == 4)
        return result ? table4_make(result, sink, context) : 0;
    if (number == 7)
        return result ? chain_table_make(result, sink, context) : 0;
    if (number == 8)
        return result ? contender_table_make(result, sink, context) : 0;
    if (number > 4)
        return result ? time_tables_make(result, number, sink, context) : 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        if (group_is_first(d, i) && group_has_modes(d, &d->lines[i]))
            code = makers[number](d, &d->lines[i], sink, context);
    if (code == 0 && number == 1)
        code = claimed_make(d, sink, context);
    return code || number != 1 || !result ? code : aa_make(result, sink, context);
}
