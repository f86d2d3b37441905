/*
 * host_threads.h - whose threads a process has: each belongs to whoever's turn it was when it appeared, and what it
 * computes is told from then on. A thread that appears in one contender's turn while another's threads compute too may
 * be either's, for threads make threads: it is nobody's. worker/ keeps one table for its process and tells it of turns,
 * verify/rivals.c asks who computes out of turn.
 */
#ifndef CUDAL2_DEVICE_HOST_THREADS_H
#define CUDAL2_DEVICE_HOST_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_THREADS_MAX 512
#define HOST_THREADS_NAME 64
#define HOST_THREADS_NOBODY "?" /* owner of what may be several's */

struct host_thread {
    int id;
    char owner[HOST_THREADS_NAME]; /* "": the harness's and the driver's */
    uint64_t marked_ns;            /* of processor time, at the latest mark */
    uint64_t waited_ns;            /* for a processor, likewise */
    uint64_t turn_ns;              /* the same at the beginning of the turn, where it was looked at */
};

struct host_threads {
    struct host_thread *list; /* HOST_THREADS_MAX of them; owned */
    size_t n;
    int directory;                /* of the process's threads; -1: not to be had */
    uint64_t inode;               /* its own */
    uint64_t count;               /* of threads, when the list was made */
    uint64_t marked_ns;           /* of processor time of those that are not in the list, at the latest mark */
    char turn[HOST_THREADS_NAME]; /* whose it is; "": the harness's */
    bool looked;                  /* turn_ns are of this turn */
    bool complete;                /* the list was, when the turn began */
    bool asked;                   /* somebody asks whose threads compute; else turns are names and nothing is read */
    bool disturbed;               /* found out: the worker ends (worker.c) */
};

/* The threads there are now are the harness's. Where nobody asks whose threads compute (`asked` false: on a GPU without
 * strangers' plugins) no thread is looked at, and turns only have names: to look takes 4 to 9 us a turn with 5 to 12
 * threads, and a block of ten contenders has some 55 turns. */
void host_threads_begin(struct host_threads *t, bool asked);

/* The turn goes over to `name`: threads that are new belong to whose turn it was, also where as many have ended (a pool
 * made anew). Two microseconds when none is a contender's; between `quick` turns, which are timed, no more than eight
 * threads are looked at: of more only their number, and who may have appeared in an earlier turn is nobody's. */
void host_threads_turn(struct host_threads *t, const char *name, bool quick);

/* Whether any thread is a contender's, or nobody's. */
bool host_threads_any_owned(const struct host_threads *t);

/* Notes the processor time of every thread. */
void host_threads_mark(struct host_threads *t);

/* Processor time since the mark, ns, of that owner's threads that took the most; 0 with "" when no contender's threads
 * computed. Threads that have come since the list was made, ended ones too, are nobody's: one that starts its successor
 * and ends is in no list. */
uint64_t host_threads_since(const struct host_threads *t, char owner[HOST_THREADS_NAME]);

/* True when a thread of that owner's, of any contender's or in no list for "", runs or waits for a processor: on a busy
 * machine one that computes may get none for long. */
bool host_threads_runnable(const struct host_threads *t, const char *owner);

/* Of one of the list: whether it runs or waits for a processor; ns of processor time since the mark; ns that it has
 * waited for a processor since then, 0 where the kernel does not count that. */
bool host_threads_one_runnable(const struct host_thread *thread);
uint64_t host_threads_one_since(const struct host_thread *thread);
uint64_t host_threads_one_waited(const struct host_thread *thread);

void host_threads_end(struct host_threads *t);

#endif
