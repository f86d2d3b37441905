/*
 * audit_jobs.h - what an audit has to look at: cells and contenders, chosen from the journal when everything has been
 * timed. With `sample` every contender in a tenth of the cells, drawn from the run's seed, and every other variant of a
 * candidate once; baselines are libraries, and the tenth is enough of them.
 */
#ifndef CUDAL2_RUN_AUDIT_JOBS_H
#define CUDAL2_RUN_AUDIT_JOBS_H

#include "config/config.h"
#include "run/ledger.h"

/* With so few cells, or fewer, a sample is all of them. */
#define AUDIT_SAMPLE_LEAST 16
#define AUDIT_SAMPLE_SHARE 0.1

/* One cell. */
struct audit_job {
    size_t cell;       /* of the plan */
    double seconds;    /* to measure it, modelled, for each contender: long cells are long to watch, too */
    cJSON *contenders; /* owned; the array of worker/audit.h */
    bool given;        /* to a worker */
    bool done;         /* its line is in the journal */
};

struct audit_jobs {
    struct audit_job *list; /* owned; in the plan's order */
    size_t n;
};

/* The longest first, so that several workers end at about the same time. */
void audit_jobs_sort(struct audit_jobs *jobs);

/* What is left to look at: cells that the journal has a look at are done. Contenders that were not `ok` and A/A copies
 * are not looked at. *out is owned by the caller (audit_jobs_free), also after errors. */
int audit_jobs_make(const struct ledger *ledger, enum activity_choice choice, struct audit_jobs *out,
                    struct error *err);
void audit_jobs_free(struct audit_jobs *jobs);

#endif
