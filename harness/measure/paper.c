#include "measure/paper.h"

#include <math.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/segment.h"
#include "stats/interval.h"

#define BATCHES 20
#define REPORT_EVERY_NS 1e9

/* One pair on the way: sums by batch. */
struct duel {
    struct bench *bench;
    struct entrant *entrants[2]; /* candidate, reference */
    double ratio_sum[BATCHES];
    size_t count[BATCHES];
    double ns_sum[2];
    double reported_ns;
};

static double now_ns(const struct duel *duel)
{
    return (double)duel->bench->device->ops->now(duel->bench->device);
}

static void keep_alive(struct duel *duel)
{
    double now = now_ns(duel);
    if (now - duel->reported_ns < REPORT_EVERY_NS)
        return;
    duel->reported_ns = now;
    bench_stage(duel->bench, duel->entrants[0], "measure", duel->bench->config->limits.launch_seconds);
}

/* Both once, in random order. On a fault or an impossible time the guilty entrant is failed and *alive cleared. */
static int iterate(struct duel *duel, double ns[2], bool *alive, struct error *err)
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
    while (code == 0 && *alive && elapsed < seconds * 1e9) {
        double ns[2] = {0, 0};
        keep_alive(duel);
        code = iterate(duel, ns, alive, err);
        if (code == 0 && *alive && counted) {
            size_t batch = (size_t)(elapsed / (seconds * 1e9) * BATCHES);
            duel->ratio_sum[batch] += ns[1] / ns[0];
            duel->count[batch]++;
            duel->ns_sum[0] += ns[0];
            duel->ns_sum[1] += ns[1];
        }
        elapsed = now_ns(duel) - start;
    }
    return code;
}

static void write_pair(const struct duel *duel, cJSON *pairs)
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
    double mean = sum / (double)total - 1;
    double half = n > 1 ? stats_t95((double)n - 1) * stats_sd(means, n) / sqrt((double)n) : NAN;
    cJSON *pair = cJSON_CreateObject();
    cJSON_AddStringToObject(pair, "candidate", duel->entrants[0]->record->name);
    cJSON_AddStringToObject(pair, "reference", duel->entrants[1]->record->name);
    json_put_number(pair, "iterations", (double)total);
    json_put_number(pair, "mean_of_ratios", mean);
    cJSON *ci = cJSON_AddArrayToObject(pair, "ci95");
    cJSON_AddItemToArray(ci, json_number(mean - half));
    cJSON_AddItemToArray(ci, json_number(mean + half));
    json_put_number(pair, "candidate_mean_ns", duel->ns_sum[0] / (double)total);
    json_put_number(pair, "reference_mean_ns", duel->ns_sum[1] / (double)total);
    cJSON_AddItemToArray(pairs, pair);
}

static int run_pair(struct bench *bench, struct entrant *candidate, struct entrant *reference, struct error *err)
{
    struct duel duel = {.bench = bench, .entrants = {candidate, reference}};
    bool alive = true;
    int code = fight(&duel, bench->config->paper.warmup_seconds, false, &alive, err);
    if (code == 0 && alive)
        code = fight(&duel, bench->config->paper.pair_seconds, true, &alive, err);
    if (code == 0 && alive && duel.ns_sum[0] > 0)
        write_pair(&duel, bench->record->paper_pairs);
    return code;
}

static int prepare_all(struct bench *bench, struct error *err)
{
    int code =
        operands_fill(bench->device, bench->operands, FILL_NORMAL, random_derive(bench->seed, "group", 0) >> 8, 0, err);
    struct device_shape one = {.launches = 1, .n_sets = 1};
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (!e->alive || bench->headline != TIMING_DEVICE)
            continue;
        code = bench->device->ops->prepare(bench->device, &e->work, &one, RUNG_GRAPH, &e->segment, err);
        if (code != 0)
            code = entrant_fault(bench, e, "measure", err);
    }
    return code;
}

static bool is_ok(const struct cell_record *r, const cJSON *name)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        if (strcmp(r->contenders[i].name, name->valuestring) == 0)
            return strcmp(r->contenders[i].status, "ok") == 0;
    return false;
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

int paper_run(struct bench *bench, struct error *err)
{
    if (bench->record->paper_pairs == NULL)
        bench->record->paper_pairs = cJSON_CreateArray();
    int code = prepare_all(bench, err);
    for (size_t c = 0; c < bench->n_entrants && code == 0; c++) {
        for (size_t r = 0; r < bench->n_entrants && code == 0; r++) {
            struct entrant *candidate = &bench->entrants[c];
            struct entrant *reference = &bench->entrants[r];
            if (candidate->alive && reference->alive && candidate->record->candidate && !reference->record->candidate)
                code = run_pair(bench, candidate, reference, err);
        }
    }
    drop_failed(bench->record);
    bench->record->converged = code == 0;
    return code;
}
