/*
 * result_paper.c - the same from a cell of the paper's protocol, whose pairs carry their own figures. Relies on
 * tree.c. Called by result_cell.c.
 */
#include "result/result_paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DECIMALS 1e5 /* of a speedup, as in result_pairs.c */
#define NS_DECIMALS 1e2

/* One entry of paper_pairs. */
struct paper_pair {
    const struct contender_record *candidate, *reference;
    double iterations, mean, low, high, geomean, candidate_ns, reference_ns, batches;
};

static double end_of(const cJSON *ci, int index)
{
    const cJSON *end = cJSON_GetArrayItem(ci, index);
    return cJSON_IsNumber(end) ? end->valuedouble : NAN;
}

/* False for an entry whose contenders the record does not have. */
static bool read_pair(const struct cell_record *r, const cJSON *entry, struct paper_pair *out)
{
    const cJSON *ci = tree_member(entry, "ci95");
    *out = (struct paper_pair){.candidate = record_contender(r, tree_text(entry, "candidate")),
                               .reference = record_contender(r, tree_text(entry, "reference")),
                               .iterations = tree_number(entry, "iterations"),
                               .mean = tree_number(entry, "mean_of_ratios"),
                               .low = end_of(ci, 0),
                               .high = end_of(ci, 1),
                               .geomean = tree_number(entry, "geomean"),
                               .candidate_ns = tree_number(entry, "candidate_mean_ns"),
                               .reference_ns = tree_number(entry, "reference_mean_ns"),
                               .batches = tree_number(entry, "batches")};
    return out->candidate && out->reference;
}

/* ---- contenders ---- */

double result_paper_mean_ns(const struct cell_record *r, const struct contender_record *c, double *n)
{
    const cJSON *entry;
    double sum = 0;
    *n = 0;
    cJSON_ArrayForEach(entry, r->paper_pairs)
    {
        struct paper_pair p;
        if (!read_pair(r, entry, &p) || (p.candidate != c && p.reference != c))
            continue;
        sum += p.iterations * (p.candidate == c ? p.candidate_ns : p.reference_ns);
        *n += p.iterations;
    }
    return *n > 0 ? sum / *n : NAN;
}

static cJSON *mean_tree(double n, double mean_ns)
{
    struct tree one = tree_begin();
    tree_put_number(&one, "n", n);
    tree_put_number(&one, "median_ns", NAN);
    tree_put_number(&one, "mean_ns", round_to(mean_ns, NS_DECIMALS));
    tree_put_number(&one, "p95_ns", NAN);
    return tree_finish(&one);
}

cJSON *result_paper_timings(const struct cell_record *r, const struct contender_record *c)
{
    double n;
    double mean_ns = result_paper_mean_ns(r, c, &n);
    struct tree t = tree_begin();
    for (int timing = 0; timing < TIMING_COUNT; timing++) {
        bool taken = n > 0 && timing == (int)r->headline;
        if (taken)
            tree_put(&t, timing_names[timing], mean_tree(n, mean_ns));
        else if (timing_table[timing].by_default)
            tree_put(&t, timing_names[timing], cJSON_CreateNull());
    }
    return tree_finish(&t);
}

/* ---- pairs ---- */

static void put_estimates(struct tree *t, const struct paper_pair *p)
{
    double ends[2] = {round_to(p->low, DECIMALS), round_to(p->high, DECIMALS)};
    bool known = !isnan(p->low) && !isnan(p->high);
    tree_put_number(t, "geomean", round_to(p->geomean, DECIMALS));
    tree_put(t, "ci95", known ? cJSON_CreateDoubleArray(ends, 2) : cJSON_CreateNull());
    tree_put_number(t, "mean_of_ratios", round_to(p->mean, DECIMALS));
    tree_put_number(t, "ratio_of_means", round_to(p->reference_ns / p->candidate_ns - 1, DECIMALS));
    tree_put_number(t, "n", p->iterations);
    tree_put_number(t, "groups", p->batches);
}

static cJSON *speedup_tree(const struct cell_record *r, const struct paper_pair *p, const char *candidate,
                           const char *reference)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "candidate", candidate);
    tree_put_text(&t, "reference", reference);
    tree_put_text(&t, "timing", timing_names[r->headline]);
    put_estimates(&t, p);
    return tree_finish(&t);
}

static cJSON *aa_tree(const struct cell_record *r, const struct paper_pair *p)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", p->reference->name);
    tree_put_text(&t, "timing", timing_names[r->headline]);
    put_estimates(&t, p);
    if (!isnan(p->low))
        tree_put(&t, "excludes_one", cJSON_CreateBool(p->low > 0 || p->high < 0));
    return tree_finish(&t);
}

static void append(struct tree *cell, cJSON **array, cJSON *item)
{
    if (tree_append(*array, item))
        return;
    *array = NULL;
    cell->failed = true;
}

static bool same_family(const struct contender_record *a, const struct contender_record *b)
{
    return a->has_layout_suffix == b->has_layout_suffix && strcmp(a->family, b->family) == 0;
}

/* The pair that speaks for both families: max over the candidate's layouts of the min over the reference's. */
static bool best_pair(const struct cell_record *r, const struct paper_pair *any, struct paper_pair *best)
{
    bool found = false;
    for (size_t i = 0; i < r->n_contenders; i++) {
        struct paper_pair worst = {0}, p;
        bool has_worst = false;
        const cJSON *entry;
        cJSON_ArrayForEach(entry, r->paper_pairs)
        {
            if (!read_pair(r, entry, &p) || p.candidate != &r->contenders[i] || p.candidate->copy_of[0] ||
                !same_family(p.candidate, any->candidate) || !same_family(p.reference, any->reference))
                continue;
            if (!has_worst || p.mean < worst.mean)
                worst = p;
            has_worst = true;
        }
        if (has_worst && (!found || worst.mean > best->mean))
            *best = worst;
        found = found || has_worst;
    }
    return found;
}

static void whole_name(const struct contender_record *c, char out[RECORD_NAME_MAX + 8])
{
    snprintf(out, RECORD_NAME_MAX + 8, "%s%s", c->family, c->has_layout_suffix ? "-max" : "");
}

/* Whether an earlier pair is of the same two families: they are spoken for. */
static bool is_spoken_for(const struct cell_record *r, const cJSON *entry, const struct paper_pair *p)
{
    for (const cJSON *earlier = r->paper_pairs->child; earlier != entry; earlier = earlier->next) {
        struct paper_pair q;
        if (read_pair(r, earlier, &q) && !q.candidate->copy_of[0] && same_family(q.candidate, p->candidate) &&
            same_family(q.reference, p->reference))
            return true;
    }
    return false;
}

static void add_families(struct tree *cell, const struct cell_record *r, cJSON **speedups)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, r->paper_pairs)
    {
        struct paper_pair p, best;
        char candidate[RECORD_NAME_MAX + 8], reference[RECORD_NAME_MAX + 8];
        if (!read_pair(r, entry, &p) || p.candidate->copy_of[0] || is_spoken_for(r, entry, &p))
            continue;
        if ((!p.candidate->has_layout_suffix && !p.reference->has_layout_suffix) || !best_pair(r, &p, &best))
            continue;
        whole_name(p.candidate, candidate);
        whole_name(p.reference, reference);
        append(cell, speedups, speedup_tree(r, &best, candidate, reference));
    }
}

void result_paper_pairs(struct tree *cell, const struct cell_record *r)
{
    cJSON *speedups = cJSON_CreateArray(), *aa = cJSON_CreateArray();
    const cJSON *entry;
    cJSON_ArrayForEach(entry, r->paper_pairs)
    {
        struct paper_pair p;
        if (!read_pair(r, entry, &p))
            continue;
        if (p.candidate->copy_of[0])
            append(cell, &aa, aa_tree(r, &p));
        else
            append(cell, &speedups, speedup_tree(r, &p, p.candidate->name, p.reference->name));
    }
    add_families(cell, r, &speedups);
    tree_put(cell, "speedups", speedups);
    if (aa && !aa->child)
        cJSON_Delete(aa);
    else
        tree_put(cell, "aa", aa);
}
