/*
 * report.h - `cudal2-bench report`: the paper's tables and the numbers of its figures, one HTML page, from results,
 * journals and published CSVs.
 */
#ifndef CUDAL2_REPORT_REPORT_H
#define CUDAL2_REPORT_REPORT_H

#include "base/error.h"
#include "report/formats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPORT_FORMAT_ID(id, ...) REPORT_##id,
enum report_format { REPORT_FORMATS(REPORT_FORMAT_ID) REPORT_FORMAT_COUNT };
extern const char *const report_format_names[]; /* "text", "google-benchmark", ...; NULL-terminated */

struct report_request {
    const char *const *results; /* as source.h finds them */
    size_t n_results;
    const char *const *published; /* CSV files of the CUDA-L2 authors */
    size_t n_published;
    enum report_format format;
    int table;          /* TABLES_FIRST to TABLES_LAST, or 0 for all */
    const char *timing; /* one of timing_names; NULL: each cell's headline */
    const char
        *between; /* what another run says of the speedups (compare/agree.h), a note of tables; NULL or "": nothing */
    bool mixed;   /* accept results of different devices or drivers */
    const char *output; /* directory for table1.md, ... (made if need be); NULL: everything to stream */
    FILE *stream;
    FILE *notes; /* as load.h has it */
};

/* EXIT_CODE_DATA: not a result, duplicate cells, mixed devices, nothing to report; EXIT_CODE_CANTCREATE and
 * EXIT_CODE_IO for the output; EXIT_CODE_INCOMPARABLE: no cell was measured; EXIT_CODE_USAGE: neither results nor
 * published files, a table that does not exist, several sources for REPORT_RESULT, a format that cannot be made of what
 * was given. */
int report_main_from(const struct report_request *request, struct error *err);

#endif
