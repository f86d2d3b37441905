/*
 * cell_json.c - a cell as the JSON that a result has, before thin.c leaves out what a file need not have. Relies on
 * tree.c. Called by cell.c.
 */
#include "result/cell.h"

#include <math.h>

#include "base/tree.h"

/* How much of a timing there is: what an empty kernel has, all, or what the paper's protocol keeps. */
enum detail { DETAIL_BRIEF, DETAIL_WHOLE, DETAIL_PAPER };

static cJSON *timing(const struct result_timing *of, enum detail detail)
{
    if (isnan(of->n))
        return cJSON_CreateNull();
    struct tree t = tree_begin();
    tree_put_number(&t, "n", of->n);
    tree_put_number(&t, "median_ns", of->median_ns);
    tree_put_number(&t, "mean_ns", of->mean_ns);
    tree_put_number(&t, "p95_ns", of->p95_ns);
    if (detail != DETAIL_PAPER) {
        tree_put_number(&t, "min_ns", of->min_ns);
        tree_put_number(&t, "sd_ns", of->sd_ns);
    }
    if (detail == DETAIL_WHOLE) {
        tree_put_number(&t, "p99_ns", of->p99_ns);
        tree_put_number(&t, "median_low_ns", of->median_low_ns);
        tree_put_number(&t, "median_high_ns", of->median_high_ns);
    }
    return tree_finish(&t);
}

static cJSON *timings(const struct result_timing *of, enum detail detail)
{
    struct tree t = tree_begin();
    for (int i = 0; i < TIMING_COUNT; i++)
        if (!isnan(of[i].n) || timing_table[i].by_default)
            tree_put(&t, timing_names[i], timing(&of[i], detail));
    return tree_finish(&t);
}

static bool any_taken(const struct result_timing *of)
{
    bool any = false;
    for (int i = 0; i < TIMING_COUNT; i++)
        any |= !isnan(of[i].n);
    return any;
}

static cJSON *contender(const struct result_cell *cell, const struct result_contender *c)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "status", c->status);
    tree_put_text(&t, "stage", c->stage);
    tree_put_text(&t, "reason", c->reason);
    tree_put_true(&t, "invalid", c->invalid);
    tree_put_text(&t, "family", c->family);
    tree_put_text(&t, "layout", c->layout);
    tree_put_text(&t, "role", result_role_name(c->role));
    tree_put_text(&t, "copy_of", c->copy_of);
    tree_put(&t, "timings", timings(c->timings, cell->paper_pairs ? DETAIL_PAPER : DETAIL_WHOLE));
    if (any_taken(c->equal_path))
        tree_put(&t, "equal_path", timings(c->equal_path, DETAIL_WHOLE));
    if (!isnan(result_headline(cell, c)->n) && !c->invalid) {
        tree_put_number(&t, "tflops", c->tflops);
        tree_put_number(&t, "percent_of_roofline", c->percent_of_roofline);
    }
    tree_put_text(&t, "rung", c->rung);
    tree_put_text(&t, "rung_reason", c->rung_reason);
    tree_put_true(&t, "host_sync", c->host_sync);
    tree_put_true(&t, "early", c->early);
    if (c->joined || c->join_reason[0])
        tree_put(&t, "joined", cJSON_CreateBool(c->joined));
    tree_put_text(&t, "join_reason", c->join_reason);
    tree_put_count(&t, "launches", c->launches);
    tree_put_copy(&t, "attributes", c->attributes.json);
    tree_put_copy(&t, "tuning", c->tuning.json);
    tree_put_copy(&t, "verification", c->verification);
    tree_put_copy(&t, "deviation", c->deviation);
    tree_put_copy(&t, "invariance", c->invariance.json);
    tree_put_copy(&t, "energy", c->energy.json);
    tree_put_copy(&t, "activity", c->activity.json);
    return tree_finish(&t);
}

static cJSON *contenders(const struct result_cell *cell)
{
    struct tree t = tree_begin();
    for (size_t i = 0; i < cell->n_contenders; i++)
        tree_put(&t, cell->contenders[i].name, contender(cell, &cell->contenders[i]));
    return tree_finish(&t);
}

static void put_interval(struct tree *t, const struct result_interval *ci)
{
    const double ends[2] = {ci->low, ci->high};
    tree_put(t, "ci95", isnan(ci->low) ? cJSON_CreateNull() : cJSON_CreateDoubleArray(ends, 2));
}

static cJSON *pair(const struct result_pair *p)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "candidate", p->candidate);
    tree_put_text(&t, "reference", p->reference);
    tree_put_text(&t, "timing", result_timing_name(p->timing));
    tree_put_number(&t, "geomean", p->geomean);
    put_interval(&t, &p->ci95);
    tree_put_number(&t, "mean_of_ratios", p->mean_of_ratios);
    tree_put_number(&t, "ratio_of_means", p->ratio_of_means);
    tree_put_number(&t, "n", p->n);
    tree_put_number(&t, "groups", p->groups);
    if (!isnan(p->paper_max))
        tree_put_number(&t, "paper_max", p->paper_max);
    if (!isnan(p->geomean_all_blocks))
        tree_put_number(&t, "geomean_all_blocks", p->geomean_all_blocks);
    if (!isnan(p->uneven))
        tree_put_number(&t, "uneven", p->uneven);
    return tree_finish(&t);
}

static cJSON *pairs(const struct result_pair *list, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n && array; i++)
        if (!tree_append(array, pair(&list[i])))
            array = NULL;
    return array;
}

static cJSON *one_incomparable(const struct result_incomparable *p)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "candidate", p->candidate);
    tree_put_text(&t, "reference", p->reference);
    tree_put_text(&t, "timing", result_timing_name(p->timing));
    tree_put_text(&t, "reason", p->reason);
    return tree_finish(&t);
}

static cJSON *incomparable(const struct result_cell *cell)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < cell->n_incomparable && array; i++)
        if (!tree_append(array, one_incomparable(&cell->incomparable[i])))
            array = NULL;
    return array;
}

static cJSON *one_aa(const struct result_aa *a)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", a->contender);
    tree_put_text(&t, "timing", result_timing_name(a->timing));
    tree_put_number(&t, "geomean", a->geomean);
    put_interval(&t, &a->ci95);
    tree_put_number(&t, "mean_of_ratios", a->mean_of_ratios);
    tree_put_number(&t, "ratio_of_means", a->ratio_of_means);
    tree_put_number(&t, "n", a->n);
    tree_put_number(&t, "groups", a->groups);
    if (a->excludes_one != ANSWER_NONE)
        tree_put(&t, "excludes_one", cJSON_CreateBool(a->excludes_one == ANSWER_YES));
    return tree_finish(&t);
}

static cJSON *aa(const struct result_cell *cell)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < cell->n_aa && array; i++)
        if (!tree_append(array, one_aa(&cell->aa[i])))
            array = NULL;
    return array;
}

static void put_identity(struct tree *t, const struct result_cell *cell)
{
    tree_put_text(t, "key", cell->key);
    tree_put_number(t, "m", cell->m);
    tree_put_number(t, "n", cell->n);
    tree_put_number(t, "k", cell->k);
    tree_put_text(t, "args", cell->args);
    tree_put_text(t, "dtype", cell->group.dtype);
    tree_put_text(t, "accumulate", cell->group.accumulate);
    tree_put_text(t, "mode", cell->group.mode);
    tree_put_text(t, "label", cell->label);
    tree_put_text(t, "status", cell->status);
    tree_put_text(t, "reason", cell->reason);
    tree_put_number(t, "env", cell->env);
}

static void put_course(struct tree *t, const struct result_cell *cell)
{
    tree_put_text(t, "headline", result_timing_name(cell->headline));
    tree_put_text(t, "cache", cell->cache);
    tree_put_text(t, "rotation", cell->rotation);
    tree_put_text(t, "overlap", cell->overlap);
    tree_put_number(t, "groups", cell->groups);
    tree_put_number(t, "blocks", cell->blocks);
    tree_put_count(t, "visits", cell->visits);
    tree_put_count(t, "passes", cell->passes);
    tree_put_true(t, "held", cell->held);
    tree_put_number(t, "dropped_blocks", cell->dropped_blocks);
    tree_put(t, "converged", cJSON_CreateBool(cell->converged));
    tree_put_true(t, "coarse", cell->coarse);
    tree_put_number(t, "worst_half_width", cell->worst_half_width);
    tree_put_text(t, "worst_pair", cell->worst_pair);
    tree_put_number(t, "floor_ns", cell->floor_ns);
    tree_put_number(t, "busy_seconds", cell->busy_seconds);
    tree_put_number(t, "wall_seconds", cell->wall_seconds);
    tree_put(t, "null_graph", timing(&cell->null_graph, DETAIL_BRIEF));
}

cJSON *cell_to_json(const struct result_cell *cell)
{
    struct tree t = tree_begin();
    put_identity(&t, cell);
    put_course(&t, cell);
    tree_put_copy(&t, "verification", cell->verification);
    tree_put(&t, "contenders", contenders(cell));
    tree_put_copy(&t, "paper_pairs", cell->paper_pairs);
    tree_put_copy(&t, "chain", cell->chain);
    tree_put(&t, "speedups", pairs(cell->speedups, cell->n_speedups));
    if (cell->n_incomparable > 0)
        tree_put(&t, "incomparable", incomparable(cell));
    if (cell->n_equal_path > 0)
        tree_put(&t, "equal_path", pairs(cell->equal_path, cell->n_equal_path));
    if (cell->n_aa > 0)
        tree_put(&t, "aa", aa(cell));
    return tree_finish(&t);
}
