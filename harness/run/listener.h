/*
 * listener.h - the supervisor's ear in a worker: system calls that no library makes (worker/confine_named.c) stop their
 * thread and are told here. The answer is always "not permitted"; what was asked for is put in words.
 */
#ifndef CUDAL2_RUN_LISTENER_H
#define CUDAL2_RUN_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LISTENER_MOST 128

struct listener {
    int socket; /* our end of the pair by which the worker hands the descriptor over; -1: none, or done with */
    int fds[LISTENER_MOST]; /* what it, and plugins' own processes, have handed over */
    int n;
    int together; /* a descriptor that is ready when one of them is; 0: none yet */
    pid_t moved;  /* the process that the worker has become (worker/spaces.h); 0: none */
};

/* Takes what the worker has handed over or told, if it has by now. Called before each look. What a process hands over
 * comes before its plugin is loaded: it closes its end then. */
void listener_take(struct listener *l);

/* A descriptor to wait for; -1: none. */
int listener_wait_fd(const struct listener *l);

/* A call that waits for its answer. Until then its thread stands still, and so does the stage page where that is the
 * launching one. */
struct listener_call {
    uint64_t id;
    int fd; /* that it came from */
    pid_t thread;
    char what[96]; /* "fcntl: the owner of a descriptor's signals" */
};
/* Whether that is the thread that launches: the first of its process. */
bool listener_is_launching(const struct listener_call *call);
/* Takes one, if one waits. */
bool listener_hear(const struct listener *l, struct listener_call *call);
/* Answers it: its thread goes on with EPERM. */
void listener_refuse(const struct listener_call *call);

void listener_close(struct listener *l);

#endif
