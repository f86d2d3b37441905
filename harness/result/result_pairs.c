/*
 * result_pairs.c - speedups, A/A, equal paths and incomparable pairs of a cell. Relies on entry.c and pair.c. Called
 * by result_cell.c.
 */
#include "result/result_pairs.h"

#include <math.h>
#include <string.h>

#define DECIMALS 1e5 /* of a speedup: a thousandth of a percent */

/* The lists a cell's comparisons go to. */
struct comparison_lists {
    const struct cell_record *record;
    cJSON *speedups, *incomparable, *equal_path, *aa;
    bool failed;
};

static void append(struct comparison_lists *lists, cJSON **array, cJSON *item)
{
    if (tree_append(*array, item))
        return;
    *array = NULL;
    lists->failed = true;
}

static cJSON *ci95(double low, double high)
{
    if (isnan(low) || isnan(high))
        return cJSON_CreateNull();
    double ends[2] = {round_to(low, DECIMALS), round_to(high, DECIMALS)};
    return cJSON_CreateDoubleArray(ends, 2);
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
    for (size_t i = 0; i < reference->n_layouts; i++) {
        struct speedup s;
        if (estimate(r, &reference->layouts[i]->timings[timing], candidate, PAIR_HEALTHY_BLOCKS, &s))
            return NAN;
        if (s.n > 0 && !(s.mean_of_ratios >= smallest))
            smallest = s.mean_of_ratios;
    }
    return smallest;
}

static void put_estimates(struct tree *t, const struct speedup *s)
{
    tree_put_number(t, "geomean", round_to(s->geomean, DECIMALS));
    tree_put(t, "ci95", ci95(s->low, s->high));
    tree_put_number(t, "mean_of_ratios", round_to(s->mean_of_ratios, DECIMALS));
    tree_put_number(t, "ratio_of_means", round_to(s->ratio_of_means, DECIMALS));
    tree_put_number(t, "n", (double)s->n);
    tree_put_number(t, "groups", s->groups);
}

static struct tree begin_pair(const struct match *m)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "candidate", m->candidate->name);
    tree_put_text(&t, "reference", m->reference->name);
    tree_put_text(&t, "timing", timing_names[m->timing]);
    return t;
}

static void add_incomparable(struct comparison_lists *lists, const struct match *m)
{
    struct tree t = begin_pair(m);
    tree_put_text(&t, "reason", "timed on different rungs of the ladder");
    append(lists, &lists->incomparable, tree_finish(&t));
}

static void add_speedup(struct comparison_lists *lists, const struct match *m)
{
    const struct cell_record *r = lists->record;
    const struct series *ours = m->candidate->timings[m->timing];
    struct speedup s;
    struct speedup all;
    if (estimate_match(r, m, PAIR_HEALTHY_BLOCKS, &s) || estimate_match(r, m, PAIR_ALL_BLOCKS, &all)) {
        lists->failed = true;
        return;
    }
    if (s.n == 0)
        return;
    struct tree t = begin_pair(m);
    put_estimates(&t, &s);
    if (!m->reference->contender)
        tree_put_number(&t, "paper_max", round_to(paper_max(r, m->reference, ours, m->timing), DECIMALS));
    if (all.n > s.n)
        tree_put_number(&t, "geomean_all_blocks", round_to(all.geomean, DECIMALS));
    append(lists, &lists->speedups, tree_finish(&t));
}

static bool is_whole(const struct entry *e)
{
    return !e->contender || !e->contender->has_layout_suffix;
}

/* A -max over layouts timed on different rungs has no device series although its layouts have. */
static bool is_mixed(const struct entry *e, enum timing timing)
{
    return !e->timings[timing] && e->n_layouts == 2 && e->layouts[0]->timings[timing].n > 0 &&
           e->layouts[1]->timings[timing].n > 0;
}

static void compare(struct comparison_lists *lists, const struct match *m)
{
    bool both = m->candidate->timings[m->timing] && m->reference->timings[m->timing];
    if (m->timing != lists->record->headline && !is_whole(m->candidate))
        return;
    if (both && match_is_comparable(m))
        add_speedup(lists, m);
    else if (both || is_mixed(m->candidate, m->timing) || is_mixed(m->reference, m->timing))
        add_incomparable(lists, m);
}

/* Both launched as captured graphs of one, in the same layout: what is left of an event or wall lead when the launch
 * path is the same is GPU work. */
static void add_equal_path(struct comparison_lists *lists, const struct match *m)
{
    struct speedup s;
    const struct contender_record *ours = m->candidate->contender;
    const struct contender_record *theirs = m->reference->contender;
    enum timing t = m->timing;
    if (!ours || !theirs || ours->equal_path[t].n == 0 || theirs->equal_path[t].n == 0 ||
        ours->layout != theirs->layout)
        return;
    if (estimate(lists->record, &theirs->equal_path[t], &ours->equal_path[t], PAIR_HEALTHY_BLOCKS, &s)) {
        lists->failed = true;
        return;
    }
    if (s.n == 0)
        return;
    struct tree pair = begin_pair(m);
    put_estimates(&pair, &s);
    append(lists, &lists->equal_path, tree_finish(&pair));
}

static void compare_pair(struct comparison_lists *lists, const struct entry *candidate, const struct entry *reference)
{
    for (int t = 0; t < TIMING_COUNT; t++) {
        struct match m = {candidate, reference, (enum timing)t};
        compare(lists, &m);
        add_equal_path(lists, &m);
    }
}

static void compare_all(struct comparison_lists *lists, const struct entries *entries)
{
    for (size_t i = 0; i < entries->n; i++)
        for (size_t j = 0; entries->list[i].candidate && j < entries->n; j++)
            if (!entries->list[j].candidate)
                compare_pair(lists, &entries->list[i], &entries->list[j]);
}

static const struct contender_record *original_of(const struct cell_record *r, const struct contender_record *copy)
{
    const struct contender_record *original = record_contender(r, copy->copy_of);
    return original != NULL && strcmp(original->status, "ok") == 0 ? original : NULL;
}

/* Copy against original: the truth is 0, so these show bias and false alarms of everything else. */
static void add_aa(struct comparison_lists *lists, const struct contender_record *copy, enum timing timing)
{
    const struct contender_record *original = original_of(lists->record, copy);
    struct speedup s;
    if (strcmp(copy->status, "ok") != 0 || !original || !pair_is_comparable(original, copy, timing))
        return;
    if (estimate(lists->record, &original->timings[timing], &copy->timings[timing], PAIR_HEALTHY_BLOCKS, &s)) {
        lists->failed = true;
        return;
    }
    if (s.n == 0)
        return;
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", original->name);
    tree_put_text(&t, "timing", timing_names[timing]);
    put_estimates(&t, &s);
    if (!isnan(s.low))
        tree_put(&t, "excludes_one", cJSON_CreateBool(s.low > 0 || s.high < 0));
    append(lists, &lists->aa, tree_finish(&t));
}

static void add_all_aa(struct comparison_lists *lists)
{
    const struct cell_record *r = lists->record;
    for (size_t i = 0; i < r->n_contenders; i++)
        for (int t = 0; r->contenders[i].copy_of[0] && t < TIMING_COUNT; t++)
            add_aa(lists, &r->contenders[i], (enum timing)t);
}

static void put_unless_empty(struct tree *cell, const char *key, cJSON *array)
{
    if (array && !array->child)
        cJSON_Delete(array);
    else
        tree_put(cell, key, array);
}

void result_pairs(struct tree *cell, const struct cell_record *r, const struct entries *entries)
{
    struct comparison_lists lists = {.record = r,
                                     .speedups = cJSON_CreateArray(),
                                     .incomparable = cJSON_CreateArray(),
                                     .equal_path = cJSON_CreateArray(),
                                     .aa = cJSON_CreateArray()};
    compare_all(&lists, entries);
    add_all_aa(&lists);
    tree_put(cell, "speedups", lists.speedups);
    put_unless_empty(cell, "incomparable", lists.incomparable);
    put_unless_empty(cell, "equal_path", lists.equal_path);
    put_unless_empty(cell, "aa", lists.aa);
    cell->failed |= lists.failed;
}
