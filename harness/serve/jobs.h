/*
 * jobs.h - the jobs that the server knows, in memory: found by id, taken in turn, counted. Holds no lock: server.c
 * does.
 */
#ifndef CUDAL2_SERVE_JOBS_H
#define CUDAL2_SERVE_JOBS_H

#include "base/digest.h"
#include "serve/submission.h"

#define JOBS_CLIENT_MAX 48
#define JOBS_BUCKETS 4096

/* In the order a job goes through them. What needs no compiler begins at JOB_READY. */
enum job_state { JOB_QUEUED, JOB_COMPILING, JOB_READY, JOB_MEASURING, JOB_DONE, JOB_STATES };
extern const char *const job_state_names[]; /* for clients: queued compiling queued measuring done */

struct job {
    struct job *next;              /* in its bucket */
    struct submission *submission; /* owned; NULL once done */
    cJSON *code;                   /* owned; what the compiler said of it, or NULL */
    char *outcome;                 /* owned; only of one that could not be written to disk */
    cJSON *found;                  /* owned; its outcome on the way to the disk, or NULL */
    struct job *next_found;        /* whose outcome comes behind it */
    double compile_seconds;
    uint64_t sequence, received_ns, not_before_ns;
    uint64_t failed_on; /* a bit for each device that could not do it, since the last of its tries */
    enum job_state state;
    unsigned tries; /* that failed by no fault of the candidate's, in this state */
    bool alone;     /* not to be measured together with others */
    char id[DIGEST_HEX];
    char client[JOBS_CLIENT_MAX];
};

struct jobs {
    struct job *buckets[JOBS_BUCKETS];
    struct job **open; /* owned; those that are not done */
    size_t n_open, capacity, n_done;
};

void jobs_free(struct jobs *j);

struct job *jobs_find(const struct jobs *j, const char *id);

/* A new job, to be filled by the caller; NULL out of memory. Its submission is taken over, also on failure; NULL: it is
 * done already. */
struct job *jobs_add(struct jobs *j, const char *id, struct submission *submission);

/* Opens a job again that is done; takes the submission over, also on failure. -1 out of memory. */
int jobs_reopen(struct jobs *j, struct job *job, struct submission *submission);

/* The job in this state whose turn it is: the highest priority, then the oldest. NULL when there is none. Jobs that may
 * not begin before a later time than now_ns are passed over, and those that this device has failed on (-1: no device).
 */
struct job *jobs_next(const struct jobs *j, enum job_state state, int device, uint64_t now_ns);

/* Jobs that may be measured in the same cells as `first`: ready, of its client and priority, and alike
 * (submission_may_share), none of them like another; the oldest first. Returns how many, at most `most`. */
size_t jobs_together(const struct jobs *j, const struct job *first, uint64_t now_ns, struct job *out[], size_t most);

/* Whether the turn of a comes before that of b; both are open. */
bool jobs_is_ahead(const struct job *a, const struct job *b);

/* The job has its outcome: drops what only an open one needs. */
void jobs_done(struct jobs *j, struct job *job);

/* How many jobs are open, of this client (NULL: of all), in this state (JOB_STATES: in any). */
size_t jobs_count(const struct jobs *j, const char *client, enum job_state state);

/* How many open jobs are ahead of this one. */
size_t jobs_ahead(const struct jobs *j, const struct job *job);

#endif
