/*
 * cell.c - one cell of the result from its record: timings, rates, course, comparisons. Relies on analysis/entry.h,
 * pairs.c and paper.c. Called by make.c.
 */
#include "result/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/entry.h"
#include "result/fields.h"
#include "result/pairs.h"
#include "result/paper.h"
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
        stats_sort(medians, *n);
    return medians;
}

/* 95% of the median, by ranks of the groups' medians (no distribution assumed); none below six groups. */
static bool fill_median_interval(const struct cell_record *r, const struct series *s, struct result_timing *out)
{
    size_t n;
    double *medians = group_medians(r, s, &n);
    size_t rank = medians ? stats_median_rank(n) : 0;
    if (rank > 0) {
        out->median_low_ns = digits(medians[rank - 1]);
        out->median_high_ns = digits(medians[n - rank]);
    }
    free(medians);
    return medians != NULL;
}

/* Nothing for a series that was not taken. `whole`: with what a contender's time has besides; an empty kernel's needs
 * none of it. */
static bool fill_timing(const struct cell_record *r, const struct series *s, bool whole, struct result_timing *out)
{
    size_t n;
    if (s->n == 0)
        return true;
    double *values = healthy_values(r, s, &n);
    if (!values)
        return false;
    out->n = (double)n;
    out->median_ns = digits(stats_median(values, n));
    out->mean_ns = digits(stats_mean(values, n));
    out->p95_ns = digits(stats_quantile(values, n, 0.95));
    out->min_ns = digits(stats_quantile(values, n, 0));
    out->sd_ns = digits(stats_sd(values, n));
    if (whole)
        out->p99_ns = digits(stats_quantile(values, n, 0.99));
    free(values);
    return !whole || fill_median_interval(r, s, out);
}

static bool fill_timings(const struct cell_record *r, const struct series *timings, struct result_timing *out)
{
    bool filled = true;
    for (int i = 0; i < TIMING_COUNT && filled; i++)
        filled = fill_timing(r, &timings[i], true, &out[i]);
    return filled;
}

/* The time that rates are made from: the median, or the mean where the paper's protocol kept no more. */
static double headline_ns(const struct cell_record *r, const struct contender_record *c)
{
    size_t n;
    double launches;
    if (r->paper_pairs)
        return paper_mean_ns(r, c, &launches);
    double *values = healthy_values(r, &c->timings[r->headline], &n);
    double median = values ? stats_median(values, n) : NAN;
    free(values);
    return median;
}

/* tflops counts the unpadded problem; the floor is arithmetic or compulsory traffic, whichever takes longer. */
static void fill_rates(const struct cell_record *r, const struct contender_record *c, const struct peak *peak,
                       struct result_contender *out)
{
    double seconds = headline_ns(r, c) * 1e-9;
    double floor_seconds = peak_floor_seconds(peak, &r->problem);
    out->tflops = digits(problem_flops(&r->problem) / seconds / 1e12);
    out->percent_of_roofline = floor_seconds > 0 ? digits(100 * floor_seconds / seconds) : (double)NAN;
}

static void fill_words(const struct contender_record *c, struct result_contender *out)
{
    out->name = c->name;
    out->status = record_verdict(c);
    out->stage = c->stage;
    out->reason = c->reason;
    out->family = c->family;
    out->layout = layout_names[c->layout];
    out->copy_of = c->copy_of;
    out->rung = c->rung;
    out->rung_reason = c->rung_reason;
    out->verdict = c->verdict;
    out->role = c->copy_of[0] ? RESULT_COPY : c->candidate ? RESULT_CANDIDATE : RESULT_BASELINE;
    out->invalid = c->invalid;
    out->host_sync = c->host_sync;
    out->early = c->early;
    out->joined = c->joined;
    out->join_reason = c->join_reason;
    out->launches = c->launches;
}

static bool fill_contender(const struct cell_record *r, const struct contender_record *c, const struct peak *peak,
                           struct result_contender *out)
{
    bool filled = true;
    result_clear(result_contender_fields, out);
    fill_words(c, out);
    out->attributes.json = c->attributes;
    out->tuning.json = c->tuning;
    out->verification = c->verification;
    out->deviation = c->deviation;
    out->activity.json = c->activity;
    out->invariance.json = c->invariance;
    out->energy.json = c->energy;
    if (r->paper_pairs)
        paper_fill_timing(r, c, &out->timings[r->headline]);
    else
        filled = fill_timings(r, c->timings, out->timings);
    if (!isnan(out->timings[r->headline].n) && !c->invalid)
        fill_rates(r, c, peak, out);
    return filled && fill_timings(r, c->equal_path, out->equal_path);
}

static void fill_contenders(const struct cell_record *r, const struct peak *peak, struct made_cell *m)
{
    m->cell.contenders = calloc(r->n_contenders + 1, sizeof *m->cell.contenders);
    for (size_t i = 0; i < r->n_contenders && m->cell.contenders; i++)
        m->failed |= !fill_contender(r, &r->contenders[i], peak, &m->cell.contenders[m->cell.n_contenders++]);
    m->failed |= !m->cell.contenders;
}

static void fill_identity(const struct cell_record *r, struct made_cell *m)
{
    struct result_cell *cell = &m->cell;
    record_key(&r->problem, r->mode, m->key);
    cell->key = m->key;
    cell->m = (double)r->problem.m;
    cell->n = (double)r->problem.n;
    cell->k = (double)r->problem.k;
    problem_args(&r->problem, m->args);
    cell->args = m->args;
    cell->group = (struct result_group){mode_names[r->mode], dtype_names[r->problem.dtype],
                                        accumulate_names[r->problem.accumulate]};
    cell->label = r->label;
    cell->status = record_outcome(r);
    cell->reason = r->reason;
    cell->outcome = r->outcome;
    cell->env = r->worker;
}

static double wall_seconds(const struct cell_record *r)
{
    double seconds = 0;
    for (int i = 0; phase_names[i]; i++)
        seconds += r->phase_seconds[i];
    return round_to(seconds, 1e3);
}

static bool fill_course(const struct cell_record *r, const struct peak *peak, struct result_cell *cell)
{
    double floor_seconds = peak_floor_seconds(peak, &r->problem);
    cell->headline = r->headline;
    cell->cache = cache_state_names[r->cache];
    cell->rotation = record_rotation(r);
    cell->overlap = r->alone ? overlap_names[OVERLAP_NONE] : "";
    cell->groups = r->groups;
    cell->blocks = r->blocks;
    cell->visits = r->visits;
    cell->passes = r->passes;
    cell->held = r->held;
    cell->dropped_blocks = r->dropped_blocks;
    cell->converged = r->converged;
    cell->coarse = r->coarse;
    cell->worst_half_width = round_to(r->worst_half_width, 1e6);
    cell->worst_pair = r->worst_pair;
    cell->floor_ns = floor_seconds > 0 ? round_to(floor_seconds * 1e9, 10) : (double)NAN;
    cell->busy_seconds = r->busy_seconds;
    cell->wall_seconds = wall_seconds(r);
    cell->verification = r->verification;
    cell->paper_pairs = r->paper_pairs;
    cell->chain = r->chain;
    return fill_timing(r, &r->null_graph, false, &cell->null_graph);
}

static void fill_pairs(const struct cell_record *r, struct made_cell *m)
{
    struct entries *entries = malloc(sizeof *entries);
    if (entries && entries_of(r, entries) == 0 && entries_add_strongest(r, entries) == 0)
        pairs_fill(r, entries, m);
    else
        m->failed = true;
    if (entries)
        entries_free(entries);
    free(entries);
}

bool cell_make(const struct cell_record *r, const struct peak *peak, struct made_cell *out)
{
    *out = (struct made_cell){.failed = false};
    result_clear(result_cell_fields, &out->cell);
    fill_identity(r, out);
    out->failed |= !fill_course(r, peak, &out->cell);
    fill_contenders(r, peak, out);
    if (r->paper_pairs)
        paper_fill_pairs(r, out);
    else
        fill_pairs(r, out);
    return !out->failed;
}

void cell_free(struct made_cell *m)
{
    result_free_lists(result_cell_fields, &m->cell);
    for (size_t i = 0; i < m->n_texts; i++)
        free(m->texts[i]);
    free((void *)m->texts);
}

void *cell_grow(struct made_cell *m, void *list, size_t *n, size_t size)
{
    void *grown = realloc(list, (*n + 1) * size);
    m->failed |= !grown;
    *n += grown != NULL;
    return grown;
}

const char *cell_keep(struct made_cell *m, const char *text)
{
    for (size_t i = 0; i < m->n_texts; i++)
        if (strcmp(m->texts[i], text) == 0)
            return m->texts[i];
    char *copy = strdup(text);
    char **grown = copy ? realloc((void *)m->texts, (m->n_texts + 1) * sizeof(char *)) : NULL;
    if (!grown) {
        free(copy);
        m->failed = true;
        return "";
    }
    m->texts = grown;
    grown[m->n_texts++] = copy;
    return copy;
}

cJSON *cell_json_of(const struct cell_record *r, const struct peak *peak)
{
    struct made_cell *made = malloc(sizeof *made);
    if (!made)
        return NULL;
    cJSON *json = cell_make(r, peak, made) ? cell_to_json(&made->cell) : NULL;
    cell_free(made);
    free(made);
    return json;
}
