/*
 * server.c - opens and ends the server: store, devices, jobs that were left, threads. Relies on server_state.h. Called
 * by cli/cmd_serve.c and tests.
 */
#include "serve/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/tree.h"
#include "serve/server_state.h"

/* ---- what was there before ---- */

/* Names may have gone since: the run says so, not the reader. */
static int read_again(struct json_at at, struct submission **out, struct error *err)
{
    const struct submission_rules any = {0};
    struct json_at priority = json_member(at, "priority");
    int64_t number = 0;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a submission");
    if (submission_read(json_member(at, "submission"), &any, *out, err)) {
        free(*out);
        *out = NULL;
        return err->code;
    }
    if (json_read_int(priority, 0, SUBMISSION_PRIORITIES, &number, err) == 0)
        (*out)->priority = (int)number;
    return 0;
}

struct restore {
    struct server *server;
    size_t damaged;
};

/* Of a job that is done: what its client's later ones are told of it. */
static void remember(struct server *s, const char *id, struct json_at at)
{
    struct submission *submission = NULL;
    cJSON *outcome = NULL;
    char *text = NULL;
    struct error ignored;
    if (read_again(at, &submission, &ignored))
        return;
    const struct measured_job is = {tree_text(at.node, "client"), id, submission};
    if (store_get(&s->store, id, STORE_OUTCOME, &text, &ignored) == 0 &&
        json_parse(text, strlen(text), STORE_FILE_BYTES, "outcome", &outcome, &ignored) == 0)
        measured_add(&s->measured, &is, outcome);
    cJSON_Delete(outcome);
    free(text);
    submission_free(submission);
    free(submission);
}

static int restore_job(void *context, const char *id, struct json_at at, bool done, struct error *err)
{
    struct restore *restore = context;
    struct server *s = restore->server;
    struct submission *submission = NULL;
    struct error ignored;
    uint64_t sequence = 0;
    if (!done && read_again(at, &submission, &ignored)) {
        restore->damaged++;
        return 0;
    }
    if (done)
        remember(s, id, at);
    struct job *job = jobs_add(&s->jobs, id, submission);
    if (!job)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the jobs");
    snprintf(job->client, sizeof job->client, "%s", tree_text(at.node, "client"));
    if (json_read_u64(json_member(at, "sequence"), &sequence, &ignored) == 0)
        job->sequence = sequence;
    job->received_ns = clock_now_ns();
    job->alone = true; /* it may have taken the server before with it */
    return 0;
}

static int restore(struct server *s, struct error *err)
{
    struct restore context = {.server = s};
    size_t damaged;
    if (store_scan(&s->store, restore_job, &context, &damaged, err))
        return err->code;
    if (damaged + context.damaged > 0)
        server_say(s, "%zu submissions on disk cannot be read and are passed over", damaged + context.damaged);
    if (s->jobs.n_open + s->jobs.n_done > 0)
        server_say(s, "%zu jobs wait, %zu are done", s->jobs.n_open, s->jobs.n_done);
    return 0;
}

/* ---- beginning and end ---- */

/* Others look for this server's jobs where it looks for theirs. */
static int check_peers(const struct server *s, struct error *err)
{
    const char *own = s->store.directory, *leaf = strrchr(own, '/');
    char *all = s->options.peers ? realpath(s->options.peers, NULL) : NULL;
    bool beside = all && leaf && strlen(all) == (size_t)(leaf - own) && strncmp(all, own, strlen(all)) == 0;
    free(all);
    return !s->options.peers || beside
               ? 0
               : error_set(err, EXIT_CODE_USAGE, "serve: --peers %.200s: --output must be a directory in it",
                           s->options.peers);
}

static int open_all(struct server *s, struct error *err)
{
    int code = store_open(s->options.directory, &s->store, err);
    if (!code)
        code = check_peers(s, err);
    if (!code)
        code = restore(s, err);
    return code ? code : server_work_start(s, err);
}

int server_open(const struct server_options *options, struct server **out, struct error *err)
{
    struct server *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the server");
    s->options = *options;
    s->store.lock_fd = -1;
    s->started_ns = clock_now_ns();
    pthread_mutex_init(&s->submitting, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->news, NULL);
    pthread_cond_init(&s->found, NULL);
    if (open_all(s, err)) {
        server_drain(s, true);
        server_close(s);
        return err->code;
    }
    *out = s;
    return 0;
}

void server_drain(struct server *s, bool at_once)
{
    pthread_mutex_lock(&s->lock);
    s->draining = true;
    if (at_once)
        s->stop = -SIGTERM;
    pthread_cond_broadcast(&s->work);
    pthread_cond_broadcast(&s->news);
    pthread_cond_broadcast(&s->found);
    pthread_mutex_unlock(&s->lock);
}

int server_wait_begin(struct server *s, const char *client, struct error *err)
{
    pthread_mutex_lock(&s->lock);
    bool taken = waits_begin(&s->waits, client);
    pthread_mutex_unlock(&s->lock);
    if (taken)
        return 200;
    error_set(err, EXIT_CODE_TEMPORARY,
              "too many requests wait already (%u of a client, %u of all); ask again later, or without wait",
              WAITS_OF_ONE, WAITS_OF_ALL);
    return 429;
}

void server_wait_end(struct server *s, const char *client)
{
    pthread_mutex_lock(&s->lock);
    waits_end(&s->waits, client);
    pthread_mutex_unlock(&s->lock);
}

bool server_is_idle(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    size_t busy = jobs_count(&s->jobs, NULL, JOB_COMPILING) + jobs_count(&s->jobs, NULL, JOB_MEASURING);
    pthread_mutex_unlock(&s->lock);
    return busy == 0;
}

void server_close(struct server *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    jobs_free(&s->jobs);
    measured_free(&s->measured);
    watched_free(&s->watched);
    store_close(&s->store);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->news);
    pthread_cond_destroy(&s->found);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->submitting);
    free(s);
}

struct submission_rules server_rules(const struct server *s)
{
    return (struct submission_rules){s->options.candidates, s->options.baselines, s->options.baseline};
}
