/*
 * entry.c - the entries of a cell that can be compared, with `-max` chosen on one half of the groups and scored on the
 * other. Relies on stats/choice.h. Called by result/cell.c and stop.c.
 */
#include "analysis/entry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/choice.h"

static bool is_ok(const struct contender_record *c)
{
    return strcmp(c->status, "ok") == 0 && c->copy_of[0] == '\0';
}

static void add_contender(struct entries *e, const struct contender_record *c)
{
    struct entry *entry = &e->list[e->n++];
    *entry = (struct entry){.contender = c, .family = c->family, .candidate = c->candidate, .rung = c->rung};
    snprintf(entry->name, sizeof entry->name, "%s", c->name);
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->timings[t].n > 0)
            entry->timings[t] = &c->timings[t];
}

/* Common blocks of two layouts, with what is needed to choose between them. */
struct race {
    const struct cell_record *record;
    size_t n;
    unsigned *block;
    unsigned *half; /* 0 or 1 */
    double *ns[2];
};

static void race_free(struct race *race)
{
    free(race->block);
    free(race->half);
    free(race->ns[0]);
    free(race->ns[1]);
}

static unsigned group_at(const struct race *race, size_t i)
{
    const struct cell_record *r = race->record;
    return r->group_of && race->block[i] < r->blocks ? r->group_of[race->block[i]] : 0;
}

/* Groups fall into the halves in turn. Those of this timing are counted, not those of the cell: what is timed in every
 * fourth block of groups of two is in even groups alone, and one half would be empty. Nor are groups that saw a
 * slowdown: a half of nothing else could choose nothing. With one group only, blocks fall into the halves in turn. */
static void assign_halves(struct race *race)
{
    unsigned groups = 0, healthy = 0, last = 0;
    for (size_t i = 0; i < race->n; i++) {
        bool dropped = record_block_dropped(race->record, race->block[i]);
        if (!dropped && (groups == 0 || group_at(race, i) != last)) {
            groups++;
            last = group_at(race, i);
        }
        race->half[i] = groups > 0 ? (groups - 1) % 2 : 0;
    }
    for (size_t i = 0; i < race->n && groups == 1; i++) {
        race->half[i] = healthy % 2;
        healthy += !record_block_dropped(race->record, race->block[i]);
    }
}

static int race_collect(const struct cell_record *r, const struct series *a, const struct series *b, struct race *out)
{
    *out = (struct race){.record = r};
    out->block = malloc((a->n + 1) * sizeof *out->block);
    out->half = malloc((a->n + 1) * sizeof *out->half);
    out->ns[0] = malloc((a->n + 1) * sizeof *out->ns[0]);
    out->ns[1] = malloc((a->n + 1) * sizeof *out->ns[1]);
    if (!out->block || !out->half || !out->ns[0] || !out->ns[1])
        return -1;
    for (size_t i = 0, j = 0; i < a->n; i++) {
        while (j < b->n && b->block[j] < a->block[i])
            j++;
        if (j == b->n || b->block[j] != a->block[i])
            continue;
        out->block[out->n] = a->block[i];
        out->ns[0][out->n] = a->ns[i];
        out->ns[1][out->n++] = b->ns[j];
    }
    assign_halves(out);
    return 0;
}

/* Median of one layout over one half of the healthy blocks; NaN when there are none. */
static double median_of_half(const struct race *race, unsigned layout, unsigned half)
{
    double *values = malloc((race->n + 1) * sizeof *values);
    if (!values)
        return NAN;
    size_t n = 0;
    for (size_t i = 0; i < race->n; i++)
        if (race->half[i] == half && !record_block_dropped(race->record, race->block[i]))
            values[n++] = race->ns[layout][i];
    double median = stats_median(values, n);
    free(values);
    return median;
}

/* The layout that was faster on this half. Where the half is empty the other one has to serve for both. */
static unsigned winner_on(const struct race *race, unsigned half)
{
    double first = median_of_half(race, 0, half);
    double second = median_of_half(race, 1, half);
    if (isnan(first) || isnan(second)) {
        first = median_of_half(race, 0, 1 - half);
        second = median_of_half(race, 1, 1 - half);
    }
    return second < first ? 1 : 0;
}

/* What choosing between the two adds to the variance of the -max. */
static int choosing_between(const struct cell_record *r, const struct series *a, const struct series *b, double *out)
{
    struct pair pair;
    struct interval interval;
    if (pair_collect(r, a, b, PAIR_HEALTHY_BLOCKS, &pair))
        return -1;
    pair_interval(&pair, &interval);
    pair_free(&pair);
    *out = stats_choice_variance(interval.estimate, interval.error);
    return 0;
}

static int cross_fit(const struct cell_record *r, const struct series *a, const struct series *b, struct series *out)
{
    struct race race;
    int failed = race_collect(r, a, b, &race);
    if (!failed) {
        unsigned winner[2] = {winner_on(&race, 0), winner_on(&race, 1)};
        for (size_t i = 0; i < race.n && !failed; i++) {
            unsigned chosen = winner[1 - race.half[i]];
            failed = series_add(out, race.block[i], race.ns[chosen][i]);
        }
    }
    race_free(&race);
    return failed;
}

static int fill_timing(const struct cell_record *r, struct entry *max, enum timing timing)
{
    const struct series *a = &max->layouts[0]->timings[timing];
    if (max->n_layouts == 1) {
        max->timings[timing] = a->n > 0 ? a : NULL;
        return 0;
    }
    const struct series *b = &max->layouts[1]->timings[timing];
    if (a->n == 0 || b->n == 0) {
        max->timings[timing] = a->n > 0 ? a : b->n > 0 ? b : NULL;
        return 0;
    }
    if (!pair_is_comparable(max->layouts[0], max->layouts[1], timing))
        return 0;
    int failed = cross_fit(r, a, b, &max->owned[timing]) || choosing_between(r, a, b, &max->choosing[timing]);
    if (max->owned[timing].n > 0)
        max->timings[timing] = &max->owned[timing];
    return failed;
}

static bool has_segment_time(const struct contender_record *c)
{
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_is_segment((enum timing)t) && c->timings[t].n > 0)
            return true;
    return false;
}

static bool family_is_there(const struct entries *e, const struct contender_record *c)
{
    for (size_t i = 0; i < e->n; i++)
        if (!e->list[i].contender && strcmp(e->list[i].family, c->family) == 0 && e->list[i].candidate == c->candidate)
            return true;
    return false;
}

static int add_max(const struct cell_record *r, struct entries *e, const struct contender_record *first)
{
    struct entry *max = &e->list[e->n++];
    *max = (struct entry){.family = first->family, .candidate = first->candidate, .rung = first->rung};
    snprintf(max->name, sizeof max->name, "%.*s-max", RECORD_NAME_MAX - 5, first->family);
    for (size_t i = 0; i < r->n_contenders && max->n_layouts < 2; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool member = is_ok(c) && c->has_layout_suffix && c->candidate == first->candidate;
        if (member && strcmp(c->family, first->family) == 0)
            max->layouts[max->n_layouts++] = c;
    }
    if (max->n_layouts == 2 && !has_segment_time(first))
        max->rung = max->layouts[1]->rung;
    int failed = 0;
    for (int t = 0; t < TIMING_COUNT && !failed; t++)
        failed = fill_timing(r, max, (enum timing)t);
    return failed;
}

static void let_first_family_be_candidate(struct entries *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->list[i].candidate)
            return;
    for (size_t i = 0; i < e->n; i++)
        e->list[i].candidate = strcmp(e->list[i].family, e->list[0].family) == 0;
}

int entries_of(const struct cell_record *r, struct entries *out)
{
    int failed = 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < r->n_contenders; i++)
        if (is_ok(&r->contenders[i]))
            add_contender(out, &r->contenders[i]);
    for (size_t i = 0; i < r->n_contenders && !failed; i++) {
        const struct contender_record *c = &r->contenders[i];
        if (is_ok(c) && c->has_layout_suffix && !family_is_there(out, c))
            failed = add_max(r, out, c);
    }
    if (out->n > 0)
        let_first_family_be_candidate(out);
    return failed;
}

void entries_free(struct entries *e)
{
    for (size_t i = 0; i < e->n; i++)
        for (int t = 0; t < TIMING_COUNT; t++)
            series_free(&e->list[i].owned[t]);
}

bool match_is_comparable(const struct match *m)
{
    return rungs_are_comparable(m->candidate->rung, m->reference->rung, m->timing);
}

int match_collect(const struct cell_record *r, const struct match *m, enum pair_blocks which, struct pair *out)
{
    if (pair_collect(r, m->reference->timings[m->timing], m->candidate->timings[m->timing], which, out))
        return -1;
    out->choosing = m->candidate->choosing[m->timing] + m->reference->choosing[m->timing];
    return 0;
}
