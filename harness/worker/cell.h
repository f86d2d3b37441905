/*
 * cell.h - conducts one cell: operands -> verify -> tune -> measure -> record. Runs in the worker that owns the device.
 */
#ifndef CUDAL2_WORKER_CELL_H
#define CUDAL2_WORKER_CELL_H

#include "config/config.h"
#include "contender/contender.h"
#include "device/activity.h"
#include "measure/bench.h"
#include "record/record.h"

/* A contender that must be left out because an earlier try of this cell died in it; with a variant's tag in the stage
 * ("tune:1a2b3c") only that variant is. */
struct exclusion {
    char name[RECORD_NAME_MAX];
    enum verdict verdict; /* crash, hang, cuda_error */
    char stage[16];
    char reason[RECORD_REASON_MAX];
};

/* 32 hex digits and a NUL. */
#define CELL_NONCE 33

#define CELL_MAX_EXCLUSIONS RECORD_MAX_CONTENDERS

struct cell_request {
    struct cudal2_problem problem;
    enum mode mode;
    char label[RECORD_NAME_MAX];
    uint64_t seed;
    char nonce[CELL_NONCE]; /* what the record of this cell must carry */
    struct exclusion exclusions[CELL_MAX_EXCLUSIONS];
    size_t n_exclusions;
    /* The tuner's part; NULL for a measurement. Contender name, or "*" for any other candidate: keys to race, or null
     * for its own. Borrowed. */
    const cJSON *search;
    unsigned finalists; /* with search: how many of a contender's variants go on from its race to the blocks */
    /* NULL, or the contenders that an audit worker is to watch (worker/audit.h): nothing is timed then. Borrowed. */
    const cJSON *audit;
};

/* The places behind the winner are contenders of their own: "cudal2-nn+2", "cudal2-nn+3". */
#define CELL_MAX_FINALISTS 4

struct cell_context {
    const struct config *config;
    const struct tuned_tables *tuned; /* NULL: none */
    struct ranker *ranker;            /* NULL: no model's choice */
    struct device *device;
    struct registry *registry;
    int worker;
    double waited_seconds; /* for the cell's kernels, just before: part of its setup */
    const char *identity;  /* names GPU, driver and libraries: part of the key under which race winners are cached */
    const char *library_identity; /* kernel sets left out; NULL: as above */
    stage_reporter report;
    void *report_context;
    struct host_threads *threads; /* of the process; NULL: nobody asks whose they are */
    struct cpu_filled *filled;    /* where it is told what may not change; NULL: nobody asks */
    struct watcher *watcher;      /* of an audit worker; else NULL */
    struct audit_memory *kept;    /* between its cells (worker/audit.h); NULL: each takes memory of its own */
    bool profile;                 /* an audit has each launched once for a profiler, instead of watched */
};

/* *out is owned by the caller (record_free). Contender faults are in the record and return 0; a non-zero return means
 * the device or the harness itself cannot go on (EXIT_CODE_UNAVAILABLE: sticky error; err names the contender that was
 * running in its text) and the worker must end. */
int cell_conduct(const struct cell_context *context, const struct cell_request *request, struct cell_record **out,
                 struct error *err);

#endif
