#include "report/tables.h"

#include "report/aa.h"
#include "report/groups.h"
#include "report/sizes.h"
#include "report/table4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char interval_head[] = "95% of mean";

static void add_percent(struct sheet *s, double value, bool sign)
{
    if (isnan(value))
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, value, sign ? "%+.2f%%" : "%.2f%%", 100 * value);
}

static void add_wins(struct sheet *s, const struct aggregate *a)
{
    if (a->n == 0)
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, (double)a->wins, "%zu/%zu", a->wins, a->n);
}

static void aggregate_or_nothing(const struct line *line, struct aggregate *out)
{
    *out = (struct aggregate){.mean = NAN, .sd = NAN, .low = NAN, .high = NAN, .geomean = NAN, .median = NAN};
    out->max_mean = NAN;
    if (line)
        line_aggregate(line, out);
}

static void mode_column(struct sheet *s, const char *mode, const char *what, const char *key)
{
    char head[64];
    char full_key[48];
    snprintf(head, sizeof head, "%s %s", mode, what);
    snprintf(full_key, sizeof full_key, "%s_%s", mode, key);
    if (strcmp(what, interval_head) == 0)
        sheet_interval_column(s, head, full_key);
    else
        sheet_column(s, head, full_key, false);
}

static void describe(const char *name, const struct line *group, struct sheet *s)
{
    snprintf(s->title, sizeof s->title, "%s: %s, %s over each baseline, %s accumulated in %s, %s time", name,
             group->candidate, group->source, group->dtype, group->accumulate, group->timing);
}

/* ---- where too few shapes reached the wanted precision ---- */

/* Of a group, by mode; {0, 0} for a mode that it lacks. */
struct outcomes {
    struct outcome mode[GROUP_MODES];
    bool scant; /* one of them allows no mean */
};

static struct outcomes outcomes_of(const struct dataset *d, const struct line *group)
{
    struct outcomes o = {0};
    for (size_t i = 0; i < d->n; i++)
        for (size_t m = 0; m < GROUP_MODES; m++) {
            const struct line *line = group_line(d, group, group_modes[m], d->lines[i].reference);
            if (line)
                o.mode[m] = line->outcome;
        }
    for (size_t m = 0; m < GROUP_MODES; m++)
        o.scant |= !outcome_allows_mean(o.mode[m]);
    return o;
}

static void add_note(struct sheet *s, const char *mode, struct outcome outcome)
{
    char words[128];
    size_t used = strlen(s->note);
    outcome_say(outcome, words, sizeof words);
    if (!outcome_allows_mean(outcome))
        snprintf(s->note + used, sizeof s->note - used, "%s%s: %s", used ? "; " : "", mode, words);
}

/* The counts stand in columns of their own only where they are what took a mean away. */
static void outcome_columns(struct sheet *s, const struct outcomes *o)
{
    for (size_t m = 0; m < GROUP_MODES && o->scant; m++) {
        mode_column(s, group_modes[m], "converged", "converged");
        mode_column(s, group_modes[m], "measured", "measured");
        add_note(s, group_modes[m], o->mode[m]);
    }
}

static void add_count(struct sheet *s, size_t count, bool known)
{
    if (known)
        sheet_add(s, (double)count, "%zu", count);
    else
        sheet_add(s, NAN, "-");
}

static void outcome_cells(struct sheet *s, const struct outcomes *o)
{
    for (size_t m = 0; m < GROUP_MODES && o->scant; m++) {
        add_count(s, o->mode[m].converged, o->mode[m].measured > 0);
        add_count(s, o->mode[m].measured, o->mode[m].measured > 0);
    }
}

/* ---- Table 1 ---- */

static void table1_columns(struct sheet *s)
{
    static const char *const what[][2] = {{"mean", "mean"}, {"wins", "wins"},       {"median", "median"},
                                          {"std", "std"},   {"geomean", "geomean"}, {interval_head, "mean_ci95"}};
    sheet_column(s, "baseline", "baseline", true);
    for (size_t m = 0; m < GROUP_MODES; m++)
        for (size_t w = 0; w < sizeof what / sizeof *what; w++)
            mode_column(s, group_modes[m], what[w][0], what[w][1]);
}

static void table1_cells(struct sheet *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.mean, true);
    add_wins(s, &a);
    add_percent(s, a.median, true);
    add_percent(s, a.sd, false);
    add_percent(s, a.geomean, true);
    sheet_add_interval(s, a.low, a.high);
}

static int table1_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    const char *references[128];
    struct sheet s = {0};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, group);
    describe("Table 1", group, &s);
    table1_columns(&s);
    outcome_columns(&s, &outcomes);
    for (size_t i = 0; i < n; i++) {
        const struct line *lines[GROUP_MODES] = {group_line(d, group, group_modes[0], references[i]),
                                                 group_line(d, group, group_modes[1], references[i])};
        if (!lines[0] && !lines[1])
            continue;
        sheet_add(&s, NAN, "%s", references[i]);
        table1_cells(&s, lines[0]);
        table1_cells(&s, lines[1]);
        outcome_cells(&s, &outcomes);
    }
    int code = sink(context, 1, &s);
    sheet_free(&s);
    return code;
}

/* ---- claimed next to measured ---- */

static void side_cells(struct sheet *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.mean, true);
    add_wins(s, &a);
}

static int side_by_side(const struct dataset *d, const struct line *measured, const struct line *claimed,
                        sheet_sink sink, void *context)
{
    const struct line *const sides[] = {measured, claimed};
    const char *references[128];
    struct sheet s = {0};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, measured);
    snprintf(s.title, sizeof s.title, "Table 1: claimed (%s) next to measured (%s), accumulate %s", claimed->candidate,
             measured->candidate, measured->accumulate);
    sheet_column(&s, "baseline", "baseline", true);
    for (size_t m = 0; m < GROUP_MODES; m++) {
        mode_column(&s, group_modes[m], "measured", "measured_mean");
        mode_column(&s, group_modes[m], "wins", "measured_wins");
        mode_column(&s, group_modes[m], "claimed", "claimed_mean");
        mode_column(&s, group_modes[m], "wins", "claimed_wins");
        add_note(&s, group_modes[m], outcomes.mode[m]);
    }
    for (size_t i = 0; i < n; i++) {
        sheet_add(&s, NAN, "%s", references[i]);
        for (size_t m = 0; m < GROUP_MODES; m++)
            for (size_t side = 0; side < 2; side++)
                side_cells(&s, group_line(d, sides[side], group_modes[m], references[i]));
    }
    int code = sink(context, 1, &s);
    sheet_free(&s);
    return code;
}

static int all_side_by_side(const struct dataset *d, sheet_sink sink, void *context)
{
    int code = 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        for (size_t j = 0; j < d->n && code == 0; j++) {
            const struct line *a = &d->lines[i];
            const struct line *b = &d->lines[j];
            bool pair = strcmp(a->source, "measured") == 0 && strcmp(b->source, "claimed") == 0;
            bool firsts = group_is_first(d, i) && group_is_first(d, j);
            if (pair && firsts && strcmp(a->accumulate, b->accumulate) == 0)
                code = side_by_side(d, a, b, sink, context);
        }
    return code;
}

/* ---- Table 2 ---- */

static int table2_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    const char *references[128];
    struct sheet s = {0};
    size_t n = group_references(d, references, 128);
    const struct outcomes outcomes = outcomes_of(d, group);
    describe("Table 2: the better of candidate and baseline", group, &s);
    sheet_column(&s, "baseline", "baseline", true);
    for (size_t m = 0; m < GROUP_MODES; m++)
        mode_column(&s, group_modes[m], "mean of max", "mean_of_max");
    outcome_columns(&s, &outcomes);
    for (size_t i = 0; i < n; i++) {
        struct aggregate a[GROUP_MODES];
        for (size_t m = 0; m < GROUP_MODES; m++)
            aggregate_or_nothing(group_line(d, group, group_modes[m], references[i]), &a[m]);
        if (a[0].n + a[1].n == 0)
            continue;
        sheet_add(&s, NAN, "%s", references[i]);
        add_percent(&s, a[0].max_mean, true);
        add_percent(&s, a[1].max_mean, true);
        outcome_cells(&s, &outcomes);
    }
    int code = sink(context, 2, &s);
    sheet_free(&s);
    return code;
}

/* ---- Table 3 ---- */

static void add_bin_name(struct sheet *s, size_t axis, size_t index)
{
    double from = (double)index * size_axes[axis].width;
    double to = from + size_axes[axis].width;
    if (size_axes[axis].exponent)
        sheet_add(s, from, "%.0f to %.0f", from, to);
    else
        sheet_add(s, exp2(from), "%.0f to %.0f", exp2(from), exp2(to));
}

static void table3_columns(struct sheet *s, const struct line *line, size_t axis)
{
    sheet_column(s, size_axes[axis].head, size_axes[axis].key, true);
    sheet_column(s, "shapes", "shapes", false);
    sheet_column(s, "mean", "mean", false);
    sheet_column(s, "geomean", "geomean", false);
    sheet_column(s, "wins", "wins", false);
    if (outcome_allows_mean(line->outcome))
        return;
    sheet_column(s, "converged", "converged", false);
    add_note(s, line->mode, line->outcome);
}

static int table3_sheet(const struct line *line, size_t axis, sheet_sink sink, void *context)
{
    struct size_bin bins[SIZE_BINS];
    struct sheet s = {0};
    size_fill_bins(line, &size_axes[axis], bins);
    snprintf(s.title, sizeof s.title, "Table 3: %s over %s by %s, %s %s, accumulate %s", line->candidate,
             line->reference, size_axes[axis].head, line->source, line->mode, line->accumulate);
    table3_columns(&s, line, axis);
    for (size_t i = 0; i < SIZE_BINS; i++) {
        if (bins[i].n == 0)
            continue;
        double n = (double)bins[i].n;
        add_bin_name(&s, axis, i);
        sheet_add(&s, n, "%zu", bins[i].n);
        add_percent(&s, bins[i].sum / n, true);
        add_percent(&s, expm1(bins[i].sum_log / n), true);
        sheet_add(&s, (double)bins[i].wins, "%zu", bins[i].wins);
        if (!outcome_allows_mean(line->outcome))
            add_count(&s, bins[i].converged, true);
    }
    int code = sink(context, 3, &s);
    sheet_free(&s);
    return code;
}

static int table3_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    int code = 0;
    for (size_t m = 0; m < GROUP_MODES; m++) {
        const struct line *line = group_last(d, group, group_modes[m]);
        for (size_t axis = 0; line && axis < SIZE_AXES && code == 0; axis++)
            code = table3_sheet(line, axis, sink, context);
    }
    return code;
}

int tables_make(const struct dataset *d, const cJSON *result, int table, sheet_sink sink, void *context)
{
    static int (*const makers[])(const struct dataset *, const struct line *, sheet_sink,
                                 void *) = {NULL, table1_of_group, table2_of_group, table3_of_group};
    int code = 0;
    if (table == 4)
        return result ? table4_make(result, sink, context) : 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        if (group_is_first(d, i))
            code = makers[table](d, &d->lines[i], sink, context);
    if (code == 0 && table == 1)
        code = all_side_by_side(d, sink, context);
    return code || table != 1 || !result ? code : aa_make(result, sink, context);
}
