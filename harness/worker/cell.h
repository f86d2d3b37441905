/*
 * cell.h - conducts one cell: operands -> verify -> tune -> measure -> record. Runs in the worker that owns the device.
 */
#ifndef CUDAL2_WORKER_CELL_H
#define CUDAL2_WORKER_CELL_H

#include "config/config.h"
#include "contender/contender.h"
#include "result/record.h"

/* A contender that must be left out because an earlier try of this cell died in it. */
struct exclusion {
    char name[RECORD_NAME_MAX];
    char status[32]; /* crash, hang, cuda_error */
    char stage[16];
    char reason[RECORD_REASON_MAX];
};

#define CELL_MAX_EXCLUSIONS RECORD_MAX_CONTENDERS

struct cell_request {
    struct cudal2_problem problem;
    enum mode mode;
    char label[RECORD_NAME_MAX];
    uint64_t seed;
    struct exclusion exclusions[CELL_MAX_EXCLUSIONS];
    size_t n_exclusions;
};

/* Tells the supervisor what is about to happen, so that a crash or hang has an owner: contender name ("" for the
 * harness itself), stage and how long it may take before it counts as hung. */
typedef void (*stage_reporter)(void *context, const char *contender, const char *stage, double deadline_seconds);

struct cell_context {
    const struct config *config;
    struct device *device;
    struct registry *registry;
    int worker;
    stage_reporter report;
    void *report_context;
};

/* *out is owned by the caller (record_free). Contender faults are in the record and return 0; a non-zero return means
 * the device or the harness itself cannot go on (EXIT_CODE_UNAVAILABLE: sticky error; err names the contender that was
 * running in its text) and the worker must end. */
int cell_conduct(const struct cell_context *context, const struct cell_request *request, struct cell_record **out,
                 struct error *err);

#endif
