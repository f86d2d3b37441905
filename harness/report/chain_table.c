/*
 * chain_table.c - makes Table 7 of a result's cells in mode chain. Relies on dataset.c for the lines, one timing after
 * the other, and on table_parts.c. Called by tables.c.
 */
#include "report/chain_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/table_parts.h"

#define REFERENCES_MAX 128

static bool is_chain(const struct line *line)
{
    return strcmp(line->mode, mode_names[MODE_CHAIN]) == 0;
}

/* How a chain is run where this timing is taken. */
static const char *way_of(int timing)
{
    switch (timing_table[timing].way) {
    case TIMING_BY_SEGMENT:
        return "one graph";
    case TIMING_BY_EVENTS:
        return "a stream";
    case TIMING_BY_HOST:
        return "by the host's clock";
    }
    return "";
}

/* Those taken by default have their columns always, others where some chain was timed so. */
static bool is_shown(const struct dataset *d, int timing)
{
    bool any = timing_table[timing].by_default;
    for (size_t i = 0; i < d->n; i++)
        any |= is_chain(&d->lines[i]) && strcmp(d->lines[i].timing, timing_names[timing]) == 0;
    return any && (timing_table[timing].modes & CUDAL2_BIT(MODE_CHAIN)) != 0;
}

static bool is_same(const struct line *a, const struct line *b)
{
    return is_chain(a) && is_chain(b) && strcmp(a->dtype, b->dtype) == 0 && strcmp(a->accumulate, b->accumulate) == 0 &&
           strcmp(a->candidate, b->candidate) == 0;
}

static bool is_first(const struct dataset *d, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_same(&d->lines[i], &d->lines[index]))
            return false;
    return is_chain(&d->lines[index]);
}

static void columns(struct table *s, const struct dataset *d)
{
    static const struct {
        const char *head, *key;
        enum table_pair pair;
    } kinds[] = {{TRIMMED, "geomean", TABLE_SINGLE},
                 {"wins", "wins", TABLE_SHARE},
                 {"median", "median", TABLE_SINGLE},
                 {PAPER, "mean", TABLE_SINGLE},
                 {PAPER_INTERVAL, "mean_ci95", TABLE_INTERVAL}};
    table_column(s, "baseline", "baseline", true);
    for (int t = 0; t < TIMING_COUNT; t++)
        for (size_t i = 0; is_shown(d, t) && i < sizeof kinds / sizeof *kinds; i++) {
            mode_column(s, timing_names[t], kinds[i].head, kinds[i].key, kinds[i].pair);
            if (timing_table[t].by_default) /* others keep their name: one way may have several timings */
                table_group(s, way_of(t));
        }
    identity_columns(s);
}

static void cells(struct table *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.geomean, true);
    table_add_share(s, a.wins, a.n);
    add_percent(s, a.median, true);
    add_percent(s, a.mean, true);
    table_add_interval(s, a.low, a.high);
}

static const struct line *find(const struct dataset *d, const struct line *group, int timing, const char *reference)
{
    struct line like = *group;
    snprintf(like.timing, sizeof like.timing, "%s", timing_names[timing]);
    return group_line(d, &like, group->mode, reference);
}

static void add_row(struct table *s, const struct dataset *d, const struct line *group, const char *reference)
{
    bool any = false;
    for (int t = 0; t < TIMING_COUNT; t++)
        any |= is_shown(d, t) && find(d, group, t, reference) != NULL;
    if (!any)
        return;
    table_add(s, NAN, "%s", reference);
    for (int t = 0; t < TIMING_COUNT; t++)
        if (is_shown(d, t))
            cells(s, find(d, group, t, reference));
    identity_cells(s, group);
}

static int table_of(const struct dataset *d, const struct line *group, table_sink sink, void *context)
{
    const char *references[REFERENCES_MAX];
    struct table s = {0};
    size_t n = group_references(d, references, REFERENCES_MAX);
    describe_table(&s, "table7", "Table 7: in a chain", group);
    snprintf(s.title, sizeof s.title, "Table 7: in a chain: %s over each baseline, %s accumulated in %s",
             group->candidate, group->dtype, group->accumulate);
    columns(&s, d);
    table_note(&s, "of the time that a product adds to a chain of layers: with products minus without (docs/method.md, "
                   "12)");
    outcome_note(&s, group->mode, group->outcome);
    left_out_note_of(&s, group);
    for (size_t i = 0; i < n; i++)
        add_row(&s, d, group, references[i]);
    int code = sink(context, 7, &s);
    table_free(&s);
    return code;
}

int chain_table_make(const struct result *result, table_sink sink, void *context)
{
    struct dataset d = {0};
    struct error ignored;
    int code = 0;
    for (int t = 0; t < TIMING_COUNT && code == 0; t++)
        if ((timing_table[t].modes & CUDAL2_BIT(MODE_CHAIN)) != 0)
            code = dataset_add_result(&d, result, timing_names[t], &ignored);
    for (size_t i = 0; i < d.n && code == 0; i++)
        if (is_first(&d, i))
            code = table_of(&d, &d.lines[i], sink, context);
    dataset_free(&d);
    return code;
}
