/*
 * supervisor.c - the loop of a run: starts workers, gives them cells, takes records, blames and replaces, and
 * concludes. Relies on slot.c, ledger.c and audit.c. Called by cli/cmd_run.c, tune and verify.
 */
#include "run/supervisor.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "result/make.h"
#include "run/audit.h"
#include "run/devices.h"
#include "run/end_record.h"
#include "run/ledger.h"
#include "run/memory.h"
#include "run/refusals.h"
#include "run/slot.h"
#include "run/starting.h"

#define START_TRIES 3
#define START_PAUSE_SECONDS 1.0 /* times the failures so far: a GPU may need a moment after a fault */
#define HARNESS_DEATHS 2
#define POLL_MS 200
#define LOOKS_PER_TURN 256 /* so that one talkative worker does not keep the others waiting */
#define MEMORY_CHECK_NS 5000000000ull

struct run {
    const struct run_options *options;
    const struct run_observer *observer;
    const volatile int *stop;
    struct devices devices;
    struct ledger ledger;
    struct slot *slots;
    bool *given;   /* cells handed to a slot */
    bool checking; /* all was measured before: one worker is started for what it says of itself */
    cJSON *config;
    uint64_t started_ns, memory_checked_ns, first_cell_ns; /* the last: when a worker got the first; 0 before */
    uint64_t worker_ready_bytes;                           /* the most that one held when it had loaded its libraries */
    struct memory_use memory;                              /* of measuring */
    double cost_done, cost_left;
    struct error last; /* why the latest worker did not start */
    struct refusals refusals;
};

/* Running out of time is a signal that the run sends itself. */
static bool out_of_time(const struct run *run)
{
    double budget = run->options->budget_seconds;
    return budget > 0 && (double)(clock_now_ns() - run->started_ns) * 1e-9 > budget;
}

static int stop_signal(const struct run *run)
{
    int signal_number = run->stop ? *run->stop : 0;
    return signal_number == 0 && out_of_time(run) ? SIGALRM : signal_number;
}

/* ---- telling the observer ---- */

static void note(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(const struct run *run, const char *format, ...)
{
    char line[1024];
    if (!run->observer || !run->observer->note)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    run->observer->note(run->observer->context, line);
}

static void note_line(void *context, const char *line)
{
    note(context, "%s", line);
}

static void cell_key(const struct run *run, long cell, char key[RECORD_KEY_MAX])
{
    const struct plan_cell *c = &run->ledger.plan.cells[cell];
    record_key(&c->problem, c->mode, key);
}

static void tell_stage(const struct run *run, const struct slot *slot)
{
    char key[RECORD_KEY_MAX];
    if (!run->observer || !run->observer->stage || slot->cell < 0)
        return;
    cell_key(run, slot->cell, key);
    run->observer->stage(run->observer->context, (int)(slot - run->slots), key, slot->now.contender, slot->now.stage);
}

static double eta_seconds(const struct run *run)
{
    double elapsed = run->first_cell_ns ? (double)(clock_now_ns() - run->first_cell_ns) * 1e-9 : 0;
    return plan_eta(run->cost_done, run->cost_left, elapsed, run->devices.count);
}

/* ---- cells ---- */

static int finish_cell(struct run *run, struct slot *slot, struct cell_record *record, struct error *err)
{
    size_t cell = (size_t)slot->cell;
    double cost = run->ledger.plan.cells[cell].cost_seconds;
    record->worker = slot->env_index < 0 ? 0 : slot->env_index;
    if (ledger_add_cell(&run->ledger, cell, record, err))
        return err->code;
    slot->cell = -1;
    run->cost_done += cost;
    run->cost_left -= cost;
    if (run->observer && run->observer->cell)
        run->observer->cell(run->observer->context, record, run->ledger.n_done, eta_seconds(run));
    return 0;
}

/* The record of a cell that the harness itself could not get through. */
static int fail_cell(struct run *run, struct slot *slot, const char *reason, struct error *err)
{
    const struct config *config = run->options->config;
    struct cell_record *record = record_new();
    if (!record)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a record");
    record->problem = slot->request.problem;
    record->mode = slot->request.mode;
    record->headline = run->devices.on_cuda ? config->headline : TIMING_WALL;
    record->cache = config->cache[record->mode];
    snprintf(record->label, sizeof record->label, "%s", slot->request.label);
    snprintf(record->status, sizeof record->status, "failed");
    snprintf(record->reason, sizeof record->reason, "%.255s", reason);
    int code = finish_cell(run, slot, record, err);
    record_free(record);
    return code;
}

static long pending_cell(const struct run *run)
{
    for (size_t i = 0; i < run->ledger.plan.n_cells; i++)
        if (!run->ledger.done[i] && !run->given[i])
            return (long)i;
    return -1;
}

static void take_cell(struct run *run, struct slot *slot, long cell)
{
    const struct plan_cell *c = &run->ledger.plan.cells[cell];
    run->given[cell] = true;
    slot->cell = cell;
    slot->harness_deaths = 0;
    slot->directed = false;
    slot->request = (struct cell_request){.problem = c->problem, .mode = c->mode, .seed = c->seed};
    snprintf(slot->request.label, sizeof slot->request.label, "%s", c->label);
    offenders_exclude(&run->ledger.offenders, &slot->request);
}

/* A cell is taken before its worker is up, and the director knows nothing until then: it is asked when the cell leaves,
 * and once, for a worker that dies is sent the same again. */
static int send_cell(struct run *run, struct slot *slot, struct error *err)
{
    const struct run_director *director = run->options->director;
    if (director && !slot->directed && director->request(director->context, &slot->request, err))
        return err->code;
    slot->directed = true;
    slot_send_cell(slot);
    run->first_cell_ns = run->first_cell_ns ? run->first_cell_ns : clock_now_ns();
    return 0;
}

/* ---- blame ---- */

/* False when nobody can be blamed: no contender was running, or one that is already out. */
static bool exclude(struct run *run, struct slot *slot, const struct slot_event *event)
{
    struct exclusion blamed;
    return slot_culprit(slot, event, &blamed) && offenders_blame(&run->ledger.offenders, &slot->request, &blamed);
}

static int lost_in_cell(struct run *run, struct slot *slot, const struct slot_event *event, struct error *err)
{
    char key[RECORD_KEY_MAX], reason[RECORD_REASON_MAX + 64];
    cell_key(run, slot->cell, key);
    const char *owner = slot->now.contender[0] ? slot->now.contender : "the harness";
    note(run, "%s: worker lost in %s, stage %s of %s: %s: %s", slot->device, key, slot->now.stage, owner,
         event->verdict, event->reason);
    if (exclude(run, slot, event) || ++slot->harness_deaths < HARNESS_DEATHS)
        return 0;
    snprintf(reason, sizeof reason, "worker lost %d times, last in stage %s: %s", slot->harness_deaths, slot->now.stage,
             event->reason);
    return fail_cell(run, slot, reason, err);
}

static void retire(struct run *run, struct slot *slot)
{
    if (run->devices.count > 1) /* else the run ends with the same words */
        note(run, "%s: no worker starts here any more: %s", slot->device, run->last.text);
    slot->state = SLOT_RETIRED;
    if (slot->cell >= 0)
        run->given[slot->cell] = false; /* another worker may take it */
    slot->cell = -1;
}

static void lost_at_start(struct run *run, struct slot *slot, const struct slot_event *event)
{
    if (refusals_learn(&run->refusals, slot, event)) { /* the next start is another one */
        if (!run->options->admit)                      /* who else gives it as the reason to refuse */
            refusals_say(&run->refusals, note_line, run);
        return;
    }
    int code = event->code ? event->code : EXIT_CODE_UNAVAILABLE;
    if (code == EXIT_CODE_USAGE || code == EXIT_CODE_DATA) /* of what it was told, on whichever device */
        error_set(&run->last, code, "%s", event->reason);
    else
        error_set(&run->last, code, "%s: worker did not start: %s%s%s", slot->device, event->code ? "" : event->verdict,
                  event->code ? "" : ": ", event->reason);
    slot->start_failures++;
    slot->not_before_ns = clock_now_ns() + (uint64_t)(START_PAUSE_SECONDS * 1e9 * slot->start_failures);
    /* A worker that says why it cannot start, and never could, will say the same again. */
    if ((event->code && run->ledger.n_env == 0) || slot->start_failures >= START_TRIES)
        retire(run, slot);
}

static int worker_lost(struct run *run, struct slot *slot, const struct slot_event *event, struct error *err)
{
    bool stuck = slot->state == SLOT_RETIRED;
    int code = 0;
    if (slot->env_index < 0)
        lost_at_start(run, slot, event);
    else if (slot->cell >= 0)
        code = lost_in_cell(run, slot, event, err);
    else if (!slot_ended_well(slot, event))
        note(run, "%s: the worker did not end well, in stage %s: %s: %s", slot->device, slot->now.stage, event->verdict,
             event->reason);
    if (!code && stuck) {
        error_set(&run->last, EXIT_CODE_UNAVAILABLE, "%s: a worker does not even end on SIGKILL", slot->device);
        retire(run, slot);
    }
    return code;
}

/* ---- events ---- */

static int worker_ready(struct run *run, struct slot *slot, const cJSON *env, struct error *err)
{
    const struct run_director *director = run->options->director;
    slot->start_failures = 0;
    uint64_t resident = process_resident_bytes(&slot->process);
    if (resident > run->worker_ready_bytes)
        run->worker_ready_bytes = resident;
    if (run->options->admit && run->options->admit(run->options->admit_context, env, err))
        return err->code;
    refusals_say(&run->refusals, note_line, run);
    if (ledger_add_env(&run->ledger, env, &slot->env_index, err))
        return err->code;
    return director ? director->ready(director->context, env, err) : 0;
}

static int handle(struct run *run, struct slot *slot, const struct slot_event *event, struct error *err)
{
    switch (event->kind) {
    case SLOT_READY:
        return worker_ready(run, slot, event->env, err);
    case SLOT_RECORD:
        return finish_cell(run, slot, event->record, err);
    case SLOT_LOST:
        return worker_lost(run, slot, event, err);
    case SLOT_STAGE:
        tell_stage(run, slot);
        return 0;
    default:
        return 0;
    }
}

static int drain(struct run *run, struct slot *slot, struct error *err)
{
    int code = 0;
    bool more = true;
    for (int i = 0; i < LOOKS_PER_TURN && more && !code; i++) {
        struct slot_event event;
        slot_look(slot, &event);
        more = event.kind != SLOT_NOTHING;
        code = handle(run, slot, &event, err);
        slot_event_free(&event);
    }
    return code;
}

/* A worker that fills the machine's memory is worth a line. */
static void watch_memory(struct run *run)
{
    char told[128];
    if (clock_now_ns() - run->memory_checked_ns < MEMORY_CHECK_NS)
        return;
    run->memory_checked_ns = clock_now_ns();
    for (int i = 0; i < run->devices.count; i++)
        if (memory_is_short(&run->slots[i], told))
            note(run, "%s", told);
}

/* ---- the loop ---- */

static void tell_start(const struct run *run, struct start_request *out)
{
    starting_request(run->options, run->config, run->checking, out);
    refusals_tell(&run->refusals, out);
}

static int start_worker(struct run *run, struct slot *slot, struct error *err)
{
    struct start_request start;
    tell_start(run, &start);
    start.worker = (int)(slot - run->slots);
    slot->env_index = -1;
    return slot_start(slot, starting_program(run->options), &start, err);
}

/* Gives the slot its next thing to do; *active is false when there is nothing left for it. */
static int advance(struct run *run, struct slot *slot, bool *active, struct error *err)
{
    bool stopping = stop_signal(run) != 0;
    *active = true;
    if (slot->cell < 0 && !stopping && (slot->state == SLOT_IDLE || slot->state == SLOT_EMPTY)) {
        long cell = pending_cell(run);
        if (cell >= 0)
            take_cell(run, slot, cell);
    }
    bool work = (slot->cell >= 0 || (run->checking && slot == run->slots && slot->env_index < 0)) && !stopping;
    if (slot->state == SLOT_IDLE && work)
        return send_cell(run, slot, err);
    if (slot->state == SLOT_IDLE)
        slot_send_quit(slot);
    else if (slot->state == SLOT_STARTING && stopping)
        slot_kill(slot); /* nothing is lost, and it may take a minute to come up */
    else if (slot->state == SLOT_EMPTY && work && clock_now_ns() >= slot->not_before_ns)
        return start_worker(run, slot, err);
    else
        *active = slot->state != SLOT_RETIRED && (slot->state != SLOT_EMPTY || work);
    return 0;
}

static int loop(struct run *run, struct error *err)
{
    for (bool any = true; any && stop_signal(run) >= 0;) {
        any = false;
        for (int i = 0; i < run->devices.count; i++) {
            bool active;
            if (advance(run, &run->slots[i], &active, err))
                return err->code;
            any |= active;
        }
        if (any) /* the time limit also bounds how late a signal or a deadline is seen */
            slots_wait(run->slots, run->devices.count, POLL_MS);
        for (int i = 0; i < run->devices.count; i++)
            if (drain(run, &run->slots[i], err))
                return err->code;
        if (ledger_check(&run->ledger, err))
            return err->code;
        watch_memory(run);
    }
    return 0;
}

/* ---- what was timed is watched ---- */

static int audit_stop(void *context)
{
    return stop_signal(context);
}

static int audit(struct run *run, struct error *err)
{
    struct start_request start;
    tell_start(run, &start);
    const struct audit_request request = {.config = run->options->config,
                                          .ledger = &run->ledger,
                                          .slots = run->slots,
                                          .n_slots = run->devices.count,
                                          .program = starting_program(run->options),
                                          .start = &start,
                                          .stop = audit_stop,
                                          .note = note_line,
                                          .context = run,
                                          .advice = end_record_advice(run->options)};
    return audit_is_due(request.config, request.ledger) ? audit_run(&request, err) : 0;
}

/* ---- beginning and end ---- */

static int open_slots(struct run *run, struct error *err)
{
    double seconds = run->options->lock_seconds > 0 ? run->options->lock_seconds : SUPERVISOR_LOCK_SECONDS;
    run->slots = calloc((size_t)run->devices.count, sizeof *run->slots);
    run->given = calloc(run->ledger.plan.n_cells, sizeof *run->given);
    run->config = config_to_json(run->options->config);
    if (!run->slots || !run->given || !run->config)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the workers");
    for (int i = 0; i < run->devices.count; i++) {
        struct slot *slot = &run->slots[i];
        *slot = (struct slot){.process.fd = -1, .reader.fd = -1, .lock_fd = -1, .cell = -1, .env_index = -1};
        slot->device = run->devices.spec[i];
    }
    for (int i = 0; i < run->devices.count && run->devices.on_cuda; i++)
        if (devices_lock(run->devices.ordinal[i], seconds, run->stop, &run->slots[i].lock_fd, err))
            return err->code;
    return 0;
}

static void close_slots(struct run *run)
{
    for (int i = 0; run->slots && i < run->devices.count; i++) {
        slot_kill(&run->slots[i]);
        if (run->slots[i].lock_fd >= 0)
            close(run->slots[i].lock_fd);
    }
    free(run->slots);
    free(run->given);
    refusals_free(&run->refusals);
    cJSON_Delete(run->config);
}

/* Measures what is left. Of a finished run, whether what it measured is what is here: it is asked to go on by somebody
 * who may have another kernel under the same name by now. */
static int measure(struct run *run, struct error *err)
{
    run->checking = run->ledger.n_done == run->ledger.plan.n_cells && !audit_is_due(run->options->config, &run->ledger);
    if (run->checking && run->options->director)
        return 0;
    int code = open_slots(run, err);
    if (!code)
        code = loop(run, err);
    run->memory = memory_used(run->worker_ready_bytes);
    if (!code && run->checking && run->slots[0].state == SLOT_RETIRED && run->last.code)
        *err = run->last, code = err->code;
    if (!code)
        code = audit(run, err);
    close_slots(run);
    return code;
}

static void count_costs(struct run *run)
{
    for (size_t i = 0; i < run->ledger.plan.n_cells; i++)
        if (!run->ledger.done[i])
            run->cost_left += run->ledger.plan.cells[i].cost_seconds;
    run->started_ns = clock_now_ns();
    if (run->observer && run->observer->started)
        run->observer->started(run->observer->context, run->ledger.plan.n_cells, run->ledger.n_done);
}

static int write_output(const struct run *run, struct error *err)
{
    const struct run_director *director = run->options->director;
    const char *journal = run->ledger.journal_path, *output = run->options->output;
    return director ? director->write(director->context, journal, output, err) : result_write(journal, output, err);
}

/* The result is written whatever ended the run; the first error is the one reported. */
static int conclude(struct run *run, int code, struct error *err)
{
    struct error second = {0};
    if (!code)
        code = ledger_finish(&run->ledger, &run->memory, err);
    if (run->ledger.n_done > 0 && !run->ledger.lost && write_output(run, &second) && !code) {
        *err = second;
        return err->code;
    }
    return code ? code : end_record_of(&run->ledger, run->options, stop_signal(run), &run->last, err);
}

static int supervise(struct run *run, struct error *err)
{
    if (run->options->devices)
        run->devices = *run->options->devices;
    else if (devices_resolve(run->options->device, device_count_gpus(), &run->devices, err))
        return err->code;
    if (ledger_open(run->options, run->devices.on_cuda, &run->ledger, err))
        return err->code;
    count_costs(run);
    int code = measure(run, err);
    code = conclude(run, code, err);
    ledger_close(&run->ledger);
    return code;
}

int run_supervise(const struct run_options *options, const struct run_observer *observer, const volatile int *stop,
                  struct error *err)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    run->options = options;
    run->observer = observer;
    run->stop = stop;
    int code = supervise(run, err);
    free(run);
    return code;
}
