/*
 * crew.c - the loop over worker processes that every task shares: starts, dispatch, losses, retirement, deadlines, stop
 * signals. Relies on slot.c for one worker and on the task for what the work is. Called by measuring.c and audit.c.
 */
#include "run/crew.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "run/crew_devices.h"
#include "run/memory.h"

#define POLL_MS 200
#define LOOKS_PER_TURN 256 /* so that one talkative worker does not keep the others waiting */
#define MEMORY_CHECK_NS 5000000000ull

void crew_note(const struct crew *crew, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (!crew->setup.note)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    crew->setup.note(crew->setup.note_context, line);
}

int crew_number(const struct crew *crew, const struct slot *slot)
{
    return (int)(slot - crew->slots);
}

/* ---- the end ---- */

/* Running out of time is a signal that the run sends itself. */
int crew_stop_signal(const struct crew *crew)
{
    int number = crew->setup.stop ? *crew->setup.stop : 0;
    bool spent = crew->deadline_ns && clock_now_ns() > crew->deadline_ns;
    return number == 0 && spent ? SIGALRM : number;
}

static bool is_stopping(const struct crew *crew)
{
    return crew->over || crew_stop_signal(crew) != 0;
}

void crew_end(struct crew *crew)
{
    crew->over = true;
}

bool crew_is_alive(const struct crew *crew)
{
    for (int i = 0; i < crew->n; i++)
        if (crew->slots[i].state != SLOT_RETIRED)
            return true;
    return false;
}

/* ---- workers that are lost ---- */

/* What it was to do is there for the others. */
static int retire(struct crew *crew, struct slot *slot, const struct slot_event *event, struct error *err)
{
    const struct crew_task *task = crew->task;
    if (slot->work >= 0)
        task->give_back(task->context, slot);
    slot->work = -1;
    slot->state = SLOT_RETIRED;
    return task->retired ? task->retired(task->context, slot, event, err) : 0;
}

static int retire_stuck(struct crew *crew, struct slot *slot, const struct slot_event *event, struct error *err)
{
    error_set(&crew->last, EXIT_CODE_UNAVAILABLE, "%s: a worker does not even end on SIGKILL", slot->device);
    return retire(crew, slot, event, err);
}

#define FOR_PROFILERS " is set: if by a profiler, use `verify --in-process` (docs/kernels.md, Checking a kernel)"

/* A worker does not get what a profiler puts into our environment, and ncu's library crashes a process without it. */
static const char *hint_at(const struct slot_event *event)
{
    if (event->code != 0 || event->verdict != VERDICT_CRASH)
        return "";
    if (getenv("CUDA_INJECTION64_PATH") != NULL)
        return "; CUDA_INJECTION64_PATH" FOR_PROFILERS;
    return getenv("LD_PRELOAD") != NULL ? "; LD_PRELOAD" FOR_PROFILERS : "";
}

static void keep_reason(struct crew *crew, const struct slot *slot, const struct slot_event *event)
{
    int code = event->code ? event->code : EXIT_CODE_UNAVAILABLE;
    if (slot->gpu[0] && code == EXIT_CODE_UNAVAILABLE)
        error_set(&crew->last, code, "%s (%s) has worked in this run and does not any more: %s (dmesg may name an Xid)",
                  slot->device, slot->gpu, event->reason);
    else if (code == EXIT_CODE_USAGE || code == EXIT_CODE_DATA) /* of what it was told, on whichever device */
        error_set(&crew->last, code, "%s", event->reason);
    else
        error_set(&crew->last, code, "%s: worker did not start: %s%s%s%s", slot->device,
                  event->code ? "" : verdict_name(event->verdict), event->code ? "" : ": ", event->reason,
                  hint_at(event));
}

/* A GPU's worker enters its namespaces and opens its device there without having tried: a trial takes as long as the
 * start. Where that fails, it may be them. */
static bool try_first(struct slot *slot, const struct slot_event *event)
{
    bool of_the_device = event->code == 0 || event->code == EXIT_CODE_UNAVAILABLE;
    if (slot->wary || !of_the_device || strcmp(slot->device, "cpu") == 0)
        return false;
    slot->wary = true;
    return true;
}

static int lost_at_start(struct crew *crew, struct slot *slot, const struct slot_event *event, struct error *err)
{
    const struct crew_task *task = crew->task;
    if (task->learn && task->learn(task->context, slot, event))
        return 0;
    keep_reason(crew, slot, event);
    if (try_first(slot, event))
        return 0;
    slot->start_failures++;
    slot->not_before_ns = clock_now_ns() + (uint64_t)(crew->setup.spec->pause_seconds * 1e9 * slot->start_failures);
    /* A worker that says why it cannot start, and never could, will say the same again. */
    bool never = event->code && !task->proven && !crew->was_up;
    return never || slot->start_failures >= task->start_tries ? retire(crew, slot, event, err) : 0;
}

static void finish_work(struct slot *slot)
{
    slot->work = -1;
    slot->sent = false;
    slot->harness_deaths = 0;
    slot->killed = false;
}

/* A kill from outside, as the kernel's when others have filled the memory, may have met anybody: the work is done again
 * with all of them. Whoever it meets again is left out. */
static bool was_chance(struct slot *slot, const struct slot_event *event)
{
    bool first = event->verdict == VERDICT_KILLED && !slot->killed;
    slot->killed = slot->killed || first;
    return first;
}

static int lost_in_work(struct crew *crew, struct slot *slot, const struct slot_event *event, struct error *err)
{
    const struct crew_task *task = crew->task;
    struct exclusion blamed;
    char reason[RECORD_REASON_MAX + 64];
    bool forgiven = was_chance(slot, event);
    bool excluded = !forgiven && slot_culprit(slot, event, &blamed) && task->blame(task->context, slot, &blamed);
    if (forgiven || excluded || ++slot->harness_deaths < CREW_HARNESS_DEATHS)
        return 0;
    snprintf(reason, sizeof reason, "worker lost %d times, last in stage %s: %s", slot->harness_deaths, slot->now.stage,
             event->reason);
    int code = task->fail(task->context, slot, reason, err);
    finish_work(slot);
    return code;
}

static int worker_lost(struct crew *crew, struct slot *slot, const struct slot_event *event, struct error *err)
{
    const struct crew_task *task = crew->task;
    bool stuck = slot->state == SLOT_RETIRED;
    int code = 0;
    if (slot->up && task->lost)
        task->lost(task->context, slot, event);
    if (slot->up && slot->work >= 0)
        code = lost_in_work(crew, slot, event, err);
    if (!code && stuck)
        return retire_stuck(crew, slot, event, err);
    return slot->up ? code : lost_at_start(crew, slot, event, err);
}

/* ---- what workers say ---- */

/* Where a GPU falls off the bus, the driver gives its number to the next one, which another worker may have. */
static bool is_another_gpu(struct slot *slot, struct slot_event *event)
{
    const char *uuid = tree_text(cJSON_GetObjectItemCaseSensitive(event->env, "device"), "uuid");
    bool another = slot->gpu[0] && strncmp(slot->gpu, uuid, sizeof slot->gpu - 1) != 0;
    if (another) {
        event->verdict = VERDICT_INFRASTRUCTURE;
        event->code = EXIT_CODE_UNAVAILABLE;
        snprintf(event->reason, sizeof event->reason, "its number is %.60s's now", uuid);
    } else {
        snprintf(slot->gpu, sizeof slot->gpu, "%s", uuid);
    }
    return another;
}

static int worker_ready(struct crew *crew, struct slot *slot, struct slot_event *event, struct error *err)
{
    if (is_another_gpu(slot, event)) {
        slot_kill(slot);
        return lost_at_start(crew, slot, event, err);
    }
    slot->up = crew->was_up = true;
    slot->start_failures = 0;
    return crew->task->ready(crew->task->context, slot, event->env, err);
}

static int work_done(struct crew *crew, struct slot *slot, struct slot_event *event, struct error *err)
{
    int code = crew->task->done(crew->task->context, slot, event, err);
    finish_work(slot);
    return code;
}

static int handle(struct crew *crew, struct slot *slot, struct slot_event *event, struct error *err)
{
    switch (event->kind) {
    case SLOT_READY:
        return worker_ready(crew, slot, event, err);
    case SLOT_RECORD:
    case SLOT_ACTIVITY:
        return work_done(crew, slot, event, err);
    case SLOT_LOST:
        return worker_lost(crew, slot, event, err);
    case SLOT_STAGE:
        if (crew->task->stage)
            crew->task->stage(crew->task->context, slot);
        return 0;
    default:
        return 0;
    }
}

static int drain(struct crew *crew, struct slot *slot, struct error *err)
{
    int code = 0;
    bool more = true;
    for (int i = 0; i < LOOKS_PER_TURN && more && !code; i++) {
        struct slot_event event;
        slot_look(slot, &event);
        more = event.kind != SLOT_NOTHING;
        code = handle(crew, slot, &event, err);
        slot_event_free(&event);
    }
    return code;
}

/* ---- the loop ---- */

static int start_worker(struct crew *crew, const struct crew_task *task, struct slot *slot, struct error *err)
{
    struct start_request *start = &crew->start;
    task->tell(task->context, start);
    start->worker = crew_number(crew, slot);
    slot->up = false;
    slot->env_index = -1;
    if (!task->warm || !warm_take(task->warm, slot))
        return slot_start(slot, crew->setup.spec->program, start, err);
    slot_start_again(slot, start);
    return 0;
}

/* Or may get something to do. */
static bool others_work(const struct crew *crew, const struct slot *slot)
{
    bool any = false;
    for (int i = 0; i < crew->n; i++) {
        const struct slot *other = &crew->slots[i];
        bool up = other->state == SLOT_STARTING || other->state == SLOT_IDLE || other->state == SLOT_BUSY;
        any |= other != slot && !other->ahead && (up || other->work >= 0);
    }
    return any;
}

/* A device that is through has its next worker started, while the last one ends and others finish their work. Where
 * that fails the task itself will try, and tell. */
static void start_ahead(struct crew *crew, struct slot *slot)
{
    const struct crew_task *next = crew->task->next;
    struct error ignored;
    if (is_stopping(crew) || (others_work(crew, slot) && !slot->has_cores))
        return;
    crew->next = next;
    slot->ahead = start_worker(crew, next, slot, &ignored) == 0;
}

/* Nothing more for a worker that waits: it is kept for another run, or goes. *active: its slot has still to do with
 * that. */
static void dismiss(struct crew *crew, struct slot *slot, bool *active)
{
    const struct leaving_witness witness = {crew->task->lost, crew->task->context};
    bool keep = crew->task->warm && !is_stopping(crew);
    *active = false;
    if (keep && warm_keep(crew->task->warm, slot))
        return;
    slot_send_quit(slot);
    *active = !crew->task->next || !leaving_take(&crew->leaving, crew_number(crew, slot), slot, &witness);
    if (!*active)
        start_ahead(crew, slot);
}

/* Work is taken before its worker is up, and may need what only a worker knows: it is completed when it leaves, and
 * once, for a worker that dies is sent the same again. */
static int send_work(struct crew *crew, struct slot *slot, struct error *err)
{
    const struct crew_task *task = crew->task;
    if (!slot->sent && task->send && task->send(task->context, slot, err))
        return err->code;
    slot->sent = true;
    slot_send_cell(slot);
    return 0;
}

/* What there is for the slot. */
static enum crew_offer offer_to(struct crew *crew, struct slot *slot)
{
    if (is_stopping(crew))
        return CREW_NONE;
    if (slot->work >= 0)
        return CREW_WORK;
    bool free = slot->state == SLOT_IDLE || slot->state == SLOT_EMPTY || slot->ahead;
    return free ? crew->task->take(crew->task->context, slot) : CREW_NONE;
}

/* Its worker is the next task's. Where another device has given work back, this one is needed once more. */
static void call_back(struct slot *slot)
{
    slot_kill(slot);
    slot->ahead = false;
}

/* Gives the slot its next thing to do; *active is false when there is nothing left for it. */
static int advance(struct crew *crew, struct slot *slot, bool *active, struct error *err)
{
    enum crew_offer offer = offer_to(crew, slot);
    *active = !slot->ahead || offer != CREW_NONE;
    if (slot->ahead && offer != CREW_NONE)
        call_back(slot);
    if (slot->ahead)
        return 0;
    if (slot->state == SLOT_IDLE && offer == CREW_WORK)
        return leaving_still(&crew->leaving, crew_number(crew, slot)) ? 0 : send_work(crew, slot, err);
    if (slot->state == SLOT_IDLE && offer == CREW_NONE)
        dismiss(crew, slot, active);
    else if (slot->state == SLOT_STARTING && is_stopping(crew))
        slot_kill(slot); /* nothing is lost, and it may take a minute to come up */
    else if (slot->state == SLOT_EMPTY && offer != CREW_NONE && clock_now_ns() >= slot->not_before_ns)
        return start_worker(crew, crew->task, slot, err);
    else
        *active = slot->state != SLOT_RETIRED && (slot->state != SLOT_EMPTY || offer != CREW_NONE);
    return 0;
}

/* A worker that fills the machine's memory is worth a line. */
static void watch_memory(struct crew *crew)
{
    char told[128];
    if (clock_now_ns() - crew->memory_checked_ns < MEMORY_CHECK_NS)
        return;
    crew->memory_checked_ns = clock_now_ns();
    for (int i = 0; i < crew->n; i++)
        if (memory_is_short(&crew->slots[i], told))
            crew_note(crew, "%s", told);
}

/* States change in between alone, so what has passed belongs to the present ones. */
static void count_time(struct crew *crew)
{
    uint64_t now = clock_now_ns();
    for (int i = 0; i < crew->n; i++) {
        struct slot *slot = &crew->slots[i];
        slot->spent[slot->ahead ? SLOT_IDLE : slot->state] += 1e-9 * (double)(now - crew->counted_ns);
    }
    crew->counted_ns = now;
}

/* One turn: something to do for everybody, a wait, and what was said meanwhile. */
static int turn(struct crew *crew, bool *any, struct error *err)
{
    const struct crew_task *task = crew->task;
    *any = false;
    for (int i = 0; i < crew->n; i++) {
        bool active;
        if (advance(crew, &crew->slots[i], &active, err))
            return err->code;
        *any |= active;
    }
    if (*any) /* the time limit also bounds how late a signal or a deadline is seen */
        slots_wait(crew->slots, 2 * crew->n, task->wake_fd, POLL_MS);
    count_time(crew);
    for (int i = 0; i < crew->n; i++)
        if (!crew->slots[i].ahead && drain(crew, &crew->slots[i], err))
            return err->code;
    leaving_look(&crew->leaving);
    count_time(crew);
    watch_memory(crew);
    return task->turn ? task->turn(task->turn_context ? task->turn_context : task->context, err) : 0;
}

/* A worker that was started for this task is its own from now on, and one for another task is nobody's. */
static void begin_slot(struct crew *crew, struct slot *slot)
{
    if (slot->ahead && crew->next != crew->task)
        slot_kill(slot);
    slot->ahead = false;
    finish_work(slot);
    slot->start_failures = 0;
    slot->not_before_ns = 0;
}

int crew_run(struct crew *crew, const struct crew_task *task, struct error *err)
{
    int code = 0;
    crew->task = task;
    crew->over = crew->was_up = false;
    if (crew->next != task)
        leaving_end(&crew->leaving, false);
    for (int i = 0; i < crew->n; i++)
        begin_slot(crew, &crew->slots[i]);
    crew->counted_ns = clock_now_ns();
    for (bool any = true; any && !code && crew_stop_signal(crew) >= 0;)
        code = turn(crew, &any, err);
    crew->task = NULL;
    return code;
}

/* ---- beginning and end ---- */

void crew_init(struct crew *crew, const struct crew_setup *setup)
{
    double budget = setup->spec->budget_seconds;
    memset(crew, 0, sizeof *crew);
    crew->setup = *setup;
    if (budget > 0)
        crew->deadline_ns = clock_now_ns() + (uint64_t)(budget * 1e9);
}

int crew_open(struct crew *crew, struct error *err)
{
    const struct run_spec *spec = crew->setup.spec;
    const struct devices *devices = &spec->devices;
    crew->slots = calloc(2 * (size_t)devices->count, sizeof *crew->slots);
    if (!crew->slots)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the workers");
    crew->n = devices->count;
    leaving_begin(&crew->leaving, crew->slots + crew->n, crew->n);
    for (int i = 0; i < crew->n; i++)
        crew->slots[i] = (struct slot){
            .process.fd = -1, .reader.fd = -1, .lock_fd = -1, .work = -1, .env_index = -1, .device = devices->spec[i]};
    if (crew->setup.warm)
        crew->slots[0].lock_fd = warm_lock(crew->setup.warm);
    return crew_take_devices(crew, err);
}

void crew_close(struct crew *crew)
{
    leaving_end(&crew->leaving, crew_stop_signal(crew) < 0);
    for (int i = 0; i < crew->n; i++) {
        slot_kill(&crew->slots[i]);
        if (crew->slots[i].lock_fd >= 0)
            close(crew->slots[i].lock_fd);
    }
    free(crew->slots);
    crew->slots = NULL;
    crew->leaving = (struct leaving){0};
    crew->n = 0;
}
