/*
 * audit.c - the audit after a run: fresh workers, jobs from audit_jobs.c, losses borne without harm, lines for the
 * journal. Relies on slot.c and ledger.c. Called by supervisor.c when all cells are there.
 */
#include "run/audit.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/audit_jobs.h"
#include "worker/environment.h"

#define POLL_MS 100
#define START_TRIES 2
#define START_PAUSE_NS 1000000000ull
#define HARNESS_DEATHS 2

/* What a slot is at. */
struct post {
    long job; /* -1: none */
    bool ready;
    uint64_t started_ns;
    int start_failures; /* in a row */
    int harness_deaths; /* in this job, nobody to blame */
};

struct audit {
    const struct audit_request *request;
    struct audit_jobs jobs;
    struct post *posts;
    struct exclusion lost[CELL_MAX_EXCLUSIONS]; /* contenders that took a worker with them are not watched any more */
    size_t n_lost;
    bool has_recorder; /* it is in the journal */
    bool over;         /* nobody can watch */
};

static void note(const struct audit *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(const struct audit *a, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (!a->request->note)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    a->request->note(a->request->context, line);
}

static struct post *post_of(const struct audit *a, const struct slot *slot)
{
    return &a->posts[slot - a->request->slots];
}

static int stop_of(const struct audit *a)
{
    return a->request->stop ? a->request->stop(a->request->context) : 0;
}

bool audit_is_due(const struct config *config, const struct ledger *ledger)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(ledger->env, "device");
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(device, "kind");
    return config->activity != ACTIVITY_OFF && !ledger->complete && ledger->n_done == ledger->plan.n_cells &&
           cJSON_IsString(kind) && strcmp(kind->valuestring, "cuda") == 0;
}

/* ---- the journal ---- */

/* To the millisecond. */
static double seconds_since(uint64_t ns)
{
    return (double)((clock_now_ns() - ns) / 1000000u) / 1000;
}

static int give_up(struct audit *a, const char *reason, struct error *err)
{
    cJSON *line = cJSON_CreateObject();
    char text[RECORD_REASON_MAX];
    snprintf(text, sizeof text, "%.255s", reason[0] ? reason : "no reason given");
    error_one_line(text);
    cJSON_AddStringToObject(line, "unavailable", text);
    a->over = true;
    note(a, "nothing is watched: %s", text);
    return ledger_add_activity(a->request->ledger, line, err);
}

/* Takes `contenders` over. */
static int finish_job(struct audit *a, struct slot *slot, cJSON *contenders, struct error *err)
{
    struct post *post = post_of(a, slot);
    const struct plan_cell *cell = &a->request->ledger->plan.cells[a->jobs.list[post->job].cell];
    char key[RECORD_KEY_MAX];
    cJSON *line = cJSON_CreateObject();
    record_key(&cell->problem, cell->mode, key);
    cJSON_AddStringToObject(line, "cell", key);
    cJSON_AddItemToObject(line, "contenders", contenders);
    cJSON_AddNumberToObject(line, "seconds", seconds_since(slot->sent_ns));
    post->job = slot->cell = -1;
    return ledger_add_activity(a->request->ledger, line, err);
}

/* A cell that the harness itself cannot get through: nobody in it is seen. */
static int fail_job(struct audit *a, struct slot *slot, const char *reason, struct error *err)
{
    const cJSON *c;
    cJSON *list = cJSON_CreateArray();
    cJSON_ArrayForEach(c, a->jobs.list[post_of(a, slot)->job].contenders)
    {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", cJSON_GetObjectItemCaseSensitive(c, "name")->valuestring);
        cJSON_AddStringToObject(entry, "unavailable", reason);
        cJSON_AddItemToArray(list, entry);
    }
    return finish_job(a, slot, list, err);
}

/* ---- workers ---- */

static int worker_ready(struct audit *a, struct slot *slot, const cJSON *env, struct error *err)
{
    char what[256], reason[RECORD_REASON_MAX];
    struct post *post = post_of(a, slot);
    const cJSON *recorder = cJSON_GetObjectItemCaseSensitive(env, "recorder");
    post->ready = true;
    post->start_failures = 0;
    if (!environment_same(a->request->ledger->env, env, what)) {
        snprintf(reason, sizeof reason, "what was timed ran in another environment: %.180s", what);
        return give_up(a, reason, err);
    }
    if (a->has_recorder || !recorder)
        return 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddItemToObject(line, "recorder", cJSON_Duplicate(recorder, true));
    cJSON_AddNumberToObject(line, "seconds", seconds_since(post->started_ns));
    a->has_recorder = true;
    return ledger_add_activity(a->request->ledger, line, err);
}

static bool any_left(const struct audit *a)
{
    for (int i = 0; i < a->request->n_slots; i++)
        if (a->request->slots[i].state != SLOT_RETIRED)
            return true;
    return false;
}

/* What it was to do is there for the others. */
static void retire(struct audit *a, struct slot *slot)
{
    struct post *post = post_of(a, slot);
    if (post->job >= 0)
        a->jobs.list[post->job].given = false;
    post->job = slot->cell = -1;
    slot->state = SLOT_RETIRED;
}

/* A worker that says why it cannot start will say the same again. */
static int lost_at_start(struct audit *a, struct slot *slot, const struct slot_event *event, struct error *err)
{
    struct post *post = post_of(a, slot);
    char reason[RECORD_REASON_MAX];
    if (++post->start_failures < START_TRIES && !event->code)
        return 0;
    snprintf(reason, sizeof reason, "%s%s%.200s", event->code ? "" : event->verdict, event->code ? "" : ": ",
             event->reason);
    retire(a, slot);
    if (!any_left(a))
        return give_up(a, reason, err);
    note(a, "%s: no worker starts here that could watch: %s", slot->device, reason);
    return 0;
}

/* False when nobody can be blamed: no contender was running, or one that is already out. */
static bool exclude(struct audit *a, struct slot *slot, const struct slot_event *event)
{
    struct cell_request *r = &slot->request;
    struct exclusion blamed = {0};
    const char *name = slot->now.contender;
    for (size_t i = 0; i < r->n_exclusions; i++)
        if (strcmp(r->exclusions[i].name, name) == 0)
            return false;
    if (!name[0] || strcmp(event->verdict, "infrastructure") == 0 || r->n_exclusions == CELL_MAX_EXCLUSIONS ||
        a->n_lost == CELL_MAX_EXCLUSIONS)
        return false;
    snprintf(blamed.name, sizeof blamed.name, "%s", name);
    snprintf(blamed.status, sizeof blamed.status, "%s", event->verdict);
    snprintf(blamed.stage, sizeof blamed.stage, "%s", slot->now.stage);
    snprintf(blamed.reason, sizeof blamed.reason, "%s", event->reason);
    r->exclusions[r->n_exclusions++] = blamed;
    a->lost[a->n_lost++] = blamed;
    return true;
}

static int lost_in_job(struct audit *a, struct slot *slot, const struct slot_event *event, struct error *err)
{
    struct post *post = post_of(a, slot);
    char reason[RECORD_REASON_MAX];
    note(a, "%s: worker lost while it watched %s, stage %s: %s: %s", slot->device,
         slot->now.contender[0] ? slot->now.contender : "nobody", slot->now.stage, event->verdict, event->reason);
    if (exclude(a, slot, event) || ++post->harness_deaths < HARNESS_DEATHS)
        return 0;
    snprintf(reason, sizeof reason, "worker lost %d times: %.200s", post->harness_deaths, event->reason);
    return fail_job(a, slot, reason, err);
}

static int worker_lost(struct audit *a, struct slot *slot, const struct slot_event *event, struct error *err)
{
    struct post *post = post_of(a, slot);
    if (!post->ready)
        return lost_at_start(a, slot, event, err);
    return post->job < 0 ? 0 : lost_in_job(a, slot, event, err);
}

static int handle(struct audit *a, struct slot *slot, struct slot_event *event, struct error *err)
{
    cJSON *seen = event->activity;
    switch (event->kind) {
    case SLOT_READY:
        return worker_ready(a, slot, event->env, err);
    case SLOT_ACTIVITY:
        event->activity = NULL;
        return finish_job(a, slot, seen, err);
    case SLOT_LOST:
        return worker_lost(a, slot, event, err);
    default:
        return 0;
    }
}

static int drain(struct audit *a, struct slot *slot, struct error *err)
{
    int code = 0;
    for (bool more = true; more && !code;) {
        struct slot_event event;
        slot_look(slot, &event);
        more = event.kind != SLOT_NOTHING && event.kind != SLOT_STAGE;
        code = handle(a, slot, &event, err);
        slot_event_free(&event);
    }
    return code;
}

/* ---- the loop ---- */

static int start_worker(struct audit *a, struct slot *slot, struct error *err)
{
    struct post *post = post_of(a, slot);
    struct start_request start = *a->request->start;
    start.worker = (int)(slot - a->request->slots);
    start.audit = true;
    start.precompile = false;
    post->ready = false;
    post->started_ns = clock_now_ns();
    return slot_start(slot, a->request->program, &start, err);
}

static void take_job(struct audit *a, struct slot *slot)
{
    struct post *post = post_of(a, slot);
    for (size_t i = 0; i < a->jobs.n && post->job < 0; i++) {
        struct audit_job *job = &a->jobs.list[i];
        const struct plan_cell *cell = &a->request->ledger->plan.cells[job->cell];
        if (job->given)
            continue;
        job->given = true;
        post->job = (long)i;
        post->harness_deaths = 0;
        slot->cell = (long)job->cell;
        slot->request = (struct cell_request){
            .problem = cell->problem, .mode = cell->mode, .seed = cell->seed, .audit = job->contenders};
        memcpy(slot->request.exclusions, a->lost, a->n_lost * sizeof a->lost[0]);
        slot->request.n_exclusions = a->n_lost;
    }
}

/* Gives the slot its next thing to do; *active is false when there is nothing left for it. */
static int advance(struct audit *a, struct slot *slot, bool *active, struct error *err)
{
    struct post *post = post_of(a, slot);
    bool stopping = stop_of(a) != 0 || a->over;
    uint64_t pause = post->start_failures > 0 ? START_PAUSE_NS : 0;
    *active = true;
    if (post->job < 0 && !stopping && (slot->state == SLOT_IDLE || slot->state == SLOT_EMPTY))
        take_job(a, slot);
    bool work = post->job >= 0 && !stopping;
    if (slot->state == SLOT_IDLE && work)
        slot_send_cell(slot);
    else if (slot->state == SLOT_IDLE)
        slot_send_quit(slot);
    else if (slot->state == SLOT_STARTING && stopping)
        slot_kill(slot);
    else if (slot->state == SLOT_EMPTY && work && clock_now_ns() >= post->started_ns + pause)
        return start_worker(a, slot, err);
    else
        *active = slot->state != SLOT_RETIRED && (slot->state != SLOT_EMPTY || work);
    return 0;
}

static int loop(struct audit *a, struct error *err)
{
    const struct audit_request *r = a->request;
    int code = 0;
    for (bool any = true; any && !code && stop_of(a) >= 0;) {
        any = false;
        for (int i = 0; i < r->n_slots && !code; i++) {
            bool active = false;
            code = advance(a, &r->slots[i], &active, err);
            any |= active;
        }
        if (any && !code)
            slots_wait(r->slots, r->n_slots, POLL_MS);
        for (int i = 0; i < r->n_slots && !code; i++)
            code = drain(a, &r->slots[i], err);
        code = code ? code : ledger_check(r->ledger, err);
    }
    return code;
}

/* Jobs that nobody has got to. */
static size_t left_over(const struct audit *a)
{
    size_t left = 0;
    for (size_t i = 0; i < a->jobs.n; i++)
        left += !a->jobs.list[i].given;
    for (int i = 0; i < a->request->n_slots; i++)
        left += a->posts[i].job >= 0;
    return left;
}

static int outcome(struct audit *a, struct error *err)
{
    size_t left = left_over(a);
    if (left == 0 || a->over)
        return 0;
    if (stop_of(a) != 0)
        return error_set(err, abs(stop_of(a)) == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_TEMPORARY,
                         "stopped with every cell timed and %zu to be watched%s", left, a->request->advice);
    return give_up(a, "no worker is left that could watch", err);
}

int audit_run(const struct audit_request *request, struct error *err)
{
    struct audit *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    a->request = request;
    a->posts = calloc((size_t)request->n_slots, sizeof *a->posts);
    int code = a->posts ? audit_jobs_make(request->ledger, request->config->activity, &a->jobs, err)
                        : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    for (int i = 0; a->posts && i < request->n_slots; i++) {
        a->posts[i].job = -1;
        request->slots[i].cell = -1;
    }
    if (!code && a->jobs.n > 0) {
        note(a, "everything is timed; watching launches in %zu cell%s", a->jobs.n, a->jobs.n == 1 ? "" : "s");
        code = loop(a, err);
    }
    if (!code)
        code = outcome(a, err);
    audit_jobs_free(&a->jobs);
    free(a->posts);
    free(a);
    return code;
}
