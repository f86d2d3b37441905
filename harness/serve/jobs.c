/*
 * jobs.c - a table of jobs by id and a list of the open ones, from which the next is picked by priority and age. Called
 * by server*.c under the server's lock.
 */
#include "serve/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *const job_state_names[] = {"queued", "compiling", "queued", "measuring", "done", NULL};

static size_t bucket_of(const char *id)
{
    return strtoul((char[]){id[0], id[1], id[2], '\0'}, NULL, 16) % JOBS_BUCKETS;
}

static void drop_work(struct job *job)
{
    if (job->submission)
        submission_free(job->submission);
    free(job->submission);
    cJSON_Delete(job->code);
    job->submission = NULL;
    job->code = NULL;
}

void jobs_free(struct jobs *j)
{
    for (size_t i = 0; i < JOBS_BUCKETS; i++)
        for (struct job *job = j->buckets[i], *next; job; job = next) {
            next = job->next;
            drop_work(job);
            free(job->outcome);
            cJSON_Delete(job->found);
            free(job);
        }
    free(j->open);
    memset(j, 0, sizeof *j);
}

struct job *jobs_find(const struct jobs *j, const char *id)
{
    if (strlen(id) != DIGEST_HEX - 1)
        return NULL;
    struct job *job = j->buckets[bucket_of(id)];
    while (job && strcmp(job->id, id) != 0)
        job = job->next;
    return job;
}

static bool open_one(struct jobs *j, struct job *job)
{
    struct job **grown = grow_for_one(j->open, j->n_open, &j->capacity, sizeof *grown);
    if (!grown)
        return false;
    j->open = grown;
    j->open[j->n_open++] = job;
    return true;
}

static enum job_state first_state(const struct submission *submission)
{
    if (!submission)
        return JOB_DONE;
    return submission->kind == CANDIDATE_NAMED ? JOB_READY : JOB_QUEUED;
}

struct job *jobs_add(struct jobs *j, const char *id, struct submission *submission)
{
    struct job *job = calloc(1, sizeof *job);
    if (job)
        job->submission = submission;
    if (!job || (submission && !open_one(j, job))) {
        if (submission)
            submission_free(submission);
        free(submission);
        free(job);
        return NULL;
    }
    snprintf(job->id, sizeof job->id, "%s", id);
    job->state = first_state(submission);
    j->n_done += !submission;
    job->next = j->buckets[bucket_of(id)];
    j->buckets[bucket_of(id)] = job;
    return job;
}

int jobs_reopen(struct jobs *j, struct job *job, struct submission *submission)
{
    free(job->outcome);
    job->outcome = NULL;
    job->submission = submission;
    if (!open_one(j, job)) {
        drop_work(job);
        return -1;
    }
    job->state = first_state(submission);
    job->not_before_ns = 0;
    job->failed_on = 0;
    job->alone = false;
    job->compile_seconds = 0;
    j->n_done--;
    return 0;
}

bool jobs_is_ahead(const struct job *a, const struct job *b)
{
    int left = a->submission->priority, right = b->submission->priority;
    return left != right ? left > right : a->sequence < b->sequence;
}

static bool may_have(int device, const struct job *job)
{
    return device < 0 || !(job->failed_on >> device & 1);
}

struct job *jobs_next(const struct jobs *j, enum job_state state, int device, uint64_t now_ns)
{
    struct job *best = NULL;
    for (size_t i = 0; i < j->n_open; i++) {
        struct job *job = j->open[i];
        if (job->state == state && job->not_before_ns <= now_ns && may_have(device, job) &&
            (!best || jobs_is_ahead(job, best)))
            best = job;
    }
    return best;
}

static bool is_mate(const struct job *first, const struct job *job, uint64_t now_ns)
{
    return job != first && job->state == JOB_READY && job->not_before_ns <= now_ns && job->tries == 0 &&
           job->failed_on == 0 && !job->alone && !first->alone && strcmp(job->client, first->client) == 0 &&
           job->submission->priority == first->submission->priority &&
           submission_may_share(first->submission, job->submission);
}

static bool is_unlike(const struct job *job, struct job *const chosen[], size_t n)
{
    bool unlike = true;
    for (size_t i = 0; i < n; i++)
        unlike = unlike && job != chosen[i] && submission_may_share(chosen[i]->submission, job->submission);
    return unlike;
}

size_t jobs_together(const struct jobs *j, const struct job *first, uint64_t now_ns, struct job *out[], size_t most)
{
    size_t n = 0;
    for (struct job *best = NULL; n < most; out[n++] = best) {
        best = NULL;
        for (size_t i = 0; i < j->n_open; i++) {
            struct job *job = j->open[i];
            if (is_mate(first, job, now_ns) && is_unlike(job, out, n) && (!best || jobs_is_ahead(job, best)))
                best = job;
        }
        if (!best)
            break;
    }
    return n;
}

void jobs_done(struct jobs *j, struct job *job)
{
    for (size_t i = 0; i < j->n_open; i++)
        if (j->open[i] == job) {
            j->open[i] = j->open[--j->n_open];
            break;
        }
    drop_work(job);
    job->state = JOB_DONE;
    j->n_done++;
}

size_t jobs_count(const struct jobs *j, const char *client, enum job_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < j->n_open; i++)
        n +=
            (!client || strcmp(j->open[i]->client, client) == 0) && (state == JOB_STATES || j->open[i]->state == state);
    return n;
}

size_t jobs_ahead(const struct jobs *j, const struct job *job)
{
    size_t n = 0;
    for (size_t i = 0; job->submission && i < j->n_open; i++)
        n += j->open[i] != job && jobs_is_ahead(j->open[i], job);
    return n;
}
