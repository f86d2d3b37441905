/*
 * measuring.c - the task of measuring a plan: which cell is next, what becomes of its record, who is left out after a
 * loss. Relies on crew.c for the workers and on ledger.c for the journal. Called by supervisor.c.
 */
#include "run/measuring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/differences.h"
#include "run/starting.h"

#define START_TRIES 3

/* ---- telling the observer ---- */

static void note_line(void *context, const char *line)
{
    const struct measuring *m = context;
    crew_note(m->crew, "%s", line);
}

/* Work from the number of cells on is the check between devices. */
static bool is_check(const struct measuring *m, const struct slot *slot)
{
    return slot->work >= (long)m->ledger->plan.n_cells;
}

/* Of the plan. */
static size_t cell_of(const struct measuring *m, const struct slot *slot)
{
    size_t work = (size_t)slot->work, n = m->ledger->plan.n_cells;
    return work < n ? work : m->between.cells[work - n];
}

static void cell_key(const struct measuring *m, const struct slot *slot, char key[RECORD_KEY_MAX])
{
    const struct plan_cell *c = &m->ledger->plan.cells[cell_of(m, slot)];
    record_key(&c->problem, c->mode, key);
}

static void on_stage(void *context, const struct slot *slot)
{
    const struct measuring *m = context;
    const struct run_observer *observer = m->hooks->observer;
    char key[RECORD_KEY_MAX];
    if (!observer || !observer->stage || slot->work < 0)
        return;
    cell_key(m, slot, key);
    observer->stage(observer->context, crew_number(m->crew, slot), key, slot->now.contender, slot->now.stage);
}

static double eta_seconds(const struct measuring *m)
{
    double elapsed = m->first_cell_ns ? (double)(clock_now_ns() - m->first_cell_ns) * 1e-9 : 0;
    return plan_eta(m->cost_done, m->cost_left, elapsed, m->crew->n);
}

static void on_lost(void *context, const struct slot *slot, const struct slot_event *event)
{
    const struct measuring *m = context;
    char key[RECORD_KEY_MAX];
    if (slot->work >= 0) {
        cell_key(m, slot, key);
        crew_note(m->crew, "%s: worker lost in %s, stage %s of %s: %s: %s", slot->device, key, slot->now.stage,
                  slot->now.contender[0] ? slot->now.contender : "the harness", verdict_name(event->verdict),
                  event->reason);
    } else if (!slot_ended_well(slot, event)) {
        crew_note(m->crew, "%s: the worker did not end well, in stage %s: %s: %s", slot->device, slot->now.stage,
                  verdict_name(event->verdict), event->reason);
    }
}

/* ---- cells ---- */

static int finish_cell(struct measuring *m, struct slot *slot, struct cell_record *record, struct error *err)
{
    const struct run_observer *observer = m->hooks->observer;
    size_t cell = (size_t)slot->work;
    double cost = m->ledger->plan.cells[cell].cost_seconds;
    record->worker = slot->env_index < 0 ? 0 : slot->env_index;
    if (ledger_add_cell(m->ledger, cell, record, err))
        return err->code;
    m->cost_done += cost;
    m->cost_left -= cost;
    if (observer && observer->cell)
        observer->cell(observer->context, record, m->ledger->n_done, eta_seconds(m));
    return 0;
}

static int on_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    struct measuring *m = context;
    bool again = is_check(m, slot);
    between_add(&m->between, crew_number(m->crew, slot), cell_of(m, slot), again, event->record);
    return again ? 0 : finish_cell(m, slot, event->record, err);
}

/* The record of a cell that the harness itself could not get through. */
static int on_fail(void *context, struct slot *slot, const char *reason, struct error *err)
{
    struct measuring *m = context;
    const struct config *config = m->spec->config;
    if (is_check(m, slot))
        return 0;
    struct cell_record *record = record_new();
    if (!record)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a record");
    record->problem = slot->request.problem;
    record->mode = slot->request.mode;
    record->headline = timing_choose(
        config->headline, timing_bits(m->spec->devices.on_cuda ? CUDAL2_ON_CUDA : CUDAL2_ON_CPU), record->mode);
    record->cache = config->cache[record->mode];
    snprintf(record->label, sizeof record->label, "%s", slot->request.label);
    record->outcome = CELL_FAILED;
    snprintf(record->reason, sizeof record->reason, "%.255s", reason);
    int code = finish_cell(m, slot, record, err);
    record_free(record);
    return code;
}

struct dear_cell {
    double seconds;
    size_t cell;
};

static int by_seconds(const void *a, const void *b)
{
    const struct dear_cell *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Out of memory it is the plan's. */
void measuring_order(const struct plan *plan, int workers, size_t *order)
{
    struct dear_cell *list = workers > 1 ? calloc(plan->n_cells + 1, sizeof *list) : NULL;
    for (size_t i = 0; i < plan->n_cells && list; i++)
        list[i] = (struct dear_cell){plan->cells[i].cost_seconds, i};
    if (list)
        qsort(list, plan->n_cells, sizeof *list, by_seconds);
    for (size_t i = 0; i < plan->n_cells; i++)
        order[i] = list ? list[i].cell : i;
    free(list);
}

static long pending_cell(struct measuring *m)
{
    for (; m->next < m->ledger->plan.n_cells; m->next++) {
        size_t cell = m->order[m->next];
        if (!m->ledger->done[cell] && !m->given[cell])
            return (long)cell;
    }
    return -1;
}

static enum crew_offer on_take(void *context, struct slot *slot)
{
    struct measuring *m = context;
    int number = crew_number(m->crew, slot);
    long cell = pending_cell(m), work = cell;
    if (cell < 0 && slot->state == SLOT_IDLE) {
        int check = between_next(&m->between, number);
        cell = check < 0 ? -1 : (long)m->between.cells[check];
        work = check < 0 ? -1 : (long)m->ledger->plan.n_cells + check;
    }
    if (cell < 0) /* one worker is to be up, once, although there is no cell for it */
        return m->checking && number == 0 && !slot->up ? CREW_LATER : CREW_NONE;
    const struct plan_cell *c = &m->ledger->plan.cells[cell];
    m->given[cell] = true;
    slot->work = work;
    memset(&slot->request, 0, sizeof slot->request);
    slot->request.problem = c->problem;
    slot->request.mode = c->mode;
    slot->request.seed = c->seed;
    snprintf(slot->request.label, sizeof slot->request.label, "%s", c->label);
    offenders_exclude(&m->ledger->offenders, &slot->request);
    return CREW_WORK;
}

static void on_give_back(void *context, const struct slot *slot)
{
    struct measuring *m = context;
    if (is_check(m, slot))
        return;
    m->given[slot->work] = false;
    m->next = 0;
}

static int on_send(void *context, struct slot *slot, struct error *err)
{
    struct measuring *m = context;
    const struct run_director *director = m->hooks->director;
    if (director && director->request(director->context, &slot->request, err))
        return err->code;
    m->first_cell_ns = m->first_cell_ns ? m->first_cell_ns : clock_now_ns();
    return 0;
}

static bool on_blame(void *context, struct slot *slot, const struct exclusion *blamed)
{
    struct measuring *m = context;
    return offenders_blame(&m->ledger->offenders, &slot->request, blamed);
}

/* ---- workers ---- */

static void on_tell(void *context, struct start_request *out)
{
    measuring_tell(context, out);
}

static void name_device(struct measuring *m, const struct slot *slot, const cJSON *env)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(env, "device");
    const cJSON *uuid = cJSON_GetObjectItemCaseSensitive(device, "uuid");
    char *name = m->between.device[crew_number(m->crew, slot)];
    bool known = cJSON_IsString(uuid) && uuid->valuestring[0];
    snprintf(name, sizeof m->between.device[0], "%.63s", known ? uuid->valuestring : slot->device);
}

static int on_ready(void *context, struct slot *slot, const cJSON *env, struct error *err)
{
    struct measuring *m = context;
    const struct run_hooks *hooks = m->hooks;
    char differences[DIFFERENCES_MAX];
    uint64_t resident = process_resident_bytes(&slot->process);
    if (resident > m->worker_ready_bytes)
        m->worker_ready_bytes = resident;
    if (hooks->admit && hooks->admit(hooks->admit_context, env, err))
        return err->code;
    refusals_say(&m->refusals, note_line, m);
    name_device(m, slot, env);
    if (m->ledger->env && differences_of(m->ledger->env, env, differences))
        crew_note(m->crew, "%s is not like the first GPU: %s", slot->device, differences);
    if (ledger_add_env(m->ledger, env, &slot->env_index, err))
        return m->crew->n > 1 ? error_wrap(err, "%s", slot->device) : err->code;
    return hooks->director ? hooks->director->ready(hooks->director->context, env, err) : 0;
}

static bool on_learn(void *context, const struct slot *slot, const struct slot_event *event)
{
    struct measuring *m = context;
    if (!refusals_learn(&m->refusals, slot, event))
        return false;
    if (!m->hooks->admit) /* who else gives it as the reason to refuse */
        refusals_say(&m->refusals, note_line, m);
    return true;
}

static int on_retired(void *context, struct slot *slot, const struct slot_event *event, struct error *err)
{
    const struct measuring *m = context;
    (void)event;
    (void)err;
    if (m->crew->n > 1) /* else the run ends with the same words */
        crew_note(m->crew, "%s: no worker starts here any more: %s", slot->device, m->crew->last.text);
    return 0;
}

/* ---- the whole ---- */

void measuring_tell(const struct measuring *m, struct start_request *out)
{
    starting_request(m->spec, m->config, m->checking, out);
    refusals_tell(&m->refusals, out);
    out->order = out->precompile ? m->shapes : NULL;
    out->workers = m->spec->devices.count;
}

int measuring_open(struct measuring *m, struct error *err)
{
    const struct run_observer *observer = m->hooks->observer;
    const struct ledger *ledger = m->ledger;
    for (size_t i = 0; i < ledger->plan.n_cells; i++)
        if (!ledger->done[i])
            m->cost_left += ledger->plan.cells[i].cost_seconds;
    m->given = calloc(ledger->plan.n_cells, sizeof *m->given);
    m->order = calloc(ledger->plan.n_cells, sizeof *m->order);
    m->config = config_to_json(m->spec->config);
    if (!m->given || !m->order || !m->config)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the cells");
    measuring_order(&ledger->plan, m->spec->devices.count, m->order);
    m->shapes = starting_order(m->spec->config, &ledger->plan, m->order, ledger->done);
    if (!m->checking && !m->hooks->director)
        between_choose(&m->between, m->order, ledger->plan.n_cells, m->spec->devices.count);
    if (observer && observer->started)
        observer->started(observer->context, ledger->plan.n_cells, ledger->n_done);
    return 0;
}

int measuring_run(struct measuring *m, struct error *err)
{
    const struct crew_task task = {.context = m,
                                   .tell = on_tell,
                                   .take = on_take,
                                   .give_back = on_give_back,
                                   .send = on_send,
                                   .ready = on_ready,
                                   .done = on_done,
                                   .lost = on_lost,
                                   .blame = on_blame,
                                   .fail = on_fail,
                                   .learn = on_learn,
                                   .retired = on_retired,
                                   .stage = on_stage,
                                   .turn = ledger_turn,
                                   .turn_context = m->ledger,
                                   .start_tries = START_TRIES,
                                   .warm = m->hooks->warm,
                                   .proven = m->ledger->n_env > 0,
                                   .next = m->behind};
    return crew_run(m->crew, &task, err);
}

void measuring_close(struct measuring *m)
{
    free(m->given);
    free(m->order);
    between_free(&m->between);
    refusals_free(&m->refusals);
    cJSON_Delete(m->config);
    cJSON_Delete(m->shapes);
}
