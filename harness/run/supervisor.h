/*
 * supervisor.h - runs a plan over worker processes, one per device, and keeps the journal. Never touches a device
 * itself.
 */
#ifndef CUDAL2_RUN_SUPERVISOR_H
#define CUDAL2_RUN_SUPERVISOR_H

#include "config/config.h"
#include "result/record.h"

struct run_options {
    const struct config *config;
    const char *config_path;
    const char *device; /* "auto", "cpu", "cuda", "cuda:N" or "cuda:0,1,2" */
    const char *output; /* result.json; the journal is output with .journal.jsonl for .json */
    bool resume;
    int argc;
    char *const *argv;                               /* for the record */
    const char *plugin_directory, *kernel_directory; /* NULL: defaults */
};

/* What a caller may show while the run goes on. Any member may be NULL. */
struct run_observer {
    void *context;
    void (*started)(void *context, size_t n_cells, size_t already_done);
    void (*cell)(void *context, const struct cell_record *record, size_t done, double eta_seconds);
    void (*stage)(void *context, int worker, const char *cell_key, const char *contender, const char *stage);
    void (*note)(void *context, const char *line); /* a worker was replaced, and why */
};

/* Runs to the end, or until `*stop` becomes non-zero (a signal handler's flag, the signal number): then the cells in
 * flight are finished, the journal is closed cleanly and 128+signal (INT) or EXIT_CODE_TEMPORARY (TERM) comes back.
 * Writes the result from the journal in every case where at least one cell is there. */
int run_supervise(const struct run_options *options, const struct run_observer *observer, const volatile int *stop,
                  struct error *err);

#endif
