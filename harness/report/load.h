/*
 * load.h - results and journals from files, merged into one result tree that tables, page and exports read.
 */
#ifndef CUDAL2_REPORT_LOAD_H
#define CUDAL2_REPORT_LOAD_H

#include "base/json.h"

#include <stdbool.h>
#include <stdio.h>

struct load_request {
    const char *const *paths; /* as source.h finds them */
    size_t n;
    bool mixed;  /* accept different devices or drivers */
    FILE *notes; /* where a line goes about a result that does not agree with the journal beside it; NULL: nowhere */
    bool exact;  /* words stay as they are, for who hands the tree on as JSON; else what does harm is written out */
};

/* One file gives its result as it is, or that of the journal beside it when the run has gone on (beside.h). Several
 * give one tree of the same schema: cells in the order of the files (their `env` indices shifted), env[] appended,
 * summary as summaries.h says, `run` with the sums, `runs[]` with each file's own and `files[]` with each one's path
 * and number of cells. *out is owned by the caller. EXIT_CODE_DATA: not a result, a cell in two files, other device or
 * driver.
 */
int load_results(const struct load_request *request, cJSON **out, struct error *err);

/* The file that a cell of a tree of several is from; NULL in a tree of one. */
const char *load_file_of(const cJSON *result, const cJSON *cell);

#endif
