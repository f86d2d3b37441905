/*
 * result_cell.c - one cell of the result from its record: timings, rates, course, comparisons. Relies on entry.c and
 * result_pairs.c. Called by result.c.
 */
#include "result/result_cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/entry.h"
#include "result/result_pairs.h"
#include "result/result_paper.h"
#include "base/tree.h"
#include "stats/interval.h"

double peak_floor_seconds(const struct peak *peak, const struct cudal2_problem *problem)
{
    double flops = problem->dtype == CUDAL2_F32 && peak->flops_f32 > 0 ? peak->flops_f32 : peak->flops;
    double compute = flops > 0 ? problem_flops(problem) / flops : 0;
    double memory = peak->bytes_per_s > 0 ? problem_bytes(problem) / peak->bytes_per_s : 0;
    return fmax(compute, memory);
}

/* Five digits: more than any of them means. */
static double digits(double value)
{
    double per_unit = 10;
    while (per_unit < 1e9 && fabs(value) * per_unit < 1e4)
        per_unit *= 10;
    while (per_unit > 1 && fabs(value) * per_unit >= 1e5)
        per_unit /= 10;
    return round_to(value, per_unit);
}

/* The healthy values of a series; *n of them, owned by the caller. NULL out of memory. */
static double *healthy_values(const struct cell_record *r, const struct series *s, size_t *n)
{
    double *values = malloc((s->n + 1) * sizeof *values);
    *n = 0;
    for (size_t i = 0; values && i < s->n; i++)
        if (!record_block_dropped(r, s->block[i]))
            values[(*n)++] = s->ns[i];
    return values;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians of the healthy groups, sorted: a group is what an interval counts. *n of them, owned by the caller. */
static double *group_medians(const struct cell_record *r, const struct series *s, size_t *n)
{
    double *medians = malloc((s->n + 1) * sizeof *medians);
    *n = 0;
    for (size_t i = 0, count; medians && i < s->n; i += count) {
        unsigned group = r->group_of[s->block[i]];
        for (count = 1; i + count < s->n && r->group_of[s->block[i + count]] == group; count++)
            continue;
        if (!record_block_dropped(r, s->block[i]))
            medians[(*n)++] = stats_median(s->ns + i, count);
    }
    if (medians)
        qsort(medians, *n, sizeof *medians, ascending);
    return medians;
}

/* 95% of the median, by ranks of the groups' medians (no distribution assumed); null below six groups. */
static void put_median_interval(struct tree *t, const struct cell_record *r, const struct series *s)
{
    size_t n;
    double *medians = group_medians(r, s, &n);
    size_t rank = medians ? stats_median_rank(n) : 0;
    t->failed |= !medians;
    tree_put_number(t, "median_low_ns", rank > 0 ? digits(medians[rank - 1]) : NAN);
    tree_put_number(t, "median_high_ns", rank > 0 ? digits(medians[n - rank]) : NAN);
    free(medians);
}

static cJSON *timing_tree(const struct cell_record *r, const struct series *s)
{
    size_t n;
    double *values = healthy_values(r, s, &n);
    if (!values)
        return NULL;
    struct tree t = tree_begin();
    tree_put_number(&t, "n", (double)n);
    tree_put_number(&t, "median_ns", digits(stats_median(values, n)));
    tree_put_number(&t, "mean_ns", digits(stats_mean(values, n)));
    tree_put_number(&t, "p95_ns", digits(stats_quantile(values, n, 0.95)));
    tree_put_number(&t, "min_ns", digits(stats_quantile(values, n, 0)));
    tree_put_number(&t, "sd_ns", digits(stats_sd(values, n)));
    free(values);
    return tree_finish(&t);
}

/* With what a contender's time has besides; an empty kernel's needs none of it. */
static cJSON *detailed_tree(const struct cell_record *r, const struct series *s)
{
    size_t n;
    struct tree t = {timing_tree(r, s), false};
    double *values = t.object ? healthy_values(r, s, &n) : NULL;
    if (!values) {
        cJSON_Delete(t.object);
        return NULL;
    }
    tree_put_number(&t, "p99_ns", digits(stats_quantile(values, n, 0.99)));
    put_median_interval(&t, r, s);
    free(values);
    return tree_finish(&t);
}

static cJSON *timings_tree(const struct cell_record *r, const struct series *timings)
{
    struct tree t = tree_begin();
    for (int i = 0; i < TIMING_COUNT; i++) {
        if (timings[i].n > 0)
            tree_put(&t, timing_names[i], detailed_tree(r, &timings[i]));
        else if (timing_table[i].by_default)
            tree_put(&t, timing_names[i], cJSON_CreateNull());
    }
    return tree_finish(&t);
}

/* The time that rates are made from: the median, or the mean where the paper's protocol kept no more. */
static double headline_ns(const struct cell_record *r, const struct contender_record *c)
{
    size_t n;
    double launches;
    if (r->paper_pairs)
        return result_paper_mean_ns(r, c, &launches);
    double *values = healthy_values(r, &c->timings[r->headline], &n);
    double median = values ? stats_median(values, n) : NAN;
    free(values);
    return median;
}

/* tflops counts the unpadded problem; the floor is arithmetic or compulsory traffic, whichever takes longer. */
static void put_rates(struct tree *t, const struct cell_record *r, const struct contender_record *c,
                      const struct peak *peak)
{
    double seconds = headline_ns(r, c) * 1e-9;
    double floor_seconds = peak_floor_seconds(peak, &r->problem);
    tree_put_number(t, "tflops", digits(problem_flops(&r->problem) / seconds / 1e12));
    tree_put_number(t, "percent_of_roofline", floor_seconds > 0 ? digits(100 * floor_seconds / seconds) : NAN);
}

static bool has_equal_path(const struct contender_record *c)
{
    for (int t = 0; t < TIMING_COUNT; t++)
        if (c->equal_path[t].n > 0)
            return true;
    return false;
}

static cJSON *contender_tree(const struct cell_record *r, const struct contender_record *c, const struct peak *peak)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "status", c->status);
    tree_put_text(&t, "stage", c->stage);
    tree_put_text(&t, "reason", c->reason);
    tree_put_true(&t, "invalid", c->invalid);
    tree_put_text(&t, "family", c->family);
    tree_put_text(&t, "layout", layout_names[c->layout]);
    tree_put_text(&t, "role", c->copy_of[0] ? "copy" : c->candidate ? "candidate" : "baseline");
    tree_put_text(&t, "copy_of", c->copy_of);
    tree_put(&t, "timings", r->paper_pairs ? result_paper_timings(r, c) : timings_tree(r, c->timings));
    if (has_equal_path(c))
        tree_put(&t, "equal_path", timings_tree(r, c->equal_path));
    bool timed = c->timings[r->headline].n > 0 || (r->paper_pairs && !isnan(headline_ns(r, c)));
    if (timed && !c->invalid)
        put_rates(&t, r, c, peak);
    tree_put_text(&t, "rung", c->rung);
    tree_put_text(&t, "rung_reason", c->rung_reason);
    tree_put_true(&t, "host_sync", c->host_sync);
    tree_put_true(&t, "early", c->early);
    tree_put_count(&t, "launches", c->launches);
    tree_put_copy(&t, "attributes", c->attributes);
    tree_put_copy(&t, "tuning", c->tuning);
    tree_put_copy(&t, "verification", c->verification);
    tree_put_copy(&t, "deviation", c->deviation);
    tree_put_copy(&t, "activity", c->activity);
    return tree_finish(&t);
}

static cJSON *contenders_tree(const struct cell_record *r, const struct peak *peak)
{
    struct tree t = tree_begin();
    for (size_t i = 0; i < r->n_contenders; i++)
        tree_put(&t, r->contenders[i].name, contender_tree(r, &r->contenders[i], peak));
    return tree_finish(&t);
}

static void put_identity(struct tree *t, const struct cell_record *r)
{
    char key[RECORD_KEY_MAX];
    record_key(&r->problem, r->mode, key);
    tree_put_text(t, "key", key);
    tree_put_number(t, "m", (double)r->problem.m);
    tree_put_number(t, "n", (double)r->problem.n);
    tree_put_number(t, "k", (double)r->problem.k);
    tree_put_text(t, "dtype", dtype_names[r->problem.dtype]);
    tree_put_text(t, "accumulate", accumulate_names[r->problem.accumulate]);
    tree_put_text(t, "mode", mode_names[r->mode]);
    tree_put_text(t, "label", r->label);
    tree_put_text(t, "status", r->status);
    tree_put_text(t, "reason", r->reason);
    tree_put_number(t, "env", r->worker);
}

static void put_course(struct tree *t, const struct cell_record *r, const struct peak *peak)
{
    double floor_seconds = peak_floor_seconds(peak, &r->problem);
    tree_put_text(t, "headline", timing_names[r->headline]);
    tree_put_text(t, "cache", cache_state_names[r->cache]);
    tree_put_text(t, "rotation", record_rotation(r));
    tree_put_text(t, "overlap", r->alone ? overlap_names[OVERLAP_NONE] : "");
    tree_put_number(t, "groups", r->groups);
    tree_put_number(t, "blocks", r->blocks);
    tree_put_count(t, "visits", r->visits);
    tree_put_count(t, "passes", r->passes);
    tree_put_true(t, "held", r->held);
    tree_put_number(t, "dropped_blocks", r->dropped_blocks);
    tree_put(t, "converged", cJSON_CreateBool(r->converged));
    tree_put_true(t, "coarse", r->coarse);
    tree_put_number(t, "worst_half_width", round_to(r->worst_half_width, 1e6));
    tree_put_text(t, "worst_pair", r->worst_pair);
    tree_put_number(t, "floor_ns", floor_seconds > 0 ? round_to(floor_seconds * 1e9, 10) : NAN);
    tree_put_number(t, "busy_seconds", r->busy_seconds);
    double seconds = 0;
    for (int i = 0; phase_names[i]; i++)
        seconds += r->phase_seconds[i];
    tree_put_number(t, "wall_seconds", round_to(seconds, 1e3));
    tree_put(t, "null_graph", r->null_graph.n > 0 ? timing_tree(r, &r->null_graph) : cJSON_CreateNull());
}

static void put_pairs(struct tree *t, const struct cell_record *r)
{
    struct entries *entries = malloc(sizeof *entries);
    if (entries && entries_of(r, entries) == 0)
        result_pairs(t, r, entries);
    else
        t->failed = true;
    if (entries)
        entries_free(entries);
    free(entries);
}

cJSON *result_cell(const struct cell_record *r, const struct peak *peak)
{
    struct tree t = tree_begin();
    put_identity(&t, r);
    put_course(&t, r, peak);
    tree_put_copy(&t, "verification", r->verification);
    tree_put(&t, "contenders", contenders_tree(r, peak));
    tree_put_copy(&t, "paper_pairs", r->paper_pairs);
    if (r->paper_pairs)
        result_paper_pairs(&t, r);
    else
        put_pairs(&t, r);
    return tree_finish(&t);
}
