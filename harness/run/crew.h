/*
 * crew.h - the worker processes of a run, one for each device: started, given work, watched, replaced when they are
 * lost, ended. What the work is, a task says: to measure cells (measuring.c), to watch launches (audit.c), or whatever
 * comes. A task may run for ever: it answers CREW_LATER while it has nothing, and its workers wait.
 *
 * A third task in short: crew_init, crew_open (takes the GPUs' locks), crew_run with the task as often as wanted,
 * crew_close. All calls come from one thread; several crews may be in one process, on devices of their own.
 */
#ifndef CUDAL2_RUN_CREW_H
#define CUDAL2_RUN_CREW_H

#include "run/leaving.h"
#include "run/run_spec.h"
#include "run/slot.h"
#include "run/warm.h"

/* A piece of work in which the harness itself dies so often, with nobody to blame, has failed. */
#define CREW_HARNESS_DEATHS 2

/* What a task has for a worker. */
enum crew_offer {
    CREW_NONE,  /* nothing, and nothing will come: the worker may go */
    CREW_LATER, /* nothing yet: the worker is to be up, and to wait */
    CREW_WORK   /* slot->work and slot->request are filled in */
};

/* The slot in these calls is one worker: read its device, now, request, and the process's memory; of it a task writes
 * work, request and env_index alone. Members marked (may be NULL) are left out where a task does not care. An error
 * ends crew_run. */
struct crew_task {
    void *context;
    /* What every worker is told at its start. The crew fills in worker, device and nonce. */
    void (*tell)(void *context, struct start_request *out);
    /* Has the task work for this worker? Asked when it has none, and its process is idle or not started. On CREW_WORK
     * slot->work is a number of the task's own, 0 or more, and slot->request says what goes to the worker. */
    enum crew_offer (*take)(void *context, struct slot *slot);
    /* No worker of this slot will do slot->work: it is for another one. */
    void (*give_back)(void *context, const struct slot *slot);
    /* slot->work leaves for its worker for the first time; what is missing in the request is completed (may be NULL) */
    int (*send)(void *context, struct slot *slot, struct error *err);
    /* A worker is up; env is its environment. */
    int (*ready)(void *context, struct slot *slot, const cJSON *env, struct error *err);
    /* slot->work is done: event holds the record, or for a request with `audit` the activity, which may be taken over
     * (and set to NULL). */
    int (*done)(void *context, struct slot *slot, struct slot_event *event, struct error *err);
    /* A worker that was up is gone, in its work or without: for a line to the user (may be NULL). */
    void (*lost)(void *context, const struct slot *slot, const struct slot_event *event);
    /* Leaves who is to blame out of slot->request, which is then sent again; false: that is not possible. */
    bool (*blame)(void *context, struct slot *slot, const struct exclusion *blamed);
    /* slot->work is given up: the worker was lost in it and nobody is to blame, for this reason. */
    int (*fail)(void *context, struct slot *slot, const char *reason, struct error *err);
    /* A worker was lost before it was up. True: the next start is another one, so this one is not counted (may be
     * NULL). */
    bool (*learn)(void *context, const struct slot *slot, const struct slot_event *event);
    /* This device gets no worker any more, crew->last says why; its work has been given back (may be NULL). */
    int (*retired)(void *context, struct slot *slot, const struct slot_event *event, struct error *err);
    /* slot->now has changed: who is running, in which stage (may be NULL). */
    void (*stage)(void *context, const struct slot *slot);
    /* Once in each turn of the loop, five times a second at least (may be NULL). */
    int (*turn)(void *turn_context, struct error *err);
    void *turn_context; /* NULL: `context` */
    int start_tries;    /* starts in a row that may fail before a device gets no worker any more */
    int wake_fd;        /* readable: there is work for who was told CREW_LATER; the task reads it empty. 0: none */
    struct warm *warm;  /* of a run with one device: its worker may be this one, and is kept there in the end; NULL:
                         * every worker is a new process and ends with its task */
    bool proven; /* such a worker has been up before this task: one that says why it cannot start is tried again */
    /* The task behind this one, which times nothing; NULL: none is known. A device that has nothing more to do here
     * gets its worker of that task at once, unless another device still works and may share cores with it. */
    const struct crew_task *next;
};

struct crew_setup {
    const struct run_spec *spec;                   /* devices, program, budget_seconds, lock_seconds, pause_seconds */
    const volatile int *stop;                      /* as run_supervise's *stop; NULL: nobody asks for an end */
    void (*note)(void *context, const char *line); /* NULL: nobody reads it */
    void *note_context;
    struct warm *warm; /* who is kept there may have the device's lock; NULL: nobody */
};

struct crew {
    struct crew_setup setup;
    struct slot *slots;           /* owned; n of them once it is open, and as many for who leaves */
    struct leaving leaving;       /* told to quit, by a task that has one behind it */
    const struct crew_task *task; /* of crew_run */
    const struct crew_task *next; /* whose workers slots with `ahead` have */
    struct start_request start;   /* of the latest worker; too large for a small stack */
    uint64_t deadline_ns, memory_checked_ns, counted_ns;
    int n;
    bool over, was_up;
    struct error last; /* why the latest worker did not start */
};

/* The budget of the run begins now. */
void crew_init(struct crew *crew, const struct crew_setup *setup);

/* Takes the locks of the devices. crew_close is due whatever comes back. */
int crew_open(struct crew *crew, struct error *err);

/* Works until the task has nothing more, no device gets a worker any more, or the end is asked for. Every process that
 * it started has ended then, is leaving, waits for task->next, or will be killed by crew_close. No work
 * is sent to a device on which somebody leaves. Returns 0 unless a call of the task failed: what is left undone the
 * task knows. */
int crew_run(struct crew *crew, const struct crew_task *task, struct error *err);

/* From within a call of the task: no more work is given out, work in hand is finished. */
void crew_end(struct crew *crew);

/* Waits for who leaves, kills what is left, and gives the locks back. Again is harmless. */
void crew_close(struct crew *crew);

/* 0, or the signal that asks for an end: *stop, or SIGALRM when the budget is spent. Negative: at once. */
int crew_stop_signal(const struct crew *crew);

/* Whether some device may still get a worker. */
bool crew_is_alive(const struct crew *crew);

/* One line to who reads the run's notes. */
void crew_note(const struct crew *crew, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The worker's number: its place among the devices. */
int crew_number(const struct crew *crew, const struct slot *slot);

#endif
