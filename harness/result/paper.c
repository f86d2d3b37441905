/*
 * paper.c - the comparisons of a cell of the paper's protocol, whose pairs carry their own figures. Relies on tree.c,
 * for a record keeps them as JSON. Called by cell.c.
 */
#include "result/paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tree.h"

#define DECIMALS 1e5 /* of a speedup, as in pairs.c */
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

double paper_mean_ns(const struct cell_record *r, const struct contender_record *c, double *n)
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

void paper_fill_timing(const struct cell_record *r, const struct contender_record *c, struct result_timing *out)
{
    double n;
    double mean_ns = paper_mean_ns(r, c, &n);
    if (!(n > 0))
        return;
    out->n = n;
    out->mean_ns = round_to(mean_ns, NS_DECIMALS);
}

/* ---- pairs ---- */

static struct result_interval interval_of(const struct paper_pair *p)
{
    if (isnan(p->low) || isnan(p->high))
        return (struct result_interval){NAN, NAN};
    return (struct result_interval){round_to(p->low, DECIMALS), round_to(p->high, DECIMALS)};
}

static void add_speedup(struct made_cell *m, const struct paper_pair *p, const char *candidate, const char *reference)
{
    struct result_cell *cell = &m->cell;
    struct result_pair *grown = cell_grow(m, cell->speedups, &cell->n_speedups, sizeof *cell->speedups);
    if (!grown)
        return;
    cell->speedups = grown;
    grown[cell->n_speedups - 1] = (struct result_pair){
        .candidate = candidate,
        .reference = reference,
        .timing = cell->headline,
        .geomean = round_to(p->geomean, DECIMALS),
        .ci95 = interval_of(p),
        .mean_of_ratios = round_to(p->mean, DECIMALS),
        .ratio_of_means = round_to(p->reference_ns / p->candidate_ns - 1, DECIMALS),
        .n = p->iterations,
        .groups = p->batches,
        .paper_max = NAN,
        .geomean_all_blocks = NAN,
        .uneven = NAN,
    };
}

static void add_aa(struct made_cell *m, const struct paper_pair *p)
{
    struct result_cell *cell = &m->cell;
    struct result_aa *grown = cell_grow(m, cell->aa, &cell->n_aa, sizeof *cell->aa);
    if (!grown)
        return;
    cell->aa = grown;
    grown[cell->n_aa - 1] = (struct result_aa){
        .contender = p->reference->name,
        .timing = cell->headline,
        .geomean = round_to(p->geomean, DECIMALS),
        .ci95 = interval_of(p),
        .mean_of_ratios = round_to(p->mean, DECIMALS),
        .ratio_of_means = round_to(p->reference_ns / p->candidate_ns - 1, DECIMALS),
        .n = p->iterations,
        .groups = p->batches,
        .excludes_one = isnan(p->low)               ? ANSWER_NONE
                        : p->low > 0 || p->high < 0 ? ANSWER_YES
                                                    : ANSWER_NO,
    };
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

static void add_families(const struct cell_record *r, struct made_cell *m)
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
        add_speedup(m, &best, cell_keep(m, candidate), cell_keep(m, reference));
    }
}

void paper_fill_pairs(const struct cell_record *r, struct made_cell *out)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, r->paper_pairs)
    {
        struct paper_pair p;
        if (!read_pair(r, entry, &p))
            continue;
        if (p.candidate->copy_of[0])
            add_aa(out, &p);
        else
            add_speedup(out, &p, p.candidate->name, p.reference->name);
    }
    add_families(r, out);
}
