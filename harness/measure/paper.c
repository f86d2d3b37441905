/*
 * paper.c - the paper's loop for each pair: warm-up, iterations in random order, events, batch means, and the JSON
 * that the record keeps of them. Relies on segment.c. Called by worker/cell.c with `--protocol paper`.
 */
#include "measure/paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/segment.h"
#include "base/tree.h"
#include "stats/interval.h"

#define BATCHES 20
#define REPORT_EVERY_NS 1e9

/* Least, greatest and mean of a stream of values. */
struct span {
    size_t n;
    double least, greatest, sum;
};

/* The device's state while a pair was timed, about once a second. */
struct climate {
    struct span sm_clock_mhz, power_mw, temperature_c;
    size_t slowdowns; /* samples with a thermal or hardware slowdown */
    uint64_t throttle_reasons;
};

/* One pair on the way: sums by batch. */
struct duel {
    struct bench *bench;
    struct entrant *entrants[2]; /* candidate, reference */
    double ratio_sum[BATCHES];
    size_t count[BATCHES];
    double log_sum;
    double ns_sum[2];
    double reported_ns;
    struct span gaps; /* server mode: idle ns that really passed before a counted launch */
    struct climate climate;
};

static void span_add(struct span *s, double value)
{
    s->least = s->n == 0 ? value : fmin(s->least, value);
    s->greatest = s->n == 0 ? value : fmax(s->greatest, value);
    s->sum += value;
    s->n++;
}

static double now_ns(const struct duel *duel)
{
    return (double)duel->bench->device->ops->now(duel->bench->device);
}

static void sample_climate(struct duel *duel)
{
    struct climate *c = &duel->climate;
    struct device_health health = {0};
    duel->bench->device->ops->health(duel->bench->device, &health);
    if (!health.known)
        return;
    span_add(&c->sm_clock_mhz, health.sm_clock_mhz);
    span_add(&c->power_mw, health.power_mw);
    span_add(&c->temperature_c, health.temperature_c);
    c->slowdowns += health.slowdown;
    c->throttle_reasons |= health.throttle_reasons;
}

/* Between two iterations, once a second: tells the supervisor that all is well, and looks at the device. */
static void keep_alive(struct duel *duel, bool counted)
{
    double now = now_ns(duel);
    if (duel->reported_ns > 0 && now - duel->reported_ns < REPORT_EVERY_NS)
        return;
    duel->reported_ns = now;
    bench_stage(duel->bench, duel->entrants[0], "measure", duel->bench->config->limits.launch_seconds);
    if (counted)
        sample_climate(duel);
}

/* Both once, in random order. On a fault or an impossible time the guilty entrant is failed and *alive cleared. */
static int iterate(struct duel *duel, double ns[2], bool counted, bool *alive, struct error *err)
{
    struct bench *bench = duel->bench;
    size_t first = (size_t)random_below(&bench->random, 2);
    for (size_t i = 0; i < 2 && *alive; i++) {
        size_t who = first ^ i;
        double gap_ns = bench->mode == MODE_SERVER ? arrivals_draw(&bench->config->gap, &bench->random) : -1;
        int code = segment_time(bench, duel->entrants[who], bench->headline, &gap_ns, &ns[who], err);
        if (code != 0)
            code = entrant_fault(bench, duel->entrants[who], "measure", err);
        if (code != 0)
            return code;
        if (counted && gap_ns >= 0)
            span_add(&duel->gaps, gap_ns);
        if (duel->entrants[who]->alive && !bench_is_plausible(bench, ns[who]))
            entrant_refuse_speed(bench, duel->entrants[who], bench->headline, ns[who]);
        *alive = duel->entrants[who]->alive;
    }
    return 0;
}

/* Iterates for the given time; batches are kept only when counted. */
static int fight(struct duel *duel, double seconds, bool counted, bool *alive, struct error *err)
{
    double start = now_ns(duel);
    double elapsed = 0;
    int code = 0;
    duel->reported_ns = 0;
    while (code == 0 && *alive && elapsed < seconds * 1e9) {
        double ns[2] = {0, 0};
        keep_alive(duel, counted);
        code = iterate(duel, ns, counted, alive, err);
        if (code == 0 && *alive && counted) {
            size_t batch = (size_t)(elapsed / (seconds * 1e9) * BATCHES);
            duel->ratio_sum[batch] += ns[1] / ns[0];
            duel->count[batch]++;
            duel->log_sum += log(ns[1] / ns[0]);
            duel->ns_sum[0] += ns[0];
            duel->ns_sum[1] += ns[1];
        }
        elapsed = now_ns(duel) - start;
    }
    return code;
}

static cJSON *climate_tree(const struct climate *c)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "samples", (double)c->sm_clock_mhz.n);
    tree_put_number(&t, "least_sm_clock_mhz", c->sm_clock_mhz.least);
    tree_put_number(&t, "greatest_sm_clock_mhz", c->sm_clock_mhz.greatest);
    tree_put_number(&t, "greatest_power_mw", c->power_mw.greatest);
    tree_put_number(&t, "greatest_temperature_c", c->temperature_c.greatest);
    tree_put_number(&t, "throttle_reasons", (double)c->throttle_reasons);
    tree_put_number(&t, "slowdowns", (double)c->slowdowns);
    return tree_finish(&t);
}

static cJSON *gaps_tree(const struct span *gaps)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "n", (double)gaps->n);
    tree_put_number(&t, "mean_ns", round(gaps->sum / (double)gaps->n));
    tree_put_number(&t, "least_ns", gaps->least);
    tree_put_number(&t, "greatest_ns", gaps->greatest);
    return tree_finish(&t);
}

/* What a pair came to. */
struct score {
    double iterations, batches, mean, half_width; /* of t_ref / t_candidate - 1; NaN where one batch is all there is */
};

static struct score score_of(const struct duel *duel)
{
    double means[BATCHES];
    size_t n = 0;
    size_t total = 0;
    double sum = 0;
    for (size_t b = 0; b < BATCHES; b++) {
        total += duel->count[b];
        sum += duel->ratio_sum[b];
        if (duel->count[b] > 0)
            means[n++] = duel->ratio_sum[b] / (double)duel->count[b];
    }
    double half = n > 1 ? stats_t95((double)n - 1) * stats_sd(means, n) / sqrt((double)n) : NAN;
    return (struct score){(double)total, (double)n, sum / (double)total - 1, half};
}

static cJSON *pair_tree(const struct duel *duel, const struct score *score)
{
    struct tree t = tree_begin();
    cJSON *ci = cJSON_CreateArray();
    cJSON_AddItemToArray(ci, json_number(score->mean - score->half_width));
    cJSON_AddItemToArray(ci, json_number(score->mean + score->half_width));
    tree_put_text(&t, "candidate", duel->entrants[0]->record->name);
    tree_put_text(&t, "reference", duel->entrants[1]->record->name);
    tree_put_number(&t, "iterations", score->iterations);
    tree_put_number(&t, "batches", score->batches);
    tree_put_number(&t, "mean_of_ratios", score->mean);
    tree_put(&t, "ci95", ci);
    tree_put_number(&t, "geomean", expm1(duel->log_sum / score->iterations));
    tree_put_number(&t, "candidate_mean_ns", duel->ns_sum[0] / score->iterations);
    tree_put_number(&t, "reference_mean_ns", duel->ns_sum[1] / score->iterations);
    if (duel->gaps.n > 0)
        tree_put(&t, "gaps", gaps_tree(&duel->gaps));
    if (duel->climate.sm_clock_mhz.n > 0)
        tree_put(&t, "health", climate_tree(&duel->climate));
    return tree_finish(&t);
}

static int write_pair(const struct duel *duel, struct cell_record *r, struct error *err)
{
    struct score score = score_of(duel);
    double wide = score.half_width / (1 + score.mean); /* in log units, as elsewhere */
    if (!tree_append(r->paper_pairs, pair_tree(duel, &score))) {
        r->paper_pairs = NULL;
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a pair");
    }
    if (r->worst_pair[0] == '\0' || wide > r->worst_half_width) {
        r->worst_half_width = wide;
        snprintf(r->worst_pair, sizeof r->worst_pair, "%s / %s", duel->entrants[0]->record->name,
                 duel->entrants[1]->record->name);
    }
    return 0;
}

static int run_pair(struct bench *bench, struct entrant *candidate, struct entrant *reference, struct error *err)
{
    struct duel duel = {.bench = bench, .entrants = {candidate, reference}};
    bool alive = true;
    int code = fight(&duel, bench->config->paper.warmup_seconds, false, &alive, err);
    if (code == 0 && alive)
        code = fight(&duel, bench->config->paper.pair_seconds, true, &alive, err);
    if (code == 0 && alive && duel.ns_sum[0] > 0)
        code = write_pair(&duel, bench->record, err);
    return code;
}

static int prepare_all(struct bench *bench, struct error *err)
{
    int code = bench_fill(bench, "group", 0, err);
    struct device_shape one = {.launches = 1, .n_sets = 1};
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (e->alive)
            entrant_describe(bench, e);
        if (!e->alive || !timing_is_segment(bench->headline))
            continue;
        e->row.shape = one;
        code = bench->device->ops->prepare(bench->device, &e->work, &one, RUNG_GRAPH, &e->row.segment, err);
        if (code != 0)
            code = entrant_fault(bench, e, "measure", err);
    }
    segment_note_held(bench);
    return code;
}

static bool is_ok(const struct cell_record *r, const cJSON *name)
{
    const struct contender_record *c = record_contender(r, name->valuestring);
    return c != NULL && c->verdict == VERDICT_OK;
}

/* Who failed in a later pair keeps no score from an earlier one. */
static void drop_failed(struct cell_record *r)
{
    for (int i = cJSON_GetArraySize(r->paper_pairs); i-- > 0;) {
        const cJSON *pair = cJSON_GetArrayItem(r->paper_pairs, i);
        if (!is_ok(r, cJSON_GetObjectItem(pair, "candidate")) || !is_ok(r, cJSON_GetObjectItem(pair, "reference")))
            cJSON_DeleteItemFromArray(r->paper_pairs, i);
    }
}

/* Whose part it is to be measured against the others: the candidates' or, without any, the first baseline's family, as
 * in analysis/entry.h. */
struct casting {
    bool candidates;
    const char *family;
};

static struct casting cast(const struct bench *bench)
{
    struct casting c = {0};
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        if (!e->alive || e->record->copy_of[0] != '\0')
            continue;
        c.candidates = c.candidates || e->record->candidate;
        c.family = c.family == NULL ? e->contender->family : c.family;
    }
    return c;
}

static bool is_candidate(const struct casting *c, const struct entrant *e)
{
    return c->candidates ? e->record->candidate : strcmp(e->contender->family, c->family) == 0;
}

/* A copy (A/A) meets its original only. */
static bool is_pair(const struct casting *c, const struct entrant *candidate, const struct entrant *reference)
{
    if (candidate == reference || !candidate->alive || !reference->alive || reference->record->copy_of[0] != '\0')
        return false;
    if (candidate->record->copy_of[0] != '\0')
        return strcmp(candidate->record->copy_of, reference->record->name) == 0;
    return is_candidate(c, candidate) && !is_candidate(c, reference);
}

int paper_run(struct bench *bench, struct error *err)
{
    if (bench->record->paper_pairs == NULL)
        bench->record->paper_pairs = cJSON_CreateArray();
    int code = prepare_all(bench, err);
    struct casting parts = cast(bench);
    for (size_t c = 0; c < bench->n_entrants && code == 0; c++) {
        for (size_t r = 0; r < bench->n_entrants && code == 0; r++) {
            if (is_pair(&parts, &bench->entrants[c], &bench->entrants[r]))
                code = run_pair(bench, &bench->entrants[c], &bench->entrants[r], err);
        }
    }
    drop_failed(bench->record);
    bench->record->converged = code == 0 && cJSON_GetArraySize(bench->record->paper_pairs) > 0;
    return code;
}
