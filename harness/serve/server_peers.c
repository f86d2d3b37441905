/*
 * server_peers.c - what a client is told of a job that another server has, so that any of them may be asked. Relies on
 * peers.h. Called by server_jobs.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/peers.h"
#include "serve/server_state.h"

#define LOOK_US 250000 /* nobody tells this server that a job of another one is done */

/* The outcome moves from the job to the view. */
static void show(struct peer_job *job, const char *id, struct server_view *out)
{
    *out = (struct server_view){.state = job_state_names[job->outcome ? JOB_DONE : JOB_QUEUED]};
    snprintf(out->id, sizeof out->id, "%s", id);
    out->outcome = job->outcome;
    job->outcome = NULL;
}

bool server_peer_has(struct server *s, const char *client, const char *id, const char *content, struct server_view *out)
{
    struct peer_job job;
    if (!s->options.peers || !peers_find(s->options.peers, &s->store, client, id, &job))
        return false;
    bool good = strcmp(job.submission, content) == 0 && (job.outcome ? !server_is_void(job.outcome) : job.at_work);
    if (good)
        show(&job, id, out);
    peer_job_free(&job);
    return good;
}

static int look(struct server *s, const char *client, const char *id, struct server_view *out, struct error *err)
{
    struct peer_job job;
    *out = (struct server_view){.state = ""};
    if (!peers_find(s->options.peers, &s->store, client, id, &job))
        return server_not_there(err);
    int status = job.outcome || job.at_work ? 200 : 503;
    if (status == 200)
        show(&job, id, out);
    else
        error_set(err, EXIT_CODE_TEMPORARY, "the server that has this job is down; submit it again, or ask later");
    peer_job_free(&job);
    return status;
}

static bool is_draining(struct server *s)
{
    pthread_mutex_lock(&s->lock);
    bool draining = s->draining;
    pthread_mutex_unlock(&s->lock);
    return draining;
}

int server_peer_watch(struct server *s, const char *client, const char *id, const struct server_wait *wait,
                      struct server_view *out, struct error *err)
{
    uint64_t until = clock_now_ns() + (uint64_t)((wait->seconds > 0 ? wait->seconds : 0) * 1e9);
    for (;;) {
        int status = look(s, client, id, out, err);
        bool news = status != 200 || out->outcome || (wait->unlike && strcmp(out->state, wait->unlike) != 0);
        bool ends = is_draining(s);
        if (news || ends || clock_now_ns() >= until || (wait->gone && wait->gone(wait->context)))
            return !news && ends && wait->unlike ? 503 : status;
        server_view_free(out);
        usleep(LOOK_US);
    }
}
