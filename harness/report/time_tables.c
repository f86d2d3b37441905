/*
 * time_tables.c - Tables 5 and 6: leads by class of time and by percentile of launches. Relies on analysis/by_time.h
 * and the result. Called by tables.c and screen.c.
 */
#include "report/time_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/by_time.h"
#include "analysis/entry.h"
#include "base/text.h"
#include "report/overlap.h"
#include "report/table_parts.h"
#include "result/left_out.h"

#define NAMES_MAX 64

/* A whole candidate over a whole baseline in a group of cells. */
struct versus {
    const struct result *result;
    const struct result_cell *like; /* the group's first cell */
    const char *candidate, *reference;
};

/* ---- out of the result ---- */

static double typical_ns(const struct result_cell *cell, const struct result_contender *c)
{
    const struct result_timing *t = result_headline(cell, c);
    return isnan(t->median_ns) ? t->mean_ns : t->median_ns;
}

/* Whether it is one of those that the name is chosen from: a family's layouts, or all baselines. */
static bool is_member(const struct result_contender *c, const char *name)
{
    size_t family = text_ends_with(name, "-max") ? strlen(name) - strlen("-max") : 0;
    if (strcmp(name, ENTRY_STRONGEST) == 0)
        return c->role == RESULT_BASELINE;
    return family > 0 && c->role != RESULT_COPY && strlen(c->family) == family && strncmp(c->family, name, family) == 0;
}

/* Who stands for a name of the tables: the fastest of those that it is chosen from. NULL: nobody who is ok. */
static const struct result_contender *timed_as(const struct result_cell *cell, const char *name)
{
    const struct result_contender *exact = result_contender(cell, name), *fastest = NULL;
    for (size_t i = 0; i < cell->n_contenders && !exact; i++) {
        const struct result_contender *c = &cell->contenders[i];
        bool member = c->verdict == VERDICT_OK && is_member(c, name) && typical_ns(cell, c) > 0;
        if (member && (!fastest || typical_ns(cell, c) < typical_ns(cell, fastest)))
            fastest = c;
    }
    return exact ? exact : fastest;
}

static const struct result_pair *pair_of(const struct result_cell *cell, const struct versus *v)
{
    return result_speedup(cell, cell->headline, v->candidate, v->reference);
}

/* The cells' leads; leads[] holds one for each cell of the result. */
static size_t collect_leads(const struct versus *v, struct timed_lead *leads)
{
    size_t n = 0;
    for (size_t i = 0; i < v->result->n_cells; i++) {
        const struct result_cell *cell = &v->result->cells[i];
        const struct result_pair *p = result_same_group(&cell->group, &v->like->group) ? pair_of(cell, v) : NULL;
        const struct result_contender *r = p ? timed_as(cell, v->reference) : NULL;
        if (r)
            leads[n++] = (struct timed_lead){typical_ns(cell, r), p->geomean, cell->floor_ns};
    }
    return n;
}

static struct launch_times launch_times(const struct result_cell *cell, const struct result_contender *c)
{
    const struct result_timing *t = result_headline(cell, c);
    return (struct launch_times){t->n, t->median_ns, t->p95_ns, t->p99_ns};
}

static size_t collect_launches(const struct versus *v, struct launch_pair *pairs)
{
    size_t n = 0;
    for (size_t i = 0; i < v->result->n_cells; i++) {
        const struct result_cell *cell = &v->result->cells[i];
        if (!result_same_group(&cell->group, &v->like->group) || !pair_of(cell, v))
            continue;
        const struct result_contender *r = timed_as(cell, v->reference), *c = timed_as(cell, v->candidate);
        if (r && c)
            pairs[n++] = (struct launch_pair){launch_times(cell, r), launch_times(cell, c)};
    }
    return n;
}

/* Distinct names of whole candidates, or of the baselines that `candidate` stands against, in order of appearance. */
static size_t list_names(const struct result *result, const struct result_cell *like, const char *candidate,
                         const char *names[NAMES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_cell *cell = &result->cells[i];
        for (size_t j = 0; result_same_group(&cell->group, &like->group) && j < cell->n_speedups; j++) {
            const struct result_pair *p = &cell->speedups[j];
            const char *name = candidate ? p->reference : p->candidate;
            bool known = p->timing != cell->headline || dataset_has_layout(name) ||
                         (candidate && strcmp(p->candidate, candidate) != 0) || n == NAMES_MAX;
            for (size_t k = 0; k < n && !known; k++)
                known = strcmp(names[k], name) == 0;
            if (!known)
                names[n++] = name;
        }
    }
    return n;
}

/* ---- tables ---- */

static void identity(struct table *s)
{
    static const char *const keys[] = {"candidate", "mode", "dtype", "accumulate", "timing"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        table_column(s, keys[i], keys[i], true);
        table_hide(s);
    }
}

static const char *timing_called(const struct versus *v)
{
    bool rows[MODE_COUNT];
    overlap_find(v->result, rows);
    return overlap_timing(rows, v->like->group.mode, result_timing_name(v->like->headline));
}

static void add_identity(struct table *s, const struct versus *v)
{
    const struct result_group *g = &v->like->group;
    const char *const words[] = {v->candidate, g->mode, g->dtype, g->accumulate, timing_called(v)};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        table_add(s, NAN, "%s", words[i]);
}

static void describe(struct table *s, const char *name, const char *title, const struct versus *v)
{
    const struct result_group *g = &v->like->group;
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->label, sizeof s->label, "%s-%s-%s-%s-%s", name, v->candidate, g->mode, g->dtype, g->accumulate);
    make_label(s->label);
    snprintf(s->title, sizeof s->title, "%s: %s, %s, %s accumulated in %s, %s time", title, v->candidate, g->mode,
             g->dtype, g->accumulate, timing_called(v));
}

static void time_columns(struct table *s, const struct versus *v)
{
    describe(s, "table5", "Table 5: by time", v);
    table_column(s, "baseline", "baseline", true);
    table_column(s, "its time", "class", true);
    table_column(s, "shapes", "shapes", false);
    table_column(s, TRIMMED, "geomean", false);
    table_share_column(s, "ahead", "ahead");
    table_column(s, "of the time", "weighted", false);
    table_column(s, "floor / time", "floor_candidate", false);
    table_column(s, "floor / its time", "floor_baseline", false);
    identity(s);
    snprintf(
        s->note, sizeof s->note,
        "of the time: sum of the baseline's times over that of the candidate's, minus 1; floor: what arithmetic or "
        "compulsory memory traffic takes at the GPU's peaks, as a share of the times' sum");
}

static void add_time_row(struct table *s, const struct versus *v, const char *class, const struct by_time *of)
{
    table_add(s, NAN, "%s", v->reference);
    table_add(s, NAN, "%s", class);
    table_add(s, (double)of->n, "%zu", of->n);
    add_percent(s, of->geomean, true);
    table_add_share(s, of->wins, of->n);
    add_percent(s, of->weighted, true);
    add_percent(s, of->candidate_floor, false);
    add_percent(s, of->reference_floor, false);
    add_identity(s, v);
}

/* All shapes, then each class that has some. */
static void add_time_rows(struct table *s, const struct versus *v, const struct timed_lead *leads, size_t n)
{
    struct by_time of;
    by_time_of(leads, n, TIME_CLASSES, &of);
    if (of.n == 0)
        return;
    add_time_row(s, v, "all", &of);
    for (size_t class = 0; class < TIME_CLASSES; class ++) {
        by_time_of(leads, n, class, &of);
        if (of.n > 0)
            add_time_row(s, v, time_classes[class].name, &of);
    }
}

static void launch_columns(struct table *s, const struct versus *v)
{
    describe(s, "table6", "Table 6: single launches", v);
    table_column(s, "baseline", "baseline", true);
    table_column(s, "shapes", "shapes", false);
    table_column(s, "launches", "launches", false);
    table_column(s, "fewest", "fewest", false);
    table_column(s, "p50", "p50", false);
    table_column(s, "p95", "p95", false);
    table_column(s, "p99", "p99", false);
    table_column(s, "p99 over p50", "tail_candidate", false);
    table_column(s, "its p99 over p50", "tail_baseline", false);
    identity(s);
    snprintf(
        s->note, sizeof s->note,
        "geometric means over shapes: the lead at each percentile of a shape's launches, one a block and contender; "
        "fewest: launches of the shape that has least; "
        "p95 of under 20 launches and p99 of under 100 are close to the slowest of them");
}

static void add_launch_row(struct table *s, const struct versus *v, const struct launch_pair *pairs, size_t n)
{
    struct launch_tails tails;
    launch_tails_of(pairs, n, &tails);
    if (tails.n == 0)
        return;
    table_add(s, NAN, "%s", v->reference);
    table_add(s, (double)tails.n, "%zu", tails.n);
    table_add(s, tails.launches, "%.0f", tails.launches);
    table_add(s, tails.fewest, "%.0f", tails.fewest);
    add_percent(s, tails.lead_p50, true);
    add_percent(s, tails.lead_p95, true);
    add_percent(s, tails.lead_p99, true);
    add_percent(s, tails.candidate_tail, true);
    add_percent(s, tails.reference_tail, true);
    add_identity(s, v);
}

/* A row, or rows, of one baseline. */
static void add_versus(struct table *s, const struct versus *v, int number)
{
    size_t n = v->result->n_cells + 1;
    struct timed_lead *leads = number == 5 ? calloc(n, sizeof *leads) : NULL;
    struct launch_pair *pairs = number == 6 ? calloc(n, sizeof *pairs) : NULL;
    s->failed |= !leads && !pairs;
    if (leads)
        add_time_rows(s, v, leads, collect_leads(v, leads));
    if (pairs)
        add_launch_row(s, v, pairs, collect_launches(v, pairs));
    free(leads);
    free(pairs);
}

/* A result lacks it; whoever looks for the column is told where it is. */
static void note_missing_p99(struct table *s, const struct versus *v)
{
    for (size_t i = 0; i < v->result->n_cells; i++)
        for (size_t c = 0; c < v->result->cells[i].n_contenders; c++)
            if (result_headline(&v->result->cells[i], &v->result->cells[i].contenders[c])->p99_ns > 0)
                return;
    table_note(s, "p99 is in the journal alone: give that to `report`");
}

/* Of the baselines the one that has most shapes which the rows do not count. */
static void note_left_out(struct table *s, const struct versus *v, const char *const *references, size_t n)
{
    size_t most = 0, taken = 0;
    for (size_t i = 0; i < n; i++) {
        const struct left_out_pair pair = {v->candidate, references[i], v->like->headline, false};
        size_t left_out = 0, pairs = 0;
        for (size_t k = 0; k < v->result->n_cells; k++) {
            const struct result_cell *cell = &v->result->cells[k];
            bool same = result_same_group(&cell->group, &v->like->group);
            left_out += same && result_leaves_out(cell, &pair);
            pairs += same && result_speedup(cell, cell->headline, v->candidate, references[i]);
        }
        taken = left_out > most ? pairs : taken;
        most = left_out > most ? left_out : most;
    }
    if (most > 0)
        table_note(s, LEFT_OUT_WORDS, most, most + taken);
}

static int table_of(struct versus *v, int number, table_sink sink, void *context)
{
    const char *references[NAMES_MAX];
    struct table s = {0};
    size_t n = list_names(v->result, v->like, v->candidate, references);
    if (number == 5)
        time_columns(&s, v);
    else
        launch_columns(&s, v);
    for (size_t i = 0; i < n; i++) {
        v->reference = references[i];
        add_versus(&s, v, number);
    }
    if (number == 6)
        note_missing_p99(&s, v);
    note_left_out(&s, v, references, n);
    int code = table_rows(&s) > 0 || s.failed ? sink(context, number, &s) : 0;
    table_free(&s);
    return code;
}

int time_tables_make(const struct result *result, int number, table_sink sink, void *context)
{
    int code = 0;
    for (size_t i = 0; i < result->n_cells && code == 0; i++) {
        const char *candidates[NAMES_MAX];
        const struct result_cell *like = &result->cells[i];
        bool wanted = number == 5 || strcmp(like->group.mode, mode_names[MODE_SERVER]) == 0;
        size_t n = wanted && result_is_first_of_group(result, i) ? list_names(result, like, NULL, candidates) : 0;
        for (size_t c = 0; c < n && code == 0; c++) {
            struct versus v = {.result = result, .like = like, .candidate = candidates[c]};
            code = table_of(&v, number, sink, context);
        }
    }
    return code;
}

/* ---- for the screen ---- */

void time_table_launches(const struct result *result, const struct result_cell *like, struct table *out)
{
    const char *candidates[NAMES_MAX], *references[NAMES_MAX];
    struct versus v = {.result = result, .like = like};
    if (strcmp(like->group.mode, mode_names[MODE_SERVER]) != 0 || list_names(result, like, NULL, candidates) == 0)
        return;
    v.candidate = candidates[0];
    size_t n = list_names(result, like, v.candidate, references);
    launch_columns(out, &v);
    for (size_t i = 0; i < n; i++) {
        v.reference = references[i];
        add_versus(out, &v, 6);
    }
    note_missing_p99(out, &v);
    note_left_out(out, &v, references, n);
}

void time_table_hardest(const struct result *result, const struct result_cell *like, struct table *out)
{
    const char *candidates[NAMES_MAX], *references[NAMES_MAX];
    struct versus v = {.result = result, .like = like};
    struct timed_lead *leads = calloc(result->n_cells + 1, sizeof *leads);
    const char *hardest = NULL;
    double least = INFINITY;
    out->failed |= !leads;
    if (!leads || list_names(result, like, NULL, candidates) == 0) {
        free(leads);
        return;
    }
    v.candidate = candidates[0];
    size_t n = list_names(result, like, v.candidate, references);
    for (size_t i = 0; i < n; i++) {
        struct by_time of;
        v.reference = references[i];
        by_time_of(leads, collect_leads(&v, leads), TIME_CLASSES, &of);
        if (of.n > 0 && of.geomean < least) {
            least = of.geomean;
            hardest = references[i];
        }
    }
    v.reference = hardest;
    time_columns(out, &v);
    if (hardest)
        add_time_rows(out, &v, leads, collect_leads(&v, leads));
    note_left_out(out, &v, &hardest, hardest ? 1 : 0);
    free(leads);
}
