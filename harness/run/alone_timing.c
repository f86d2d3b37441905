/*
 * alone_timing.c - has fresh workers time the cells that are open, without plugins or with one of them, and keeps what
 * they say. Relies on crew.c. Called by alone.c.
 */
#include "run/alone_timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

#define START_TRIES 2
#define LOOK_SECONDS 1.0
/* A plugin may take its time before it slows anybody; its cell and the one without it last as long. */
#define PAIR_SECONDS 0.6
#define PAIR_BLOCKS 4096u

static void on_tell(void *context, struct start_request *out)
{
    const struct alone *a = context;
    *out = *a->request->start;
    out->config = a->config;
    for (size_t i = 0; i < a->n_plugins && out->n_refused < START_MAX_REFUSED; i++)
        if (i != a->present)
            out->refused[out->n_refused++] = a->plugins[i];
}

static enum crew_offer on_take(void *context, struct slot *slot)
{
    struct alone *a = context;
    for (size_t i = 0; i < a->n_cells; i++) {
        const struct plan_cell *cell = &a->request->ledger->plan.cells[a->cells[i].cell];
        if (a->cells[i].given || !a->cells[i].open)
            continue;
        a->cells[i].given = true;
        slot->work = (long)i;
        slot->request = (struct cell_request){
            .problem = cell->problem, .mode = cell->mode, .seed = random_derive(cell->seed, "alone", a->phases)};
        return CREW_WORK;
    }
    return CREW_NONE;
}

static void on_give_back(void *context, const struct slot *slot)
{
    struct alone *a = context;
    a->cells[slot->work].given = false;
}

static void keep_time(const struct alone *a, struct alone_name *name, enum alone_measure measure, double ns)
{
    struct alone_pairs *pairs = &name->pairs[measure];
    if (a->screening)
        name->looks[measure].without[a->turn] = ns;
    else
        *(a->present == ALONE_NOBODY ? &pairs->without[a->turn] : &pairs->beside[a->turn]) = ns;
}

static int on_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    struct alone *a = context;
    const struct cell_record *record = event->record;
    (void)err;
    for (size_t i = 0; i < record->n_contenders; i++) {
        struct alone_name *name = alone_cells_name(&a->cells[slot->work], &record->contenders[i]);
        if (!name || !(alone_cells_time(record, &record->contenders[i], ALONE_MEDIAN, 1) > 0))
            continue;
        for (enum alone_measure k = 0; k < ALONE_MEASURES; k++)
            keep_time(a, name, k,
                      alone_cells_time(record, &record->contenders[i], k, a->screening ? ALONE_BLOCKS : SIZE_MAX));
        name->without = name->without || a->present == ALONE_NOBODY;
        name->beside = name->beside || a->present != ALONE_NOBODY;
    }
    return 0;
}

/* Who costs a worker here has no say in who disturbs whom. */
static bool on_blame(void *context, struct slot *slot, const struct exclusion *blamed)
{
    struct cell_request *r = &slot->request;
    (void)context;
    for (size_t i = 0; i < r->n_exclusions; i++)
        if (strcmp(r->exclusions[i].name, blamed->name) == 0)
            return false;
    if (r->n_exclusions == CELL_MAX_EXCLUSIONS)
        return false;
    r->exclusions[r->n_exclusions++] = *blamed;
    return true;
}

/* A cell without a time tells nothing. */
static int on_fail(void *context, struct slot *slot, const char *reason, struct error *err)
{
    const struct alone *a = context;
    (void)err;
    crew_note(a->request->crew, "%s: baselines were not timed again: %s", slot->device, reason);
    return 0;
}

static int on_ready(void *context, struct slot *slot, const cJSON *env, struct error *err)
{
    (void)context, (void)slot, (void)env, (void)err;
    return 0;
}

bool alone_is_stopped(const struct alone *a)
{
    return crew_stop_signal(a->request->crew) != 0;
}

int alone_time_cells(struct alone *a, size_t present, struct error *err)
{
    const struct crew_task task = {.context = a,
                                   .tell = on_tell,
                                   .take = on_take,
                                   .give_back = on_give_back,
                                   .ready = on_ready,
                                   .done = on_done,
                                   .blame = on_blame,
                                   .fail = on_fail,
                                   .turn = ledger_turn,
                                   .turn_context = a->request->ledger,
                                   .start_tries = START_TRIES,
                                   .proven = true};
    a->present = present;
    a->phases++;
    for (size_t i = 0; i < a->n_cells; i++)
        a->cells[i].given = false;
    return alone_is_stopped(a) ? 0 : crew_run(a->request->crew, &task, err);
}

static void set(cJSON *object, const char *key, double value)
{
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key), value);
}

static void shorten(cJSON *section, const char *key, double had, double seconds)
{
    if (had > seconds)
        set(section, key, seconds);
}

/* Nothing is to converge: all cells of a kind have as many blocks, or time. */
cJSON *alone_config(const struct alone_request *r, bool for_pairs)
{
    const struct stop_config *stop = &r->config->stop;
    cJSON *config = cJSON_Duplicate(r->start->config, true);
    cJSON *section = cJSON_GetObjectItemCaseSensitive(config, "stop");
    unsigned wanted = for_pairs ? PAIR_BLOCKS : ALONE_BLOCKS;
    unsigned groups = (wanted + stop->group_blocks - 1) / stop->group_blocks;
    unsigned blocks = (groups > 2 ? groups : 2) * stop->group_blocks;
    double seconds = for_pairs ? PAIR_SECONDS : LOOK_SECONDS;
    if ((for_pairs || blocks < stop->max_blocks) && stop->least_blocks <= blocks) {
        set(section, "min_blocks", blocks);
        set(section, "look_every", blocks);
        set(section, "max_blocks", blocks);
    }
    shorten(section, "max_cell_seconds", stop->max_cell_seconds[MODE_OFFLINE], seconds);
    shorten(section, "server_max_cell_seconds", stop->max_cell_seconds[MODE_SERVER], seconds);
    shorten(section, "chain_max_cell_seconds", stop->max_cell_seconds[MODE_CHAIN], seconds);
    return config;
}
