/*
 * supervisor.h - one run: its plan measured over worker processes, one per device, its journal, its verdict. Never
 * touches a device itself.
 */
#ifndef CUDAL2_RUN_SUPERVISOR_H
#define CUDAL2_RUN_SUPERVISOR_H

#include "record/record.h"
#include "run/run_spec.h"

struct cell_request;
struct warm;

/* Who decides what a run does beyond measuring its plan: the tuner, whose spec has `search`. Every member is called in
 * the supervisor's process and may fail, which ends the run. */
struct run_director {
    void *context;
    /* A worker is up; env is its environment. Before the first cell, and after every restart. */
    int (*ready)(void *context, const cJSON *env, struct error *err);
    /* Completes the request for a cell (search, finalists: worker/cell.h). What it points to must live until the cell's
     * record is in the journal. */
    int (*request)(void *context, struct cell_request *request, struct error *err);
    /* Takes result_write's place: makes `output` from the journal. */
    int (*write)(void *context, const char *journal_path, const char *output, struct error *err);
};

/* What a caller may show while the run goes on. Any member may be NULL. */
struct run_observer {
    void *context;
    void (*started)(void *context, size_t n_cells, size_t already_done);
    void (*cell)(void *context, const struct cell_record *record, size_t done, double eta_seconds);
    void (*stage)(void *context, int worker, const char *cell_key, const char *contender, const char *stage);
    void (*note)(void *context, const char *line); /* a worker was replaced, and why */
};

/* Who takes part in a run beside its workers. Any member may be NULL. */
struct run_hooks {
    const struct run_director *director;
    /* Asked with the environment of a worker before it is given a cell; what it refuses ends the run. */
    int (*admit)(void *context, const cJSON *env, struct error *err);
    void *admit_context;
    const struct run_observer *observer;
    /* Who asks for an end. A signal handler stores the signal's number there, and its negative when a second signal
     * comes:
     *   positive  the cells in flight are finished, the journal is closed cleanly
     *   negative  the workers are killed; the cells in flight are lost and measured again by --resume */
    const volatile int *stop;
    /* A worker that this run may take over and leaves behind for the next one (warm_begin first; one device). */
    struct warm *warm;
    struct warm *watcher; /* the same for who watches: warm->watcher, or NULL where he is to be new */
    /* Where the time went, as the journal's last line has it (`time_spent`): the caller's; NULL when the run did not
     * come to its end. */
    cJSON **spent;
};

/* Runs to the end, or until hooks->stop becomes non-zero or the budget is spent: EXIT_CODE_INTERRUPTED (INT) or
 * EXIT_CODE_TEMPORARY (TERM, budget) then comes back with a line that says how to go on.
 *
 * A worker that dies, hangs or loses its device is replaced; the contender that was running is left out of that cell
 * and recorded; one that did it in three cells of the run is left out of the rest. A cell in which the harness itself
 * dies twice is recorded as failed. A run of which every worker fails to start three times in a row ends with the last
 * reason.
 *
 * Writes the result from the journal in every case where at least one cell is there, and leaves no journal without one.
 * A run in which every cell was measured returns 0, EXIT_CODE_VERIFICATION when a contender's result was wrong, or else
 * EXIT_CODE_INCOMPARABLE when a cell failed. */
int run_supervise(const struct run_spec *spec, const struct run_hooks *hooks, struct error *err);

#endif
