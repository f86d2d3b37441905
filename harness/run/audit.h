/*
 * audit.h - a crew's second task, the last part of a run on GPUs: when every cell has been timed, workers of its own,
 * one for each GPU, watch one launch of what was timed (worker/audit.h). They are fresh, but for a server's
 * (run/warm.h), and come up as soon as their GPU has nothing more to time. A recorder of GPU activity slows its process
 * down for good, so no process that times has one.
 *
 * The part can fail without harm: a recorder that is missing, a worker that does not start or a contender that takes
 * one with it are written down, and what was timed stays as it is.
 */
#ifndef CUDAL2_RUN_AUDIT_H
#define CUDAL2_RUN_AUDIT_H

#include "run/crew.h"
#include "run/ledger.h"

struct measuring;

struct audit_request {
    const struct config *config;
    struct ledger *ledger;
    struct crew *crew;                 /* open by the time of audit_run */
    const struct measuring *measuring; /* knows what every worker of the run is told */
    const char *advice;                /* what the line of a stop ends in */
    struct warm *warm;                 /* who watched an earlier run, and may watch a later one; NULL: nobody */
};

struct audit;

/* Owned by the caller (audit_free); *request is borrowed. NULL: out of memory. */
struct audit *audit_new(const struct audit_request *request);
void audit_free(struct audit *a);

/* For crew_task.next of whoever times; valid as long as *a. */
const struct crew_task *audit_task(const struct audit *a);

/* Whether there is a GPU to watch, somebody wants it, and the journal has not been closed yet. */
bool audit_is_due(const struct config *config, const struct ledger *ledger);

/* Once: looks at what is left to look at and journals it cell by cell. Returns 0 also when nobody could watch; after a
 * stop EXIT_CODE_INTERRUPTED (INT) or EXIT_CODE_TEMPORARY with a line that --resume goes on; errors of the journal as
 * they are. */
int audit_run(struct audit *a, struct error *err);

#endif
