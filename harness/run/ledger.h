/*
 * ledger.h - what a run has and what it still lacks: the plan, the journal behind it, and the checks that let a later
 * sitting go on where an earlier one stopped.
 */
#ifndef CUDAL2_RUN_LEDGER_H
#define CUDAL2_RUN_LEDGER_H

#include "record/activity.h"
#include "record/journal.h"
#include "record/record.h"
#include "run/named.h"
#include "run/offenders.h"
#include "run/plan.h"
#include "run/run_spec.h"
#include "run/shard.h"

#include <limits.h>

struct ledger {
    struct plan plan;     /* of the shard, where the run is one */
    struct shard_cut cut; /* then */
    struct journal *journal;
    char journal_path[PATH_MAX];
    bool *done; /* of each cell of the plan */
    size_t n_done;
    uint64_t seed;
    int n_env;     /* env entries so far */
    cJSON *env;    /* the first one: every later worker must be like it */
    bool complete; /* the journal has its `end` */
    bool created;  /* by this start */
    bool lost;     /* the journal is not what was written to it any more; its lines are elsewhere */
    uint64_t checked_ns;
    size_t wrong_results, failed_cells, skipped_cells;
    size_t timed_cells, compared_cells;     /* with blocks or pairs, and with a pair that can be compared */
    size_t candidates, measured_candidates; /* over all cells: records of candidates, and those with status ok */
    struct offenders offenders;
    struct named named;
    char first_wrong[RECORD_NAME_MAX + RECORD_KEY_MAX + 48], first_skipped[RECORD_KEY_MAX + RECORD_REASON_MAX + 2];
};

/* Creates the journal, or with spec->resume goes on in an existing one: same config, plan, seed, device kind and
 * program, or EXIT_CODE_DATA with what differs. Without resume an existing journal or output is EXIT_CODE_CANTCREATE
 * with the way out. Writes `run` (once) and `sitting`. On failure *out needs no close. */
int ledger_open(const struct run_spec *spec, struct ledger *out, struct error *err);

/* Journals a worker's environment, unless the journal has its end; *index is its place in the run's env[].
 * EXIT_CODE_DATA when it is not like the first. */
int ledger_add_env(struct ledger *ledger, const cJSON *env, int *index, struct error *err);

/* Journals the record of plan cell `cell`, once. */
int ledger_add_cell(struct ledger *ledger, size_t cell, const struct cell_record *record, struct error *err);

/* Journals one line of an audit (record/activity.h), which is taken over, and counts its verdicts. */
int ledger_add_activity(struct ledger *ledger, cJSON *line, struct error *err);

/* Whether the journal is still what was written to it (journal_check); looks twice a second at most. */
int ledger_check(struct ledger *ledger, struct error *err);
/* The same as the `turn` of a crew's task (crew.h). */
int ledger_turn(void *ledger, struct error *err);

/* Host memory of the last sitting, bytes; 0 unknown. What libraries take is in the workers': the difference between
 * their peak and what they held when they had loaded everything is the most that the harness itself took. */
struct memory_use {
    uint64_t supervisor_peak, worker_peak, worker_ready;
};

/* What the last line says of the run. */
struct run_end {
    struct memory_use memory;
    const cJSON *spent; /* where the time went (run/timeline.h); NULL: not known */
    const cJSON *looks; /* of the check between devices (run/between.h); NULL: none */
};

/* Journals `end`, if every cell is there and it has not been said. The whole journal is compared with what was written
 * to it first. */
int ledger_finish(struct ledger *ledger, const struct run_end *ending, struct error *err);

/* The exit code of a run whose every cell is there, and its line: a contender refuted by verification, every cell
 * skipped, somebody named and measured nowhere, failed cells, no candidate measured, nothing to compare although the
 * config names two contenders; else 0. */
int ledger_verdict(const struct ledger *ledger, const struct config *config, struct error *err);

/* Closes the journal, and removes it when this start created it and no cell came of it. */
void ledger_close(struct ledger *ledger);

#endif
