/*
 * server_jobs.c - what a client does with the server: submits, looks, takes back. A submission is on disk before its
 * client hears of it. Relies on server_state.h. Called by api.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tree.h"
#include "serve/outcome.h"
#include "serve/server_state.h"

#define GONE_SECONDS 2 /* a client that waits and has left is noticed this late */

/* ---- identity ---- */

static void task_digest(struct digest *d, const struct server_client *client)
{
    digest_start(d);
    digest_add_string(d, client->name);
    digest_add_string(d, client->task ? client->task : "");
}

void server_task_id(const struct server_client *client, char id[DIGEST_HEX])
{
    struct digest d;
    task_digest(&d, client);
    digest_finish(&d, id);
}

static uint64_t sequence_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A submission on its way to the table. */
struct arrival {
    const struct server_client *client;
    struct submission *submission; /* owned until it is a job's */
    cJSON *form;                   /* owned; of submission_to_json */
    char *text;                    /* owned; the form's */
    uint64_t sequence;
    char id[DIGEST_HEX];
};

static bool arrival_open(struct arrival *a, const struct server_client *client, struct submission *submission)
{
    struct digest d;
    *a = (struct arrival){.client = client, .submission = submission, .sequence = sequence_now()};
    a->form = submission_to_json(submission);
    a->text = a->form ? json_print(a->form, false) : NULL;
    if (!a->text)
        return false;
    task_digest(&d, client);
    if (!client->task)
        digest_add_string(&d, a->text);
    if (!client->task && submission->again)
        digest_add(&d, &a->sequence, sizeof a->sequence);
    digest_finish(&d, a->id);
    return true;
}

static void arrival_close(struct arrival *a)
{
    if (a->submission)
        submission_free(a->submission);
    free(a->submission);
    cJSON_Delete(a->form);
    free(a->text);
}

/* ---- what is known of it ---- */

/* The digest is no proof: what is on disk must be the same. */
static bool is_same(const struct server *s, const struct arrival *a)
{
    char *text = NULL;
    cJSON *tree = NULL;
    struct error ignored;
    bool same = false;
    if (store_get(&s->store, a->id, STORE_SUBMISSION, &text, &ignored) == 0 &&
        json_parse(text, strlen(text), STORE_FILE_BYTES, "job", &tree, &ignored) == 0) {
        char *before = json_print(json_member(json_root(tree, ""), "submission").node, false);
        same = before && strcmp(before, a->text) == 0;
        free(before);
    }
    cJSON_Delete(tree);
    free(text);
    return same;
}

static char *outcome_of(const struct server *s, const struct job *job)
{
    char *text = NULL;
    struct error ignored;
    if (job->state != JOB_DONE)
        return NULL;
    if (job->outcome)
        return strdup(job->outcome);
    return store_get(&s->store, job->id, STORE_OUTCOME, &text, &ignored) == 0 ? text : NULL;
}

bool server_is_void(const char *outcome)
{
    cJSON *tree = NULL;
    struct error ignored;
    bool parsed = outcome && json_parse(outcome, strlen(outcome), STORE_FILE_BYTES, "outcome", &tree, &ignored) == 0;
    bool empty = !parsed || cJSON_IsNull(tree_member(tree, "reward"));
    cJSON_Delete(tree);
    return empty;
}

static bool is_void(const struct server *s, const struct job *job)
{
    char *text = outcome_of(s, job);
    bool empty = server_is_void(text);
    free(text);
    return job->state == JOB_DONE && empty;
}

static int view(const struct server *s, const struct job *job, struct server_view *out, struct error *err)
{
    *out = (struct server_view){.state = job_state_names[job->state], .ahead = jobs_ahead(&s->jobs, job)};
    snprintf(out->id, sizeof out->id, "%s", job->id);
    out->outcome = outcome_of(s, job);
    if (job->state != JOB_DONE || out->outcome)
        return 200;
    error_set(err, EXIT_CODE_IO, "the outcome of %s cannot be read; submit it with \"again\": true", job->id);
    return 500;
}

void server_view_free(struct server_view *v)
{
    free(v->outcome);
    v->outcome = NULL;
}

/* ---- submitting ---- */

/* Whether there is room; the lock is held. */
static int check_room(const struct server *s, const struct arrival *a, struct error *err)
{
    size_t all = jobs_count(&s->jobs, NULL, JOB_STATES), own = jobs_count(&s->jobs, a->client->name, JOB_STATES);
    if (s->draining) {
        error_set(err, EXIT_CODE_TEMPORARY, "the server is ending; submit again when it is back");
        return 503;
    }
    if (all >= s->options.queue)
        error_set(err, EXIT_CODE_TEMPORARY, "the queue is full (%zu jobs); submit again later", all);
    else if (own >= s->options.quota)
        error_set(err, EXIT_CODE_TEMPORARY, "%zu of your jobs are open, which is your quota; wait for some", own);
    else
        return 0;
    return 429;
}

static int save(const struct server *s, const struct arrival *a, struct error *err)
{
    struct tree t = tree_begin();
    char now[21];
    clock_utc(now);
    tree_put_text(&t, "id", a->id);
    tree_put_text(&t, "client", a->client->name);
    tree_put_text(&t, "received", now);
    if (t.object)
        json_put_u64(t.object, "sequence", a->sequence);
    tree_put_number(&t, "priority", a->submission->priority);
    tree_put_copy(&t, "submission", a->form);
    cJSON *tree = tree_finish(&t);
    int code = tree ? store_put(&s->store, a->id, STORE_SUBMISSION, tree, err)
                    : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a job");
    cJSON_Delete(tree);
    return code == 0 ? 0 : code == EXIT_CODE_INTERNAL ? 500 : 507;
}

/* Puts it into the table; the lock is held. */
static int enter(struct server *s, struct arrival *a, struct job *before, struct server_view *out, struct error *err)
{
    struct job *job = before;
    struct submission *submission = a->submission;
    a->submission = NULL;
    if (before && jobs_reopen(&s->jobs, before, submission))
        job = NULL;
    if (!before)
        job = jobs_add(&s->jobs, a->id, submission);
    if (!job) {
        error_set(err, EXIT_CODE_INTERNAL, "out of memory for a job");
        return 500;
    }
    snprintf(job->client, sizeof job->client, "%s", a->client->name);
    job->sequence = a->sequence;
    job->received_ns = clock_now_ns();
    s->counts.submitted++;
    pthread_cond_broadcast(&s->work);
    int status = view(s, job, out, err);
    return status == 200 ? 202 : status;
}

/* The same was submitted before. A task that is used for something else, and is done, makes room if `again` is said. */
static int meet(struct server *s, const struct arrival *a, struct job *before, struct server_view *out,
                struct error *err)
{
    if (!is_same(s, a)) {
        error_set(err, EXIT_CODE_DATA, "this id belongs to another submission%s",
                  a->client->task ? "; choose another task_id, or force_refresh once it is done" : "");
        return 409;
    }
    s->counts.repeated++;
    return view(s, before, out, err);
}

/* With `submitting` held: nobody else adds or opens a job. */
static int submit(struct server *s, struct arrival *a, struct server_view *out, struct error *err)
{
    pthread_mutex_lock(&s->lock);
    struct job *before = jobs_find(&s->jobs, a->id);
    bool again = before && before->state == JOB_DONE && (a->submission->again || is_void(s, before));
    int status = before && !again ? meet(s, a, before, out, err) : check_room(s, a, err);
    pthread_mutex_unlock(&s->lock);
    if (status)
        return status;
    if (again) /* or a restart would take the old outcome for the new one's */
        store_remove(&s->store, a->id, STORE_OUTCOME);
    status = save(s, a, err);
    if (status)
        return status;
    pthread_mutex_lock(&s->lock);
    status = enter(s, a, before, out, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Another server has it: it is not measured twice. */
static bool is_elsewhere(struct server *s, const struct arrival *a, struct server_view *out)
{
    pthread_mutex_lock(&s->lock);
    bool here = jobs_find(&s->jobs, a->id) != NULL;
    pthread_mutex_unlock(&s->lock);
    if (here || a->submission->again || !server_peer_has(s, a->client->name, a->id, a->text, out))
        return false;
    pthread_mutex_lock(&s->lock);
    s->counts.repeated++;
    pthread_mutex_unlock(&s->lock);
    return true;
}

int server_submit(struct server *s, const struct server_client *client, struct submission *submission,
                  struct server_view *out, struct error *err)
{
    struct arrival a;
    int status = 500;
    *out = (struct server_view){.state = ""};
    if (arrival_open(&a, client, submission)) {
        pthread_mutex_lock(&s->submitting);
        status = is_elsewhere(s, &a, out) ? 200 : submit(s, &a, out, err);
        pthread_mutex_unlock(&s->submitting);
    } else {
        error_set(err, EXIT_CODE_INTERNAL, "out of memory for a submission");
    }
    arrival_close(&a);
    return status;
}

/* ---- looking ---- */

static struct job *find_own(const struct server *s, const char *client, const char *id)
{
    struct job *job = jobs_find(&s->jobs, id);
    return job && strcmp(job->client, client) == 0 ? job : NULL;
}

int server_not_there(struct error *err)
{
    error_set(err, EXIT_CODE_DATA, "there is no such job of yours");
    return 404;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Jobs stay in the table until the end. Each who waits has a thread of the transport's: one whose client has left gives
 * it up. The lock is held. */
static void wait_for(struct server *s, const struct job *job, const struct server_wait *wait)
{
    struct timespec until, look, now;
    bool over = !(wait->seconds > 0);
    clock_gettime(CLOCK_REALTIME, &now);
    until = look = now;
    until.tv_sec += (time_t)wait->seconds;
    look.tv_sec += GONE_SECONDS;
    while (!over && job->state != JOB_DONE && !s->draining &&
           (!wait->unlike || strcmp(job_state_names[job->state], wait->unlike) == 0)) {
        pthread_cond_timedwait(&s->news, &s->lock, is_before(&look, &until) ? &look : &until);
        clock_gettime(CLOCK_REALTIME, &now);
        over = !is_before(&now, &until);
        if (over || is_before(&now, &look))
            continue;
        over = wait->gone && wait->gone(wait->context);
        look.tv_sec = now.tv_sec + GONE_SECONDS;
    }
}

int server_watch(struct server *s, const char *client, const char *id, const struct server_wait *wait,
                 struct server_view *out, struct error *err)
{
    *out = (struct server_view){.state = ""};
    pthread_mutex_lock(&s->lock);
    struct job *job = find_own(s, client, id);
    if (!job && s->options.peers) {
        pthread_mutex_unlock(&s->lock);
        return server_peer_watch(s, client, id, wait, out, err);
    }
    if (job)
        wait_for(s, job, wait);
    bool known = job && wait->unlike && strcmp(job_state_names[job->state], wait->unlike) == 0;
    bool ends = s->draining && known && job->state != JOB_DONE;
    int status = job ? view(s, job, out, err) : server_not_there(err);
    pthread_mutex_unlock(&s->lock);
    return status == 200 && ends ? 503 : status;
}

int server_look(struct server *s, const char *client, const char *id, double seconds, struct server_view *out,
                struct error *err)
{
    const struct server_wait wait = {.seconds = seconds};
    return server_watch(s, client, id, &wait, out, err);
}

/* No job of this server's, but perhaps of another one's: the lock is not held. */
static int cannot_cancel(struct server *s, const char *client, const char *id, struct error *err)
{
    const struct server_wait at_once = {.seconds = 0};
    struct server_view elsewhere = {.state = ""};
    int status = s->options.peers ? server_peer_watch(s, client, id, &at_once, &elsewhere, err) : server_not_there(err);
    server_view_free(&elsewhere);
    if (status != 200)
        return status;
    error_set(err, EXIT_CODE_DATA, "another server has it: it cannot be taken back here");
    return 409;
}

int server_cancel(struct server *s, const char *client, const char *id, struct error *err)
{
    int status = 200;
    pthread_mutex_lock(&s->lock);
    struct job *job = find_own(s, client, id);
    if (!job) {
        status = 404;
    } else if (job->state != JOB_QUEUED && job->state != JOB_READY) {
        error_set(err, EXIT_CODE_DATA, "it is %s: only what waits can be taken back", job_state_names[job->state]);
        status = 409;
    } else {
        const struct outcome_input in = {.submission = job->submission};
        const struct outcome_failure failure = {VERDICT_CANCELLED, "serve", ""};
        cJSON *outcome = outcome_of_failure(&in, &failure);
        if (outcome)
            server_finish(s, job, outcome);
    }
    pthread_mutex_unlock(&s->lock);
    return job ? status : cannot_cancel(s, client, id, err);
}
