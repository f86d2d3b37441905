/*
 * stop.c - decides whether a cell has enough blocks: the pairs that decide, their intervals, the cap and giving up
 * (docs/method.md, section 5). Relies on analysis/pair.h and entry.h. Called by cell_loop.c after each block.
 */
#include "measure/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/quantization.h"
#include "analysis/entry.h"
#include "analysis/pair.h"
#include "stats/interval.h"

#define HOPELESS 1.25 /* times the wanted width: intervals narrow by luck, too */
/* From so many groups on a tenth is dropped at either end (stats/interval.h), and an interval narrows at once. */
#define TRIMMED_FROM 10u

/* A lead is known well enough to a tenth of itself, where that is not more than the config allows. */
#define LEAD_SHARE 0.1

/* The pair with the widest interval so far. */
struct worst {
    struct cell_record *record;
    double half_width;
    double far_ns; /* baselines that take longer do not decide */
    char pair[sizeof((struct cell_record *)0)->worst_pair];
    bool any, failed;
    bool coarse; /* an interval, not of this pair perhaps, is narrower than what the clock tells */
};

static bool takes_part(const struct cell_record *r, const struct contender_record *c)
{
    return c->verdict == VERDICT_OK && c->timings[r->headline].n > 0;
}

/* At a pair that has been collected, unless that failed; it is freed. */
static void look_at(struct worst *w, int failed, struct pair *pair, const char *candidate, const char *reference)
{
    struct interval interval;
    if (failed) {
        w->failed = true;
        return;
    }
    pair_interval(pair, &interval);
    double blur = pair_quantization(pair);
    pair_free(pair);
    w->coarse |= interval.valid && blur > interval.half_width;
    double half_width = interval.valid ? fmax(interval.half_width, blur) : INFINITY;
    if (!w->any || half_width > w->half_width) {
        w->half_width = half_width;
        snprintf(w->pair, sizeof w->pair, "%s / %s", candidate, reference);
    }
    w->any = true;
}

static void look_at_pair(struct worst *w, const struct contender_record *candidate,
                         const struct contender_record *reference)
{
    struct pair pair;
    enum timing timing = w->record->headline;
    if (!pair_is_comparable(reference, candidate, timing))
        return;
    int failed =
        pair_collect(w->record, &reference->timings[timing], &candidate->timings[timing], PAIR_HEALTHY_BLOCKS, &pair);
    look_at(w, failed, &pair, candidate->name, reference->name);
}

static double median_of(const struct cell_record *r, const struct contender_record *c)
{
    return stats_median(c->timings[r->headline].ns, c->timings[r->headline].n);
}

/* Tables speak of the faster layout of a candidate: the other one's own pairs need not be narrow. One whose times hold
 * other things does not take its place. */
static bool is_slower_layout(const struct cell_record *r, const struct contender_record *c)
{
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *other = &r->contenders[i];
        bool twin =
            other != c && other->candidate && other->copy_of[0] == '\0' && strcmp(other->family, c->family) == 0;
        if (twin && takes_part(r, other) && pair_is_comparable(c, other, r->headline) &&
            median_of(r, other) < median_of(r, c))
            return true;
    }
    return false;
}

static bool is_baseline(const struct contender_record *c)
{
    return !c->candidate && c->copy_of[0] == '\0';
}

static bool is_compared(const struct cell_record *r, const struct contender_record *baseline)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        if (r->contenders[i].candidate && takes_part(r, &r->contenders[i]) &&
            pair_is_comparable(baseline, &r->contenders[i], r->headline))
            return true;
    return false;
}

/* The least median of the candidates, or of the baselines that one of these can be compared with; INFINITY: there is
 * none. */
static double fastest_of(const struct cell_record *r, bool candidates)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool counts = candidates ? c->candidate && c->copy_of[0] == '\0' : is_baseline(c) && is_compared(r, c);
        if (counts && takes_part(r, c))
            fastest = fmin(fastest, median_of(r, c));
    }
    return fastest;
}

/* Who is far behind the fastest baseline is the strongest one neither in this cell nor by luck: how far it is behind
 * the candidate need not be known as well. Without a candidate nobody is far. */
static double far_from(const struct stop_config *stop, const struct cell_record *r)
{
    return stop->near_baselines > 0 ? stop->near_baselines * fastest_of(r, false) : INFINITY;
}

/* A copy (A/A) is compared with its original only, anything else with the baselines. */
static void look_at_candidate(struct worst *w, const struct contender_record *candidate)
{
    const struct cell_record *r = w->record;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *reference = &r->contenders[i];
        if (reference != candidate && is_baseline(reference) && takes_part(r, reference) &&
            median_of(r, reference) <= w->far_ns)
            look_at_pair(w, candidate, reference);
    }
}

static void look_at_copy(struct worst *w, const struct contender_record *copy)
{
    const struct contender_record *original = record_contender(w->record, copy->copy_of);
    if (original && takes_part(w->record, original))
        look_at_pair(w, copy, original);
}

static void look_at_match(struct worst *w, const struct match *m)
{
    struct pair pair;
    if (!m->reference->timings[m->timing] || !match_is_comparable(m))
        return;
    int failed = match_collect(w->record, m, PAIR_HEALTHY_BLOCKS, &pair);
    look_at(w, failed, &pair, m->candidate->name, m->reference->name);
}

static bool is_far(const struct worst *w, const struct entry *e)
{
    const struct series *s = e->timings[w->record->headline];
    return s && s->n > 0 && stats_median(s->ns, s->n) > w->far_ns;
}

static void look_at_max(struct worst *w, const struct entries *entries, const struct entry *max)
{
    for (size_t i = 0; i < entries->n; i++)
        if (!entries->list[i].candidate && !is_far(w, &entries->list[i]))
            look_at_match(w, &(struct match){max, &entries->list[i], w->record->headline});
}

/* What tables show: -max, chosen on one half of the blocks and scored on the other. Where a layout has two speeds,
 * either half may choose it, and this interval is wider than that of the faster layout by far. */
static void look_at_families(struct worst *w)
{
    struct entries *entries = malloc(sizeof *entries);
    if (!entries) {
        w->failed = true;
        return;
    }
    w->failed |= entries_of(w->record, entries) != 0;
    for (size_t i = 0; i < entries->n && !w->failed; i++) {
        const struct entry *e = &entries->list[i];
        if (e->candidate && e->n_members == 2 && e->timings[w->record->headline])
            look_at_max(w, entries, e);
    }
    entries_free(entries);
    free(entries);
}

static void look_at_all(struct worst *w)
{
    const struct cell_record *r = w->record;
    const struct contender_record *first = NULL;
    bool candidates = false;
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        if (!takes_part(r, c))
            continue;
        if (c->copy_of[0] != '\0') {
            look_at_copy(w, c);
        } else if (c->candidate) {
            candidates = true;
            if (!is_slower_layout(r, c))
                look_at_candidate(w, c);
        } else if (!first) {
            first = c;
        }
    }
    if (!candidates && first)
        look_at_candidate(w, first);
    look_at_families(w);
}

static bool is_time_to_look(const struct stop_config *stop, unsigned blocks)
{
    unsigned every = stop->look_every ? stop->look_every : 1;
    return blocks >= stop->min_blocks && (blocks - stop->min_blocks) % every == 0;
}

static void report(const struct worst *w)
{
    struct cell_record *r = w->record;
    r->worst_half_width = w->any ? w->half_width : NAN;
    r->coarse = w->coarse;
    snprintf(r->worst_pair, sizeof r->worst_pair, "%s", w->pair);
}

static unsigned healthy_blocks(const struct cell_record *r)
{
    unsigned n = 0;
    for (unsigned block = 0; block < r->blocks; block++)
        n += !record_block_dropped(r, block);
    return n;
}

double stop_wanted(const struct stop_config *stop, const struct cell_record *record)
{
    double delta = stop->delta[record->mode];
    if (record->mode != MODE_OFFLINE || (stop->long_delta <= 0 && stop->lead_delta <= 0))
        return delta;
    double candidate = fastest_of(record, true), baseline = fastest_of(record, false);
    double lead = fabs(log(baseline / candidate));
    if (fmin(candidate, baseline) >= STOP_LONG_NS)
        delta = fmax(delta, stop->long_delta);
    return isfinite(lead) ? fmax(delta, fmin(stop->lead_delta, LEAD_SHARE * lead)) : delta;
}

void stop_judge(const struct stop_config *stop, struct cell_record *record)
{
    struct worst w = {.record = record, .half_width = 0, .far_ns = far_from(stop, record)};
    look_at_all(&w);
    report(&w);
    bool narrow = !w.failed && w.any && w.half_width <= stop_wanted(stop, record);
    record->converged = narrow && healthy_blocks(record) >= stop->min_blocks;
}

enum stop_decision stop_decide(const struct stop_config *stop, struct cell_record *record)
{
    bool at_cap = record->blocks >= stop->max_blocks;
    if (!at_cap && !is_time_to_look(stop, record->blocks))
        return STOP_CONTINUE;
    stop_judge(stop, record);
    if (record->converged)
        return STOP_CONVERGED;
    if (record->worst_pair[0] == '\0') /* nothing can be compared, so more blocks narrow nothing */
        return STOP_INCOMPARABLE;
    return at_cap ? STOP_CAPPED : STOP_CONTINUE;
}

bool stop_is_hopeless(const struct stop_config *stop, const struct cell_record *record, double seconds)
{
    double cap = stop_cell_seconds(stop, record->mode), delta = stop_wanted(stop, record);
    double within = stop->hopeless_within[record->mode];
    if (!(stop->hopeless_share > 0) || seconds < stop->hopeless_share * cap || seconds >= cap ||
        (within > 0 && record->worst_half_width > within * delta))
        return false;
    if (record->blocks < TRIMMED_FROM && seconds < 2 * stop->hopeless_share * cap)
        return false;
    return record->worst_half_width * sqrt(seconds / cap) > HOPELESS * delta;
}
