/*
 * server_state.h - what the files of the server share: the table of jobs behind its lock, threads, counters. Private to
 * server*.c.
 */
#ifndef CUDAL2_SERVE_SERVER_STATE_H
#define CUDAL2_SERVE_SERVER_STATE_H

#include <pthread.h>

#include "model/verdict.h"
#include "run/devices.h"
#include "serve/jobs.h"
#include "serve/measured.h"
#include "serve/repeats.h"
#include "serve/server.h"
#include "serve/store.h"
#include "serve/waits.h"
#include "serve/watched.h"

#define SERVER_COMPILERS 8 /* at most for each device */
#define SERVER_THREADS (DEVICES_MAX * (1 + SERVER_COMPILERS) + 1)
#define SERVER_TRIES 3    /* of a job, where the device, the disk or the machine fails */
#define SERVER_FAILING 3  /* runs in a row that fail: it is told that the device does not work */
#define SERVER_ATTEMPTS 5 /* beginnings of a job, ended servers included */

struct server_counts {
    uint64_t submitted, repeated, refused;
    long streams; /* of events, that are open */
    double measuring_seconds, compiling_seconds;
    double busy_seconds; /* of measuring, with contenders' launches */
    uint64_t outcomes[VERDICT_COUNT];
};

struct server {
    struct server_options options;
    struct store store;
    pthread_mutex_t submitting; /* taken first: one submission at a time reaches the disk */
    pthread_mutex_t lock;       /* of all below */
    pthread_cond_t work, news;  /* there is a job to take; a job has gone on */
    pthread_cond_t found;       /* there is an outcome to keep, or there will be none any more */
    struct job *first_found, *last_found;
    size_t n_finders; /* threads that may find another one */
    struct jobs jobs;
    struct measured measured;
    struct watched_lines watched;
    struct repeats repeats;
    struct waits waits;
    struct server_counts counts;
    uint64_t started_ns;
    size_t n_threads, n_compilers;
    pthread_t threads[SERVER_THREADS];
    volatile int stop;              /* as run_hooks has it: non-zero ends what is being measured */
    unsigned failures[DEVICES_MAX]; /* of runs in a row that the device, as it seems, was the reason for */
    bool draining;
};

/* Starts the threads that compile and measure. */
int server_work_start(struct server *s, struct error *err);

/* The job has this outcome (taken over): on disk if that is possible, and told to who waits. The lock is held. */
void server_finish(struct server *s, struct job *job, cJSON *outcome);

/* The same for what was measured, by a thread of its own and in that order: the caller goes on at once. The job is
 * being measured until then. The lock is held. */
void server_found(struct server *s, struct job *job, cJSON *outcome);
/* That thread, until the server drains and nothing will be found any more. The context is the server. */
void *server_keep_found(void *context);

/* Nothing was learnt of the candidate: it may be tried again. The text of an outcome, or NULL. */
bool server_is_void(const char *outcome);
/* 404, with a reason. */
int server_not_there(struct error *err);

/* Of a job that this server does not know, where others may (peers.h): server_watch's part, and whether the same
 * content is measured, or waits, at one that runs. */
int server_peer_watch(struct server *s, const char *client, const char *id, const struct server_wait *wait,
                      struct server_view *out, struct error *err);
bool server_peer_has(struct server *s, const char *client, const char *id, const char *content,
                     struct server_view *out);

/* One line on standard error, unless quiet. */
void server_say(const struct server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
