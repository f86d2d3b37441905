/*
 * shard_record.c - writes, reads and checks what a journal says of its shard. Relies on base/json.h. Called by ledger.c
 * and by gather/.
 */
#include "run/shard_record.h"

#include <string.h>
#include <unistd.h>

#define CELLS_MAX (1 << 30)
#define COST_MAX ((int64_t)1 << 53)

cJSON *shard_record_json(const struct run_spec *spec, const struct shard_cut *cut, const struct plan *plan)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "index", spec->shard.index);
    cJSON_AddNumberToObject(o, "count", spec->shard.count);
    cJSON_AddStringToObject(o, "hash", cut->hash);
    cJSON_AddStringToObject(o, "sentinel", cut->sentinel);
    cJSON_AddNumberToObject(o, "cells", (double)cut->n_whole);
    cJSON_AddBoolToObject(o, "search", spec->search);
    cJSON *places = cJSON_AddArrayToObject(o, "places"), *costs = cJSON_AddArrayToObject(o, "cost_us");
    for (size_t i = 0; i < plan->n_cells; i++) {
        cJSON_AddItemToArray(places, cJSON_CreateNumber((double)plan->cells[i].place));
        cJSON_AddItemToArray(costs, cJSON_CreateNumber((double)shard_cost_us(&plan->cells[i])));
    }
    return o;
}

void shard_record_node(cJSON *sitting)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        name[0] = '\0';
    cJSON_AddStringToObject(sitting, "node", name);
}

/* ---- reading ---- */

static int read_count(struct json_at at, int64_t low, int64_t high, size_t *out, struct error *err)
{
    int64_t value = 0;
    int code = json_read_int(at, low, high, &value, err);
    *out = (size_t)value;
    return code;
}

static int check_numbers(struct json_at array, size_t n, int64_t high, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index = 0, count = 0;
    int64_t ignored;
    if (json_read_array(array, 1, &count, err))
        return err->code;
    if ((size_t)count != n)
        return json_fail(array, err, "%d values for the %zu cells of the plan", count, n);
    while (json_each(array, &node, &index, &element))
        if (json_read_int(element, 0, high, &ignored, err))
            return err->code;
    return 0;
}

static int check_plan(struct json_at plan, size_t *n, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    const char *ignored;
    int index = 0, count = 0;
    if (json_read_array(plan, 1, &count, err))
        return err->code;
    while (json_each(plan, &node, &index, &element))
        if (json_read_string(element, &ignored, err))
            return err->code;
    *n = (size_t)count;
    return 0;
}

static int read_lists(struct json_at run, struct json_at shard, struct shard_head *out, struct error *err)
{
    struct json_at plan = json_member(run, "plan"), places = json_member(shard, "places"),
                   costs = json_member(shard, "cost_us");
    if (check_plan(plan, &out->n_cells, err) || check_numbers(places, out->n_cells, (int64_t)out->n_whole - 1, err) ||
        check_numbers(costs, out->n_cells, COST_MAX, err))
        return err->code;
    out->plan = plan.node;
    out->places = places.node;
    out->cost_us = costs.node;
    return 0;
}

int shard_record_read(struct json_at run, bool *is_shard, struct shard_head *out, struct error *err)
{
    struct json_at shard = json_member(run, "shard");
    size_t index = 0, count = 0;
    *out = (struct shard_head){.search = false};
    *is_shard = shard.node != NULL;
    if (!*is_shard)
        return 0;
    if (read_count(json_member(shard, "count"), 1, SHARD_MAX, &count, err) ||
        read_count(json_member(shard, "index"), 0, (int64_t)count - 1, &index, err) ||
        read_count(json_member(shard, "cells"), 1, CELLS_MAX, &out->n_whole, err) ||
        json_read_bool(json_member(shard, "search"), &out->search, err) ||
        json_read_string(json_member(shard, "hash"), &out->hash, err) ||
        json_read_string(json_member(shard, "sentinel"), &out->sentinel, err) ||
        json_read_string(json_member(run, "plan_hash"), &out->plan_hash, err))
        return err->code;
    out->shard = (struct shard){(unsigned)index, (unsigned)count};
    return read_lists(run, shard, out, err);
}

/* ---- going on ---- */

int shard_record_check(struct json_at run, const struct shard *shard, const struct shard_cut *cut, struct error *err)
{
    bool is_shard;
    struct shard_head head;
    if (shard_record_read(run, &is_shard, &head, err))
        return err->code;
    if (!is_shard && shard->count == 0)
        return 0;
    if (!is_shard)
        return json_fail(run, err, "cannot resume: the journal is of the whole plan, this is shard %u/%u", shard->index,
                         shard->count);
    if (shard->count == 0)
        return json_fail(run, err, "cannot resume: the journal is shard %u/%u; give --shard %u/%u, or another --output",
                         head.shard.index, head.shard.count, head.shard.index, head.shard.count);
    if (head.shard.index != shard->index || head.shard.count != shard->count)
        return json_fail(run, err, "cannot resume: the journal is shard %u/%u, this is %u/%u", head.shard.index,
                         head.shard.count, shard->index, shard->count);
    if (strcmp(head.hash, cut->hash) != 0)
        return json_fail(run, err, "cannot resume: the cut into shards differs (%s then, %s now)", head.hash,
                         cut->hash);
    return 0;
}
