/*
 * slot.h - one worker's place in a run: what it is doing, who would be to blame if it died now, and by when it must
 * speak. A slot knows nothing of plan or journal: it reports what happened through struct slot_event, to crew.c.
 */
#ifndef CUDAL2_RUN_SLOT_H
#define CUDAL2_RUN_SLOT_H

#include "run/patience.h"
#include "run/process.h"
#include "worker/protocol.h"

enum slot_state {
    SLOT_EMPTY,    /* no process */
    SLOT_STARTING, /* until `ready` */
    SLOT_IDLE,
    SLOT_BUSY,     /* with slot.request */
    SLOT_QUITTING, /* told to quit */
    SLOT_RETIRED,  /* given up, or finished */
    SLOT_STATES
};

struct slot {
    enum slot_state state;
    struct process process;
    struct line_reader reader;
    char nonce[PROTOCOL_NONCE];
    char gpu[RECORD_NAME_MAX]; /* UUID that its first worker told; "" none yet */
    const char *device;        /* "cpu", "cuda:0" */
    const char *shown;         /* UUID of the GPU that a worker is shown alone; NULL: all that are visible */
    int lock_fd;               /* -1 on the CPU */
    int env_index;             /* of the present process in the run's env[]; -1 unknown */
    struct stage_note now;     /* who would be to blame, in what, and by when it must be over */
    struct stage_note writer;  /* who was running when the first byte of the message that is being read was there */
    struct patience patience;  /* with it */
    uint64_t not_before_ns;    /* the next start */
    int start_failures;        /* in a row */
    int harness_deaths;        /* in this work, nobody to blame */
    long work;                 /* a number of the task's (crew.h); -1 none. Stays while the worker is replaced */
    bool up;                   /* the present process, or the last one, has said `ready` */
    bool sent;                 /* the work has left for a worker at least once */
    bool warned_memory;
    bool killed;                 /* once in this work, from outside */
    struct cell_request request; /* of the work */
    uint64_t sent_ns;            /* when it went to the worker, by our clock */
    uint64_t started_ns;         /* when the process was, by our clock */
    uint64_t oom_kills;          /* of the machine, by then */
    uint64_t looked_ns;          /* at the worker's page, the last time */
    uint64_t since_ns;           /* the look before the present note, until it is held against it; 0: done */
    double clock_ns;             /* not 0: so far the worker's clock was off ours */
    bool told_to_quit;           /* by us */
    bool wary;                   /* its device did not open at once: from now on a trial comes first (settle.h) */
    bool ahead;                  /* its worker is the next task's, and is not looked at before that (run/crew.h) */
    bool has_cores;              /* of its own (run/cores.h): */
    cpu_set_t cores;
    double spent[SLOT_STATES];     /* seconds in each state (run/timeline.h) */
    struct stage_note clock_owner; /* of the hook that ran until the note; nobody's where that is not known */
};

/* What one look at a slot found. Strings and trees are valid until the slot is looked at again. */
enum slot_event_kind {
    SLOT_NOTHING,
    SLOT_READY,    /* env */
    SLOT_STAGE,    /* slot->now has changed */
    SLOT_RECORD,   /* record */
    SLOT_ACTIVITY, /* activity */
    SLOT_LOST      /* verdict and reason; the process is gone */
};

struct slot_event {
    enum slot_event_kind kind;
    cJSON *env;                 /* owned by the event */
    struct cell_record *record; /* owned by the event */
    cJSON *activity;            /* owned by the event; the array of contenders that an audit has watched */
    enum verdict verdict;       /* of death.h | hang | tamper_suspected | infrastructure */
    char reason[RECORD_REASON_MAX];
    int code; /* of a fatal message, else 0 */
};
void slot_event_free(struct slot_event *event);

/* Starts a process and sends it `start` (nonce and worker are filled in here). */
int slot_start(struct slot *slot, const char *program, struct start_request *start, struct error *err);
/* The same for a slot that has got an idle process already (warm.h): it is told to start anew. */
void slot_start_again(struct slot *slot, struct start_request *start);

/* Sends slot->request, a cell to measure or, with its `audit`, to watch; SLOT_BUSY. A failure means that the worker is
 * gone: the next look says so. */
void slot_send_cell(struct slot *slot);
/* Waits until one of n slots that are looked at has something to say, or wake_fd (0: none) is readable, at most so
 * long. */
void slots_wait(const struct slot *slots, int n, int wake_fd, int milliseconds);
/* Sends `quit`; SLOT_QUITTING. */
void slot_send_quit(struct slot *slot);

/* Takes the next message if there is one, else sees whether the process died or the deadline passed. Call until
 * SLOT_NOTHING. A message that is garbage or lacks the nonce ends the process. */
void slot_look(struct slot *slot, struct slot_event *event);

/* Of a worker that was lost: whom its end is to be blamed on, *out being what they are then left out for. False when no
 * contender was running, or when it was nobody's doing. */
bool slot_culprit(const struct slot *slot, const struct slot_event *event, struct exclusion *out);
/* Whether it ended as it was told to. An exit handler that somebody left behind costs no cell, but is worth a line. */
bool slot_ended_well(const struct slot *slot, const struct slot_event *event);

/* What slot_look does with a line of the worker's (fuzzing). */
void slot_take_line(struct slot *slot, const char *line, size_t length, struct slot_event *event);

/* Kills and reaps: SLOT_EMPTY, or SLOT_RETIRED when even SIGKILL does not end the process (stuck in the driver). */
void slot_kill(struct slot *slot);

#endif
