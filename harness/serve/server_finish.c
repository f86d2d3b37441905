/*
 * server_finish.c - the end of a job: its neighbours, its verdict counted, its outcome on disk, its client told. A
 * thread of its own does it for what was measured, so that the device begins the next job meanwhile. Relies on store.h.
 * Called by server_work.c and server_jobs.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/tree.h"
#include "serve/server_state.h"
#include "serve/verdict.h"

/* For the next attempt; what nothing was learnt of gets none. The lock is held. */
static void put_neighbours(struct server *s, const struct job *job, cJSON *outcome)
{
    const struct measured_job is = {job->client, job->id, job->submission};
    if (!cJSON_IsObject(tree_member(outcome, "reward")))
        return;
    cJSON *near = measured_near(&s->measured, &is);
    if (near && !cJSON_AddItemToObject(outcome, "neighbours", near))
        cJSON_Delete(near);
    measured_add(&s->measured, &is, outcome);
}

/* All that the outcome says. The lock is held. */
static void complete(struct server *s, const struct job *job, cJSON *outcome)
{
    double seconds = (double)(clock_now_ns() - job->received_ns) * 1e-9;
    repeats_widen(&s->repeats, outcome);
    put_neighbours(s, job, outcome);
    cJSON_AddStringToObject(outcome, "id", job->id);
    cJSON_AddStringToObject(outcome, "state", "done");
    cJSON_AddNumberToObject(outcome, "total_seconds", round_to(seconds, 1e3));
    enum verdict verdict = verdict_of_outcome(outcome);
    s->counts.outcomes[verdict]++;
    server_say(s, "%s of %s: %s", job->id, job->client, verdict_name(verdict));
}

/* What the disk does not take comes back as text, the caller's. The job's run goes before its outcome, so that no job
 * is done whose journal is not there. */
static char *keep(const struct server *s, const struct job *job, const cJSON *outcome)
{
    struct error err;
    store_sync(&s->store, job->id, STORE_JOURNAL);
    if (store_put(&s->store, job->id, STORE_OUTCOME, outcome, &err)) {
        server_say(s, "%s: its outcome is in memory only: %s", job->id, err.text);
        return json_print(outcome, false);
    }
    store_remove(&s->store, job->id, STORE_ATTEMPTS);
    return NULL;
}

/* The lock is held. */
static void tell(struct server *s, struct job *job, char *in_memory)
{
    if (in_memory)
        job->outcome = in_memory;
    jobs_done(&s->jobs, job);
    pthread_cond_broadcast(&s->news);
}

void server_finish(struct server *s, struct job *job, cJSON *outcome)
{
    complete(s, job, outcome);
    tell(s, job, keep(s, job, outcome));
    cJSON_Delete(outcome);
}

/* ---- what was measured ---- */

void server_found(struct server *s, struct job *job, cJSON *outcome)
{
    job->found = outcome;
    job->next_found = NULL;
    *(s->last_found ? &s->last_found->next_found : &s->first_found) = job;
    s->last_found = job;
    pthread_cond_signal(&s->found);
}

static struct job *next_found(struct server *s)
{
    while (!s->first_found && !(s->draining && s->n_finders == 0))
        pthread_cond_wait(&s->found, &s->lock);
    struct job *job = s->first_found;
    if (job)
        s->first_found = job->next_found;
    if (!s->first_found)
        s->last_found = NULL;
    return job;
}

/* The job is being measured until it is told: until then nobody else touches it. */
void *server_keep_found(void *context)
{
    struct server *s = context;
    pthread_mutex_lock(&s->lock);
    for (struct job *job; (job = next_found(s)) != NULL;) {
        cJSON *outcome = job->found;
        complete(s, job, outcome);
        pthread_mutex_unlock(&s->lock);
        char *in_memory = keep(s, job, outcome);
        pthread_mutex_lock(&s->lock);
        job->found = NULL;
        tell(s, job, in_memory);
        cJSON_Delete(outcome);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
