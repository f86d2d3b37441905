/*
 * entry.c - the entries of a cell that can be compared, with `-max` and `strongest` chosen on one half of the groups
 * and scored on the other. Relies on stats/choice.h. Called by result/cell.c and stop.c.
 */
#include "analysis/entry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/choice.h"

static bool is_ok(const struct contender_record *c)
{
    return c->verdict == VERDICT_OK && c->copy_of[0] == '\0';
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

/* Common blocks of those that one is chosen from, with what is needed to choose. */
struct race {
    const struct cell_record *record;
    size_t n_members, n;
    const struct series *member[RECORD_MAX_CONTENDERS];
    unsigned *block;
    unsigned *half; /* 0 or 1 */
    double *ns;     /* of member m in common block i: ns[m * room + i] */
    size_t room;
};

static void race_free(struct race *race)
{
    free(race->block);
    free(race->half);
    free(race->ns);
}

static double ns_at(const struct race *race, size_t member, size_t i)
{
    return race->ns[member * race->room + i];
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

/* Moves at[] on to block `block` in every series; false where one has no value of it. */
static bool all_have(const struct race *race, unsigned block, size_t *at)
{
    bool all = true;
    for (size_t m = 0; m < race->n_members; m++) {
        const struct series *s = race->member[m];
        while (at[m] < s->n && s->block[at[m]] < block)
            at[m]++;
        all = all && at[m] < s->n && s->block[at[m]] == block;
    }
    return all;
}

static int race_collect(struct race *race)
{
    const struct series *first = race->member[0];
    size_t at[RECORD_MAX_CONTENDERS] = {0};
    race->room = first->n + 1;
    race->block = malloc(race->room * sizeof *race->block);
    race->half = malloc(race->room * sizeof *race->half);
    race->ns = malloc(race->n_members * race->room * sizeof *race->ns);
    if (!race->block || !race->half || !race->ns)
        return -1;
    for (size_t i = 0; i < first->n; i++) {
        if (!all_have(race, first->block[i], at))
            continue;
        race->block[race->n] = first->block[i];
        for (size_t m = 0; m < race->n_members; m++)
            race->ns[m * race->room + race->n] = race->member[m]->ns[at[m]];
        race->n++;
    }
    assign_halves(race);
    return 0;
}

/* Median of one member over one half of the healthy blocks (2: over both); NaN when there are none. */
static double median_of_half(const struct race *race, size_t member, unsigned half)
{
    double *values = malloc((race->n + 1) * sizeof *values);
    if (!values)
        return NAN;
    size_t n = 0;
    for (size_t i = 0; i < race->n; i++)
        if ((half == 2 || race->half[i] == half) && !record_block_dropped(race->record, race->block[i]))
            values[n++] = ns_at(race, member, i);
    double median = stats_median(values, n);
    free(values);
    return median;
}

/* The fastest member on this half, leaving out `but`; n_members when there is none. */
static size_t fastest_on(const struct race *race, unsigned half, size_t but)
{
    size_t best = race->n_members;
    double least = NAN;
    for (size_t m = 0; m < race->n_members; m++) {
        double median = m == but ? NAN : median_of_half(race, m, half);
        if (!isnan(median) && !(median >= least)) {
            least = median;
            best = m;
        }
    }
    return best;
}

/* Where the half is empty the other one has to serve for both. */
static size_t winner_on(const struct race *race, unsigned half)
{
    size_t best = fastest_on(race, half, race->n_members);
    if (best == race->n_members)
        best = fastest_on(race, 1 - half, race->n_members);
    return best < race->n_members ? best : 0;
}

/* What choosing between the two that come first adds to the variance: the others are too far behind to be mistaken. */
static int choosing(const struct race *race, double *out)
{
    size_t first = fastest_on(race, 2, race->n_members);
    size_t second = fastest_on(race, 2, first);
    struct pair pair;
    struct interval interval;
    if (second >= race->n_members)
        return 0;
    if (pair_collect(race->record, race->member[first], race->member[second], PAIR_HEALTHY_BLOCKS, &pair))
        return -1;
    pair_interval(&pair, &interval);
    pair_free(&pair);
    *out = stats_choice_variance(interval.estimate, interval.error);
    return 0;
}

static int cross_fit(struct race *race, struct series *out, double *variance)
{
    int failed = race_collect(race);
    if (!failed) {
        size_t winner[2] = {winner_on(race, 0), winner_on(race, 1)};
        for (size_t i = 0; i < race->n && !failed; i++)
            failed = series_add(out, race->block[i], ns_at(race, winner[1 - race->half[i]], i));
        failed = failed || choosing(race, variance);
    }
    race_free(race);
    return failed;
}

/* Members that have times of this kind; false when two of them cannot be compared. */
static bool enter(const struct entry *e, enum timing timing, struct race *race)
{
    const struct contender_record *first = NULL;
    for (size_t i = 0; i < e->n_members; i++) {
        const struct contender_record *c = e->members[i];
        if (c->timings[timing].n == 0)
            continue;
        if (first && !pair_is_comparable(first, c, timing))
            return false;
        first = first ? first : c;
        race->member[race->n_members++] = &c->timings[timing];
    }
    return true;
}

static int fill_timing(const struct cell_record *r, struct entry *max, enum timing timing)
{
    struct race race = {.record = r};
    if (!enter(max, timing, &race) || race.n_members == 0)
        return 0;
    if (race.n_members == 1) {
        max->timings[timing] = race.member[0];
        return 0;
    }
    int failed = cross_fit(&race, &max->owned[timing], &max->choosing[timing]);
    if (max->owned[timing].n > 0)
        max->timings[timing] = &max->owned[timing];
    return failed;
}

static int fill_timings(const struct cell_record *r, struct entry *e)
{
    int failed = 0;
    for (int t = 0; t < TIMING_COUNT && !failed; t++)
        failed = fill_timing(r, e, (enum timing)t);
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

/* A search has several finalists of a layout; the first of each is what it would choose. */
static bool has_layout(const struct entry *max, enum cudal2_layout layout)
{
    for (size_t i = 0; i < max->n_members; i++)
        if (max->members[i]->layout == layout)
            return true;
    return false;
}

static int add_max(const struct cell_record *r, struct entries *e, const struct contender_record *first)
{
    struct entry *max = &e->list[e->n++];
    *max = (struct entry){.family = first->family, .candidate = first->candidate, .rung = first->rung};
    snprintf(max->name, sizeof max->name, "%.*s-max", RECORD_NAME_MAX - 5, first->family);
    for (size_t i = 0; i < r->n_contenders && max->n_members < 2; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool member = is_ok(c) && c->has_layout_suffix && c->candidate == first->candidate;
        if (member && !has_layout(max, c->layout) && strcmp(c->family, first->family) == 0)
            max->members[max->n_members++] = c;
    }
    if (max->n_members == 2 && !has_segment_time(first))
        max->rung = max->members[1]->rung;
    return fill_timings(r, max);
}

/* Not where candidates failed: what they would be compared with is nobody's lead. */
static void let_first_family_be_candidate(const struct cell_record *r, struct entries *e)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        if (r->contenders[i].candidate)
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
        let_first_family_be_candidate(r, out);
    return failed;
}

/* The rung of the first that has times of the device stands for all: others cannot be compared with it. */
int entries_add_strongest(const struct cell_record *r, struct entries *e)
{
    struct entry strongest = {.family = ENTRY_STRONGEST, .name = ENTRY_STRONGEST, .rung = ""};
    bool families = false, candidate = false;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        candidate = candidate || (is_ok(c) && c->candidate);
        if (!is_ok(c) || c->candidate)
            continue;
        if (strongest.rung[0] == '\0' && has_segment_time(c))
            strongest.rung = c->rung;
        families = families || (strongest.n_members > 0 && strcmp(strongest.members[0]->family, c->family) != 0);
        strongest.members[strongest.n_members++] = c;
    }
    if (!families || !candidate)
        return 0;
    e->list[e->n] = strongest;
    return fill_timings(r, &e->list[e->n++]);
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
