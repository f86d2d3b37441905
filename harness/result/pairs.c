/*
 * pairs.c - speedups, A/A, equal paths and incomparable pairs of a cell. Relies on analysis/entry.h and pair.h. Called
 * by cell.c.
 */
#include "result/pairs.h"

#include <math.h>
#include <string.h>

#include "base/tree.h"

#define DECIMALS 1e5 /* of a speedup: a thousandth of a percent */

/* What is compared, and where it goes. */
struct comparison {
    const struct cell_record *record;
    struct made_cell *made;
};

static struct result_interval interval_of(const struct speedup *s)
{
    if (!isfinite(s->low) || !isfinite(s->high))
        return (struct result_interval){NAN, NAN};
    return (struct result_interval){round_to(s->low, DECIMALS), round_to(s->high, DECIMALS)};
}

/* Of a pair that has been collected, unless that failed; it is freed. */
static int score(int failed, struct pair *pair, struct speedup *out)
{
    if (failed)
        return -1;
    pair_speedup(pair, out);
    pair_free(pair);
    return 0;
}

static int estimate(const struct cell_record *r, const struct series *reference, const struct series *candidate,
                    enum pair_blocks which, struct speedup *out)
{
    struct pair pair;
    return score(pair_collect(r, reference, candidate, which, &pair), &pair, out);
}

static int estimate_match(const struct cell_record *r, const struct match *m, enum pair_blocks which,
                          struct speedup *out)
{
    struct pair pair;
    return score(match_collect(r, m, which, &pair), &pair, out);
}

/* The paper's form of "over the better layout": the smallest of the speedups over its layouts. */
static double paper_max(const struct cell_record *r, const struct entry *reference, const struct series *candidate,
                        enum timing timing)
{
    double smallest = NAN;
    for (size_t i = 0; i < reference->n_members; i++) {
        struct speedup s;
        if (estimate(r, &reference->members[i]->timings[timing], candidate, PAIR_HEALTHY_BLOCKS, &s))
            return NAN;
        if (s.n > 0 && !(s.mean_of_ratios >= smallest))
            smallest = s.mean_of_ratios;
    }
    return smallest;
}

static struct result_pair pair_of(struct made_cell *m, const struct match *match, const struct speedup *s)
{
    return (struct result_pair){
        .candidate = cell_keep(m, match->candidate->name),
        .reference = cell_keep(m, match->reference->name),
        .timing = match->timing,
        .geomean = round_to(s->geomean, DECIMALS),
        .ci95 = interval_of(s),
        .mean_of_ratios = round_to(s->mean_of_ratios, DECIMALS),
        .ratio_of_means = round_to(s->ratio_of_means, DECIMALS),
        .n = (double)s->n,
        .groups = s->groups,
        .paper_max = NAN,
        .geomean_all_blocks = NAN,
        .uneven = round_to(s->uneven, DECIMALS),
    };
}

static void add_incomparable(struct comparison *c, const struct match *m)
{
    struct result_cell *cell = &c->made->cell;
    struct result_incomparable *grown =
        cell_grow(c->made, cell->incomparable, &cell->n_incomparable, sizeof *cell->incomparable);
    if (!grown)
        return;
    cell->incomparable = grown;
    grown[cell->n_incomparable - 1] = (struct result_incomparable){
        .candidate = cell_keep(c->made, m->candidate->name),
        .reference = cell_keep(c->made, m->reference->name),
        .timing = m->timing,
        .reason = "timed on different rungs of the ladder",
    };
}

static void add_speedup(struct comparison *c, const struct match *m)
{
    const struct cell_record *r = c->record;
    struct result_cell *cell = &c->made->cell;
    struct speedup s;
    struct speedup all;
    if (estimate_match(r, m, PAIR_HEALTHY_BLOCKS, &s) || estimate_match(r, m, PAIR_ALL_BLOCKS, &all)) {
        c->made->failed = true;
        return;
    }
    struct result_pair *grown =
        s.n > 0 ? cell_grow(c->made, cell->speedups, &cell->n_speedups, sizeof *cell->speedups) : NULL;
    if (!grown)
        return;
    cell->speedups = grown;
    struct result_pair *pair = &grown[cell->n_speedups - 1];
    *pair = pair_of(c->made, m, &s);
    if (!m->reference->contender)
        pair->paper_max = round_to(paper_max(r, m->reference, m->candidate->timings[m->timing], m->timing), DECIMALS);
    if (all.n > s.n)
        pair->geomean_all_blocks = round_to(all.geomean, DECIMALS);
}

static bool is_whole(const struct entry *e)
{
    return !e->contender || !e->contender->has_layout_suffix;
}

/* A -max over layouts timed on different rungs has no device series although its layouts have. */
static bool is_mixed(const struct entry *e, enum timing timing)
{
    return !e->timings[timing] && e->n_members == 2 && e->members[0]->timings[timing].n > 0 &&
           e->members[1]->timings[timing].n > 0;
}

static void compare(struct comparison *c, const struct match *m)
{
    bool both = m->candidate->timings[m->timing] && m->reference->timings[m->timing];
    if (m->timing != c->record->headline && !is_whole(m->candidate))
        return;
    if (both && match_is_comparable(m))
        add_speedup(c, m);
    else if (both || is_mixed(m->candidate, m->timing) || is_mixed(m->reference, m->timing))
        add_incomparable(c, m);
}

/* Both launched as captured graphs of one, in the same layout: what is left of an event or wall lead when the launch
 * path is the same is GPU work. */
static void add_equal_path(struct comparison *c, const struct match *m)
{
    struct result_cell *cell = &c->made->cell;
    struct speedup s;
    const struct contender_record *ours = m->candidate->contender;
    const struct contender_record *theirs = m->reference->contender;
    enum timing t = m->timing;
    if (!ours || !theirs || ours->equal_path[t].n == 0 || theirs->equal_path[t].n == 0 ||
        ours->layout != theirs->layout)
        return;
    if (estimate(c->record, &theirs->equal_path[t], &ours->equal_path[t], PAIR_HEALTHY_BLOCKS, &s)) {
        c->made->failed = true;
        return;
    }
    struct result_pair *grown =
        s.n > 0 ? cell_grow(c->made, cell->equal_path, &cell->n_equal_path, sizeof *cell->equal_path) : NULL;
    if (!grown)
        return;
    cell->equal_path = grown;
    grown[cell->n_equal_path - 1] = pair_of(c->made, m, &s);
}

static void compare_pair(struct comparison *c, const struct entry *candidate, const struct entry *reference)
{
    for (int t = 0; t < TIMING_COUNT; t++) {
        struct match m = {candidate, reference, (enum timing)t};
        compare(c, &m);
        add_equal_path(c, &m);
    }
}

static void compare_all(struct comparison *c, const struct entries *entries)
{
    for (size_t i = 0; i < entries->n; i++)
        for (size_t j = 0; entries->list[i].candidate && j < entries->n; j++)
            if (!entries->list[j].candidate)
                compare_pair(c, &entries->list[i], &entries->list[j]);
}

static const struct contender_record *original_of(const struct cell_record *r, const struct contender_record *copy)
{
    const struct contender_record *original = record_contender(r, copy->copy_of);
    return original != NULL && original->verdict == VERDICT_OK ? original : NULL;
}

/* Copy against original: the truth is 0, so these show bias and false alarms of everything else. */
static void add_aa(struct comparison *c, const struct contender_record *copy, enum timing timing)
{
    const struct contender_record *original = original_of(c->record, copy);
    struct result_cell *cell = &c->made->cell;
    struct speedup s;
    if (copy->verdict != VERDICT_OK || !original || !pair_is_comparable(original, copy, timing))
        return;
    if (estimate(c->record, &original->timings[timing], &copy->timings[timing], PAIR_HEALTHY_BLOCKS, &s)) {
        c->made->failed = true;
        return;
    }
    struct result_aa *grown = s.n > 0 ? cell_grow(c->made, cell->aa, &cell->n_aa, sizeof *cell->aa) : NULL;
    if (!grown)
        return;
    cell->aa = grown;
    grown[cell->n_aa - 1] = (struct result_aa){
        .contender = original->name,
        .timing = timing,
        .geomean = round_to(s.geomean, DECIMALS),
        .ci95 = interval_of(&s),
        .mean_of_ratios = round_to(s.mean_of_ratios, DECIMALS),
        .ratio_of_means = round_to(s.ratio_of_means, DECIMALS),
        .n = (double)s.n,
        .groups = s.groups,
        .excludes_one = isnan(s.low)              ? ANSWER_NONE
                        : s.low > 0 || s.high < 0 ? ANSWER_YES
                                                  : ANSWER_NO,
    };
}

void pairs_fill(const struct cell_record *r, const struct entries *entries, struct made_cell *out)
{
    struct comparison c = {r, out};
    compare_all(&c, entries);
    for (size_t i = 0; i < r->n_contenders; i++)
        for (int t = 0; r->contenders[i].copy_of[0] && t < TIMING_COUNT; t++)
            add_aa(&c, &r->contenders[i], (enum timing)t);
}
