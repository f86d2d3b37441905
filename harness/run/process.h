/*
 * process.h - a child process at the end of a socket pair: started with a clean environment in a session of its
 * own, killed as a group, reaped with a bound, and described in words.
 */
#ifndef CUDAL2_RUN_PROCESS_H
#define CUDAL2_RUN_PROCESS_H

#include "base/relay.h"
#include "run/listener.h"
#include "run/worker_directory.h"
#include "worker/stage_page.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

struct process {
    pid_t pid;                         /* 0: none. Another one once the worker has moved (worker/spaces.h) */
    pid_t group;                       /* of all that it starts: the number of the process that was started */
    int fd;                            /* our end of the socket pair, non-blocking; -1: none */
    struct stage_page *page;           /* shared with the child */
    struct listener listener;          /* of the system calls that it must not make */
    struct relay said;                 /* what it and its plugins write to stderr */
    struct worker_directory directory; /* for its temporary files; none: those of everybody */
};

struct process_request {
    const char *program;          /* executed as `program worker ARGUMENT...` */
    const char *const *arguments; /* NULL-terminated; NULL: none */
    int lock_fd;                  /* -1, or a descriptor the child keeps open as PROCESS_LOCK_FD */
    const cpu_set_t *cores;       /* where it may run; NULL: where we may */
};

/* The child inherits the GPU's lock: after the death of the supervisor the lock stays held until the worker is gone
 * too, so that nobody measures beside it. */
#define PROCESS_LOCK_FD 4

/* How a process ended. */
struct process_end {
    bool signalled;
    int number;    /* signal or exit code */
    char text[64]; /* "killed by signal 11 (Segmentation fault)", "exited with code 0" */
};

/* The child gets descriptors 0 and 1 (/dev/null), 2 (a pipe to our stderr), 3 (the socket), perhaps 4 (the lock), 5
 * (the stage page) and 6 (for the listener), nothing else, and is killed by the kernel when we die.
 * EXIT_CODE_UNAVAILABLE when it cannot be started. */
int process_spawn(const struct process_request *request, struct process *out, struct error *err);

/* SIGKILL to the process group, without waiting. */
void process_kill(const struct process *p);

/* What a status of waitpid says. */
void process_describe_end(int status, struct process_end *end);

/* Waits up to `seconds` for the end, then forgets the process; false, and nothing forgotten, when it is still there.
 * Whatever else is in its process group or process namespace is killed in either case. */
bool process_reap(struct process *p, double seconds, struct process_end *end);

/* Where the worker has moved by now, p->pid is the process that it has become, and the other one is reaped. */
void process_follow(struct process *p);

/* Whether the process has ended and waits to be reaped. */
bool process_ended(struct process *p);
/* Whether it has ended or is past the point of no return in the kernel. A driver may take seconds to free a GPU after
 * the socket has closed; a process that is not ending closed the socket while alive. */
bool process_ending(struct process *p);

/* Closes the socket, unmaps the page, removes the directory and clears *p. */
void process_forget(struct process *p);

/* Resident memory, bytes; 0 when unknown. */
unsigned long long process_resident_bytes(const struct process *p);
/* The most that it has been so far. */
unsigned long long process_peak_bytes(const struct process *p);

/* For how long its threads have waited for a processor that others had, ns, all together; 0 when unknown. */
unsigned long long process_waited_ns(const struct process *p);

/* The environment of a child: a few variables of `from` (all, with CUDAL2_ISOLATION=off in it) and ours. Owned,
 * NULL-terminated, one allocation per string. NULL when out of memory. */
char **process_environment(char *const from[], int threads);
/* Where temporary files go from then on; NULL: as before. False out of memory. Once for an environment. */
bool process_environment_point(char **environment, const char *directory);
void process_environment_free(char **environment);

#endif
