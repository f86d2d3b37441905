/*
 * between.c - which cells every device measures, and what each found. Relies on stats/interval.h for medians. Called by
 * measuring.c; result/gpus.c says what it comes to.
 */
#include "run/between.h"

#include <stdio.h>
#include <string.h>

#include "stats/interval.h"

void between_choose(struct between *b, const size_t *order, size_t n_cells, int workers)
{
    size_t n = workers > 1 && n_cells >= BETWEEN_LEAST ? 1 + n_cells / BETWEEN_EVERY : 0;
    b->n = n < BETWEEN_CELLS ? n : BETWEEN_CELLS;
    for (size_t i = 0; i < b->n; i++) /* of the shortest quarter */
        b->cells[i] = order[n_cells - 1 - (2 * i + 1) * n_cells / (8 * b->n)];
}

int between_next(struct between *b, int worker)
{
    return b->given[worker] < b->n ? (int)b->given[worker]++ : -1;
}

/* Medians of those that raced. */
static cJSON *times_of(const struct cell_record *r, bool candidates)
{
    cJSON *times = cJSON_CreateObject();
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        const struct series *s = &c->timings[r->headline];
        if (c->candidate == candidates && s->n > 0 && c->verdict == VERDICT_OK && !c->copy_of[0])
            cJSON_AddNumberToObject(times, c->name, stats_median(s->ns, s->n));
    }
    return times;
}

void between_add(struct between *b, int worker, size_t cell, bool again, const struct cell_record *record)
{
    char key[RECORD_KEY_MAX];
    bool chosen = false;
    for (size_t i = 0; i < b->n; i++)
        chosen = chosen || b->cells[i] == cell;
    if (!chosen)
        return;
    record_key(&record->problem, record->mode, key);
    cJSON *look = cJSON_CreateObject();
    cJSON_AddStringToObject(look, "device", b->device[worker]);
    cJSON_AddStringToObject(look, "cell", key);
    cJSON_AddBoolToObject(look, "again", again);
    cJSON_AddItemToObject(look, "candidates_ns", times_of(record, true));
    cJSON_AddItemToObject(look, "references_ns", times_of(record, false));
    if (!b->looks)
        b->looks = cJSON_CreateArray();
    cJSON_AddItemToArray(b->looks, look);
}

cJSON *between_take(struct between *b)
{
    cJSON *looks = b->looks;
    b->looks = NULL;
    return looks;
}

void between_free(struct between *b)
{
    cJSON_Delete(b->looks);
    b->looks = NULL;
}
