/*
 * server.h - the server behind its protocol: takes submissions, compiles and measures them one at a time on each
 * device, keeps what it promised on disk, and tells outcomes. Knows nothing of HTTP but its status numbers. Every
 * function may be called from any thread.
 */
#ifndef CUDAL2_SERVE_SERVER_H
#define CUDAL2_SERVE_SERVER_H

#include "run/devices.h"
#include "serve/submission.h"

struct server_options {
    const char *directory;                /* of the store */
    const char *peers;                    /* where other servers' stores are beside it; NULL: there are none */
    const struct devices *devices;        /* one job at a time on each */
    const char *plugins, *kernels, *arch; /* NULL: defaults */
    const char *const *candidates;        /* names that may be measured; NULL-terminated */
    const char *const *baselines;         /* names that they may be held against */
    const char *baseline;                 /* when a submission names none */
    size_t queue, quota;                  /* open jobs at most: of all, and of one client */
    bool quiet;                           /* no line for each outcome */
};

struct server;

/* Opens the store, takes up the jobs that it holds, and begins. The options must outlive the server. */
int server_open(const struct server_options *options, struct server **out, struct error *err);

/* Takes no more submissions; what is being measured is finished, what waits stays on disk. `at_once` ends that too. */
void server_drain(struct server *s, bool at_once);
/* Whether nothing is compiled or measured at the moment. */
bool server_is_idle(struct server *s);
/* Waits for the threads (server_drain first) and frees. NULL: nothing. */
void server_close(struct server *s);

/* What a client is told of a job. */
struct server_view {
    char id[DIGEST_HEX];
    const char *state; /* "queued", "compiling", "measuring", "done" */
    size_t ahead;      /* open jobs before it */
    char *outcome;     /* owned; JSON once it is done, else NULL */
};

/* Who submits, and under what name: with a task, the id is made of that (KernelGYM), else of the content. */
struct server_client {
    const char *name;
    const char *task; /* NULL: none */
};

/* Takes a submission over (allocated by the caller), also on failure. Returns an HTTP status: 202, or 200 where the
 * same was submitted before (*out says how far it is), else 409, 429, 500, 503 or 507 with the line in err. */
int server_submit(struct server *s, const struct server_client *client, struct submission *submission,
                  struct server_view *out, struct error *err);

/* The id that a task has. */
void server_task_id(const struct server_client *client, char id[DIGEST_HEX]);

/* How far a job of this client is, when it is done or after `seconds` at the latest. 200, 404, 500, or 503 where
 * another server has it, which is down. */
int server_look(struct server *s, const char *client, const char *id, double seconds, struct server_view *out,
                struct error *err);
void server_view_free(struct server_view *view);

/* The same for a client that is told each step: back as soon as the state is unlike the one it knows. 503 when it knows
 * the state and the server ends. */
struct server_wait {
    double seconds;
    const char *unlike;                /* "" : it knows none; NULL: it wants the end */
    bool (*gone)(const void *context); /* asked every two seconds: nobody waits any more; NULL: somebody does */
    const void *context;               /* of gone */
};
int server_watch(struct server *s, const char *client, const char *id, const struct server_wait *wait,
                 struct server_view *out, struct error *err);

/* A request of this client begins to wait for an outcome: 200, or 429 with the line in err where it has as many already
 * as one may (waits.h). After a 200, the end is to be told. */
int server_wait_begin(struct server *s, const char *client, struct error *err);
void server_wait_end(struct server *s, const char *client);

/* One more stream of events is open, or one less. */
void server_count_stream(struct server *s, int change);

/* Takes a job back that nobody has begun with. 200, 404, 409 when it is begun, done or another server's, or 503 when
 * that one is down. */
int server_cancel(struct server *s, const char *client, const char *id, struct error *err);

/* The rules for submission_read. */
struct submission_rules server_rules(const struct server *s);

/* Owned by the caller: JSON for /health, text for /metrics; NULL out of memory. *draining says whether it takes no
 * more. */
char *server_health(struct server *s, bool *draining);
char *server_metrics(struct server *s);

/* Counts a request that was refused before it became a submission. */
void server_count_refusal(struct server *s, int status);

#endif
