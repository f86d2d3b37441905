/*
 * spent.h - where the seconds of a job went, added up over its runs: what a server that is too slow is to be asked
 * first. Member "spent" of an outcome (docs/serve.md). Filled by evaluate.c, told by server_work.c.
 */
#ifndef CUDAL2_SERVE_SPENT_H
#define CUDAL2_SERVE_SPENT_H

#include "record/record.h"

/* All zero: nothing yet. Seconds. */
struct spent {
    double start; /* of workers, warm ones included */
    double watch; /* by second workers, under CUPTI */
    double busy;  /* of all these, the device with contenders' launches (record.busy_seconds) */
    double phases[PHASE_COUNT], parts[PART_COUNT];
};

/* Of one cell: a run_observer's `cell`, whose context is a struct spent. */
void spent_add_cell(void *context, const struct cell_record *record, size_t done, double eta_seconds);

/* Of one run: `time_spent` of its journal. NULL: it did not come to its end. */
void spent_add_run(struct spent *spent, const cJSON *time_spent);

/* Divides all by n: what each of n jobs that were measured together has cost. */
void spent_share(struct spent *spent, size_t n);

/* Owned by the caller; NULL out of memory. `measuring` is the time that the device had the job; what no member of it
 * explains is "rest": config, journal, result, outcome. */
cJSON *spent_tree(const struct spent *spent, double queue, double compile, double measuring);

#endif
