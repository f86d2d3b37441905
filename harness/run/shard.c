/*
 * shard.c - cuts a plan into shards of like modelled cost. Relies on plan.h alone; pure. Called by ledger.c.
 */
#include "run/shard.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell to be given away. */
struct item {
    uint64_t cost;
    size_t place;
};

/* A heap of shards: the least loaded on top, of equal ones the first. */
struct heap {
    struct item *top; /* cost: load; place: shard */
    size_t n;
};

uint64_t shard_cost_us(const struct plan_cell *cell)
{
    return (uint64_t)llround(fmax(cell->cost_seconds, 0) * 1e6);
}

static bool is_before(const struct item *a, const struct item *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->place < b->place;
}

static int longest_first(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void sink(struct heap *h)
{
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < h->n; child++)
            if (is_before(&h->top[child], &h->top[least]))
                least = child;
        if (least == at)
            return;
        struct item moved = h->top[at];
        h->top[at] = h->top[least];
        h->top[least] = moved;
        at = least;
    }
}

/* owner[place] of every item; items are sorted on the way. */
static void give(struct item *items, size_t n, struct heap *shards, uint32_t *owner)
{
    qsort(items, n, sizeof *items, longest_first);
    for (size_t i = 0; i < shards->n; i++)
        shards->top[i] = (struct item){0, i};
    for (size_t i = 0; i < n; i++) {
        owner[items[i].place] = (uint32_t)shards->top[0].place;
        shards->top[0].cost += items[i].cost;
        sink(shards);
    }
}

/* The cell of median cost among those of the plan's first mode and accumulate type: it tells of the GPU more than of
 * launches, and no shard spends long on it. */
static size_t choose_sentinel(const struct plan *plan, struct item *items)
{
    const struct plan_cell *first = &plan->cells[0];
    size_t n = 0;
    for (size_t i = 0; i < plan->n_cells; i++)
        if (plan->cells[i].mode == first->mode && plan->cells[i].problem.accumulate == first->problem.accumulate)
            items[n++] = (struct item){shard_cost_us(&plan->cells[i]), i};
    qsort(items, n, sizeof *items, longest_first);
    return items[n / 2].place;
}

static void hash_cut(const struct plan *plan, const struct shard *shard, const uint32_t *owner, struct shard_cut *cut)
{
    char text[32];
    struct digest d;
    digest_start(&d);
    digest_add_string(&d, plan->hash);
    snprintf(text, sizeof text, "%u", shard->count);
    digest_add_string(&d, text);
    digest_add_string(&d, cut->sentinel);
    digest_add(&d, owner, plan->n_cells * sizeof *owner);
    digest_finish(&d, cut->hash);
}

/* The sentinel first: a host that is not like the others shows at once. */
static void keep_own(struct plan *plan, unsigned index, size_t sentinel, const uint32_t *owner)
{
    struct plan_cell first = plan->cells[sentinel];
    size_t n = 0;
    for (size_t i = 0; i < plan->n_cells; i++)
        if (i != sentinel && owner[i] == index)
            plan->cells[n++] = plan->cells[i];
    memmove(plan->cells + 1, plan->cells, n * sizeof *plan->cells);
    plan->cells[0] = first;
    plan->n_cells = n + 1;
}

/* Room for a cut, all by place or shard. */
struct room {
    struct item *items;
    struct heap shards;
    uint32_t *owner;
};

static void take(struct plan *plan, const struct shard *shard, struct room *room, struct shard_cut *cut)
{
    size_t sentinel = choose_sentinel(plan, room->items), n = 0;
    record_key(&plan->cells[sentinel].problem, plan->cells[sentinel].mode, cut->sentinel);
    for (size_t i = 0; i < plan->n_cells; i++)
        if (i != sentinel)
            room->items[n++] = (struct item){shard_cost_us(&plan->cells[i]), i};
    give(room->items, n, &room->shards, room->owner);
    hash_cut(plan, shard, room->owner, cut);
    keep_own(plan, shard->index, sentinel, room->owner);
}

int shard_take(struct plan *plan, const struct shard *shard, struct shard_cut *cut, struct error *err)
{
    struct room room = {.items = malloc(plan->n_cells * sizeof *room.items),
                        .shards = {malloc(shard->count * sizeof *room.shards.top), shard->count},
                        .owner = calloc(plan->n_cells, sizeof *room.owner)};
    bool fits = room.items && room.shards.top && room.owner;
    *cut = (struct shard_cut){.n_whole = plan->n_cells};
    if (fits)
        take(plan, shard, &room, cut);
    free(room.owner);
    free(room.shards.top);
    free(room.items);
    return fits ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the shards of %zu cells", plan->n_cells);
}
