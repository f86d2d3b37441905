/*
 * sentinel.c - rates hosts by the cell that all shards measure. Relies on stats/interval.h for medians. Called by
 * merge.c.
 */
#include "gather/sentinel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "stats/interval.h"

#define ROWS_MAX 16 /* told; of more the slowest */

int sentinels_add(struct sentinels *s, const struct sentinel *where, const struct cell_record *record,
                  struct error *err)
{
    struct sentinel *grown = grow_for_one(s->list, s->n, &s->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the sentinel cells");
    s->list = grown;
    struct sentinel *row = &s->list[s->n++];
    *row = *where;
    row->ratio = (double)NAN;
    row->times = cJSON_CreateObject();
    for (size_t i = 0; i < record->n_contenders; i++) {
        const struct series *times = &record->contenders[i].timings[record->headline];
        if (times->n > 0 && !cJSON_HasObjectItem(row->times, record->contenders[i].name))
            cJSON_AddNumberToObject(row->times, record->contenders[i].name, stats_median(times->ns, times->n));
    }
    return row->times ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the sentinel cells");
}

static double time_of(const struct sentinel *row, const char *name)
{
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(row->times, name);
    return cJSON_IsNumber(time) && time->valuedouble > 0 ? time->valuedouble : 0;
}

/* Adds one contender's log ratios; false when a shard lacks it. */
static bool add_contender(const struct sentinels *s, const char *name, double *values, double *sums)
{
    for (size_t i = 0; i < s->n; i++) {
        values[i] = time_of(&s->list[i], name);
        if (values[i] <= 0)
            return false;
    }
    double median = stats_median(values, s->n);
    for (size_t i = 0; i < s->n; i++)
        sums[i] += log(values[i] / median);
    return true;
}

void sentinels_rate(struct sentinels *s)
{
    double *values = calloc(s->n + 1, sizeof *values), *sums = calloc(s->n + 1, sizeof *sums);
    size_t contenders = 0;
    const cJSON *time;
    if (values && sums && s->n > 0)
        cJSON_ArrayForEach(time, s->list[0].times) contenders += add_contender(s, time->string, values, sums);
    for (size_t i = 0; i < s->n && contenders > 0; i++)
        s->list[i].ratio = exp(sums[i] / (double)contenders);
    free(values);
    free(sums);
}

cJSON *sentinel_line(const struct sentinel *s, const char *cell)
{
    cJSON *line = cJSON_CreateObject();
    cJSON_AddNumberToObject(line, "shard", s->shard);
    cJSON_AddStringToObject(line, "node", s->node);
    cJSON_AddStringToObject(line, "device", s->device);
    cJSON_AddStringToObject(line, "cell", cell);
    cJSON_AddItemToObject(line, "times_ns", cJSON_Duplicate(s->times, true));
    return line;
}

/* ---- for people ---- */

static int by_host(const void *a, const void *b)
{
    const struct sentinel *x = a, *y = b;
    int order = strcmp(x->node, y->node);
    if (order == 0)
        order = strcmp(x->device, y->device);
    return order ? order : x->shard < y->shard ? -1 : x->shard > y->shard;
}

/* Of a host's GPU, in place of its shards' rows. */
struct host {
    const struct sentinel *first;
    size_t shards;
    double ratio;
};

static int slowest_first(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    return x->ratio > y->ratio ? -1 : x->ratio < y->ratio;
}

static size_t list_hosts(const struct sentinels *s, struct host *hosts)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct sentinel *row = &s->list[i];
        struct host *host = n ? &hosts[n - 1] : NULL;
        if (!host || strcmp(host->first->node, row->node) != 0 || strcmp(host->first->device, row->device) != 0)
            host = &hosts[n++], *host = (struct host){.first = row};
        host->ratio += log(row->ratio);
        host->shards++;
    }
    for (size_t i = 0; i < n; i++)
        hosts[i].ratio = exp(hosts[i].ratio / (double)hosts[i].shards);
    return n;
}

static void add_row(const struct host *host, struct text *out)
{
    const char *mark = fabs(log(host->ratio)) > SENTINEL_DIFFERS ? "  differs" : "";
    text_add(out, "  %+6.1f%%  %-20s %-40s %zu shard%s%s\n", 100 * (host->ratio - 1), host->first->node,
             host->first->device, host->shards, host->shards == 1 ? "" : "s", mark);
}

void sentinels_text(struct sentinels *s, const char *cell, struct text *out)
{
    struct host *hosts = calloc(s->n + 1, sizeof *hosts);
    if (!hosts || s->n == 0 || isnan(s->list[0].ratio)) {
        text_add(out, "hosts: the sentinel cell %s has no contender that every shard timed\n", cell);
        free(hosts);
        return;
    }
    qsort(s->list, s->n, sizeof *s->list, by_host);
    size_t n = list_hosts(s, hosts), shown = n < ROWS_MAX ? n : ROWS_MAX;
    qsort(hosts, n, sizeof *hosts, slowest_first);
    text_add(out, "hosts: time of the sentinel cell %s beside the median of all shards\n", cell);
    for (size_t i = 0; i < shown; i++)
        add_row(&hosts[i], out);
    if (n > shown)
        text_add(out, "  and %zu more, the fastest at %+.1f%%\n", n - shown, 100 * (hosts[n - 1].ratio - 1));
    free(hosts);
}

void sentinels_free(struct sentinels *s)
{
    for (size_t i = 0; i < s->n; i++)
        cJSON_Delete(s->list[i].times);
    free(s->list);
    *s = (struct sentinels){.n = 0};
}
