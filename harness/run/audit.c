/*
 * audit.c - the task of auditing a run: jobs from audit_jobs.c, losses borne without harm, lines for the journal.
 * Relies on crew.c for fresh workers and on ledger.c. Called by supervisor.c; crew.c begins it on each GPU that has no
 * more cells to time.
 */
#include "run/audit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "run/audit_jobs.h"
#include "run/measuring.h"
#include "worker/environment.h"

#define START_TRIES 2
#define TUNED "tuned" /* of an environment's libraries (environment_add_tuned) */

struct audit {
    const struct audit_request *request;
    struct crew_task task;
    struct audit_jobs jobs;
    struct exclusion lost[CELL_MAX_EXCLUSIONS]; /* contenders that took a worker with them are not watched any more */
    size_t n_lost;
    bool has_recorder; /* it is in the journal */
    bool over;         /* nobody can watch */
};

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
    char text[RECORD_REASON_MAX];
    if (a->over)
        return 0;
    snprintf(text, sizeof text, "%.255s", reason[0] ? reason : "no reason given");
    error_one_line(text);
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "unavailable", text);
    a->over = true;
    crew_end(a->request->crew);
    crew_note(a->request->crew, "nothing is watched: %s", text);
    return ledger_add_activity(a->request->ledger, line, err);
}

/* Takes `contenders` over. */
static int finish_job(struct audit *a, const struct slot *slot, cJSON *contenders, struct error *err)
{
    struct audit_job *job = &a->jobs.list[slot->work];
    const struct plan_cell *cell = &a->request->ledger->plan.cells[job->cell];
    char key[RECORD_KEY_MAX];
    cJSON *line = cJSON_CreateObject();
    record_key(&cell->problem, cell->mode, key);
    cJSON_AddStringToObject(line, "cell", key);
    cJSON_AddItemToObject(line, "contenders", contenders);
    cJSON_AddNumberToObject(line, "seconds", seconds_since(slot->sent_ns));
    job->done = true;
    return ledger_add_activity(a->request->ledger, line, err);
}

static int on_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    cJSON *seen = event->activity;
    event->activity = NULL;
    return finish_job(context, slot, seen, err);
}

/* A cell that the harness itself cannot get through: nobody in it is seen. */
static int on_fail(void *context, struct slot *slot, const char *reason, struct error *err)
{
    const struct audit *a = context;
    const cJSON *c;
    cJSON *list = cJSON_CreateArray();
    cJSON_ArrayForEach(c, a->jobs.list[slot->work].contenders)
    {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", cJSON_GetObjectItemCaseSensitive(c, "name")->valuestring);
        cJSON_AddStringToObject(entry, "unavailable", reason);
        cJSON_AddItemToArray(list, entry);
    }
    return finish_job(context, slot, list, err);
}

/* ---- jobs ---- */

static enum crew_offer on_take(void *context, struct slot *slot)
{
    struct audit *a = context;
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct audit_job *job = &a->jobs.list[i];
        const struct plan_cell *cell = &a->request->ledger->plan.cells[job->cell];
        if (job->given)
            continue;
        job->given = true;
        slot->work = (long)i;
        slot->request = (struct cell_request){
            .problem = cell->problem, .mode = cell->mode, .seed = cell->seed, .audit = job->contenders};
        memcpy(slot->request.exclusions, a->lost, a->n_lost * sizeof a->lost[0]);
        slot->request.n_exclusions = a->n_lost;
        return CREW_WORK;
    }
    return CREW_NONE;
}

static void on_give_back(void *context, const struct slot *slot)
{
    struct audit *a = context;
    a->jobs.list[slot->work].given = false;
}

/* False for one that is already out. */
static bool on_blame(void *context, struct slot *slot, const struct exclusion *blamed)
{
    struct audit *a = context;
    struct cell_request *r = &slot->request;
    for (size_t i = 0; i < r->n_exclusions; i++)
        if (strcmp(r->exclusions[i].name, blamed->name) == 0)
            return false;
    if (r->n_exclusions == CELL_MAX_EXCLUSIONS || a->n_lost == CELL_MAX_EXCLUSIONS)
        return false;
    r->exclusions[r->n_exclusions++] = *blamed;
    a->lost[a->n_lost++] = *blamed;
    return true;
}

/* ---- workers ---- */

static void on_tell(void *context, struct start_request *out)
{
    const struct audit *a = context;
    measuring_tell(a->request->measuring, out);
    out->audit = true;
    out->precompile = false;
}

/* Who watches has read no tuning tables, for he is told the variants: they are those of whoever has timed. */
static int check_same(const cJSON *then, const cJSON *env, struct error *err)
{
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(then, "libraries");
    const cJSON *tuned = cJSON_GetObjectItemCaseSensitive(libraries, TUNED);
    cJSON *now = cJSON_Duplicate(env, true), *own = cJSON_GetObjectItemCaseSensitive(now, "libraries");
    if (tuned && cJSON_IsObject(own) && !cJSON_GetObjectItemCaseSensitive(own, TUNED))
        cJSON_AddItemToObject(own, TUNED, cJSON_Duplicate(tuned, true));
    int code = environment_check_same(then, now, err);
    cJSON_Delete(now);
    return code;
}

static int on_ready(void *context, struct slot *slot, const cJSON *env, struct error *err)
{
    struct audit *a = context;
    struct error difference;
    char reason[RECORD_REASON_MAX];
    const cJSON *recorder = cJSON_GetObjectItemCaseSensitive(env, "recorder");
    if (check_same(a->request->ledger->env, env, &difference)) {
        snprintf(reason, sizeof reason, "what was timed ran in another environment: %.180s", difference.text);
        return give_up(a, reason, err);
    }
    if (a->has_recorder || !recorder)
        return 0;
    cJSON *line = cJSON_CreateObject();
    cJSON_AddItemToObject(line, "recorder", cJSON_Duplicate(recorder, true));
    cJSON_AddNumberToObject(line, "seconds", seconds_since(slot->started_ns));
    a->has_recorder = true;
    return ledger_add_activity(a->request->ledger, line, err);
}

static void on_lost(void *context, const struct slot *slot, const struct slot_event *event)
{
    const struct audit *a = context;
    if (slot->work >= 0)
        crew_note(a->request->crew, "%s: worker lost while it watched %s, stage %s: %s: %s", slot->device,
                  slot->now.contender[0] ? slot->now.contender : "nobody", slot->now.stage,
                  verdict_name(event->verdict), event->reason);
}

static int on_retired(void *context, struct slot *slot, const struct slot_event *event, struct error *err)
{
    struct audit *a = context;
    char reason[RECORD_REASON_MAX];
    snprintf(reason, sizeof reason, "%s%s%.200s", event->code ? "" : verdict_name(event->verdict),
             event->code ? "" : ": ", event->reason);
    if (!crew_is_alive(a->request->crew))
        return give_up(a, reason, err);
    crew_note(a->request->crew, "%s: no worker starts here that could watch: %s", slot->device, reason);
    return 0;
}

/* ---- the whole ---- */

static struct crew_task make_task(struct audit *a)
{
    return (struct crew_task){.context = a,
                              .tell = on_tell,
                              .take = on_take,
                              .give_back = on_give_back,
                              .ready = on_ready,
                              .done = on_done,
                              .lost = on_lost,
                              .blame = on_blame,
                              .fail = on_fail,
                              .retired = on_retired,
                              .turn = ledger_turn,
                              .turn_context = a->request->ledger,
                              .start_tries = START_TRIES,
                              .warm = a->request->warm};
}

static int work(struct audit *a, struct error *err)
{
    struct crew *crew = a->request->crew;
    if (a->jobs.n == 0)
        return 0;
    crew_note(crew, "everything is timed; watching launches in %zu cell%s", a->jobs.n, a->jobs.n == 1 ? "" : "s");
    return crew_run(crew, &a->task, err);
}

/* Jobs that nobody has got to the end of. */
static size_t left_over(const struct audit *a)
{
    size_t left = 0;
    for (size_t i = 0; i < a->jobs.n; i++)
        left += !a->jobs.list[i].done;
    return left;
}

static int outcome(struct audit *a, struct error *err)
{
    size_t left = left_over(a);
    int signal_number = crew_stop_signal(a->request->crew);
    if (left == 0 || a->over)
        return 0;
    if (signal_number != 0)
        return error_set(err, abs(signal_number) == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_TEMPORARY,
                         "stopped: every cell is timed, %zu rows of launches are not watched yet%s", left,
                         a->request->advice);
    return give_up(a, "no worker is left that could watch", err);
}

struct audit *audit_new(const struct audit_request *request)
{
    struct audit *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->request = request;
    a->task = make_task(a);
    return a;
}

void audit_free(struct audit *a)
{
    if (a)
        audit_jobs_free(&a->jobs);
    free(a);
}

const struct crew_task *audit_task(const struct audit *a)
{
    return &a->task;
}

/* The jobs are made while workers that were started ahead come up. */
int audit_run(struct audit *a, struct error *err)
{
    const struct audit_request *request = a->request;
    int code = audit_jobs_make(request->ledger, request->config->activity, &a->jobs, err);
    if (!code && request->crew->n > 1)
        audit_jobs_sort(&a->jobs);
    if (!code)
        code = work(a, err);
    return code ? code : outcome(a, err);
}
