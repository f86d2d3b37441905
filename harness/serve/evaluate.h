/*
 * evaluate.h - one submission as a run of its own: config, supervisor, journal, result, reward. The one place where the
 * server meets run/.
 */
#ifndef CUDAL2_SERVE_EVALUATE_H
#define CUDAL2_SERVE_EVALUATE_H

#include "run/devices.h"
#include "serve/store.h"
#include "serve/submission.h"

struct repeat_log;
struct spent;
struct warm;

/* What a submitted kernel is called in its run. */
#define EVALUATE_FAMILY "submitted"
/* So many are measured together at most: of eight each costs little over half of what one alone does, of sixteen hardly
 * less. */
#define EVALUATE_MOST 8

struct evaluation {
    const struct store *store;
    const char *id; /* of the job: its directory holds the run */
    const struct submission *submission;
    const cJSON *code;             /* of the compiler; NULL for what is installed */
    const struct devices *devices; /* of the server */
    int device_index;              /* which of them measures */
    const char *plugins, *kernels; /* directories; NULL: defaults */
    const volatile int *stop;      /* non-zero: ends the run (run/supervisor.h) */
    struct warm *warm;             /* the device's worker between jobs; NULL: each job has one of its own */
    struct spent *spent;           /* gets where the time went; NULL: nobody asks */
    struct repeat_log *looks;      /* gets what its cells say of repeats; NULL: nobody asks */
    bool watch;                    /* a kernel with parameters, under CUPTI; any other candidate always is */
    unsigned place;                /* among those that are measured in the same cells; 0: the first, or alone */
};

/* Measures and makes the outcome, owned by the caller. What fails in a worker that has measured before is measured
 * again in a new one: no candidate has the blame for what another left behind. Whatever is the candidate's fault is an
 * outcome with a verdict. Otherwise a code: EXIT_CODE_INTERRUPTED  *stop asked for it; the job is as it was any other
 * the device, the disk or the machine failed; another try may do better */
int evaluate(const struct evaluation *e, cJSON **outcome, struct error *err);

/* The same for 2 to EVALUATE_MOST that may share cells (submission_may_share) and a worker (warmth.h), so that the
 * baseline is set up, verified and timed once for all. Of the first come device, worker, `spent` and `watch`. outcomes
 * has room for n; NULL is left for whom nothing stands: that one is to be measured by itself. None stands where
 * another in the cells has failed, unless that one was never launched. */
int evaluate_together(struct evaluation *list, size_t n, cJSON *outcomes[], struct error *err);

/* Puts into a config what it says of a submission's problems: head, shapes, and layouts unless all are measured. False:
 * out of memory. */
bool evaluate_put_problems(cJSON *config, const struct submission *s);

/* Where the kernel of a submission lies once it was compiled: a manifest, or for CANDIDATE_KERNEL a kernel set; for
 * CANDIDATE_NAMED its name. */
int evaluate_candidate(const struct evaluation *e, char out[PATH_MAX], struct error *err);

#endif
