/*
 * load.h - results and journals from files, as one result that tables, page and exports read.
 */
#ifndef CUDAL2_REPORT_LOAD_H
#define CUDAL2_REPORT_LOAD_H

#include "result/result.h"

#include <stdbool.h>
#include <stdio.h>

struct load_request {
    const char *const *paths; /* as source.h finds them */
    size_t n;
    bool mixed;  /* accept different devices or drivers */
    FILE *notes; /* where a line goes about a result that does not agree with the journal beside it; NULL: nowhere */
    bool exact;  /* words stay as they are, for who hands them on as JSON; else what does harm is written out */
};

/* One file gives its result as it is, or that of the journal beside it when the run has gone on (journal_freshness.h).
 * Several give one result (result/merge.h); the request's paths must outlive it. *out is owned by the caller
 * (result_free). EXIT_CODE_DATA: not a result, a cell in two files, other device or driver. */
int load_results(const struct load_request *request, struct result **out, struct error *err);

/* The file that a cell of a result of several is from; NULL in one of one. */
const char *load_file_of(const struct result *result, const struct result_cell *cell);

#endif
