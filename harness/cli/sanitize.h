/*
 * sanitize.h - runs this program again under NVIDIA's compute-sanitizer, bounded in time.
 */
#ifndef CUDAL2_CLI_SANITIZE_H
#define CUDAL2_CLI_SANITIZE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SANITIZE_SECONDS 300.0

enum sanitize_outcome {
    SANITIZE_CLEAN,
    SANITIZE_ERRORS,
    SANITIZE_TIMEOUT,
    SANITIZE_MISSING, /* no compute-sanitizer here */
    SANITIZE_FAILED   /* the program under it did not come to its end */
};
extern const char *const sanitize_outcome_names[]; /* "clean", "errors", "timeout", "missing", "failed" */

struct sanitize_request {
    const char *tool;             /* "memcheck" or "racecheck" */
    const char *const *arguments; /* of this program, without its name; NULL-terminated */
    const char *directory;        /* for the log */
    double seconds;
};

struct sanitize_result {
    enum sanitize_outcome outcome;
    long errors;
    char text[512]; /* one line: the first finding, or why there is none to be had */
};

/* Where compute-sanitizer is: on PATH, or in CUDA_HOME, or where the toolkit puts itself. */
bool sanitize_find(char *out, size_t capacity);

/* The result's outcome says everything; non-zero only when no process can be started. */
int sanitize_run(const struct sanitize_request *request, struct sanitize_result *out, struct error *err);

/* What a log of compute-sanitizer says: number of errors or hazards (-1: it has no summary) and the first finding in
 * text[capacity], "" without any. */
long sanitize_read_log(const char *log, char *text, size_t capacity);

#endif
