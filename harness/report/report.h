/*
 * report.h - `cudal2-bench report`: the paper's tables and the numbers of its figures, one HTML page, from results,
 * journals and published CSVs.
 */
#ifndef CUDAL2_REPORT_REPORT_H
#define CUDAL2_REPORT_REPORT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum report_format {
    REPORT_TEXT, /* the first five: tables */
    REPORT_MARKDOWN,
    REPORT_LATEX,
    REPORT_CSV,
    REPORT_JSON,
    REPORT_FIGURES, /* figure1.csv and so on: what scripts/figures.sh draws */
    REPORT_HTML,    /* report.html; from here on nothing can be made of published files alone */
    REPORT_BENCHER, /* the exports: one file each, exports.h */
    REPORT_GOOGLE,
    REPORT_GITHUB, /* two files */
    REPORT_PROMETHEUS,
    REPORT_MEDIANS,
    REPORT_SHAPES,
    REPORT_RESULT /* result.json: what the run itself would have made of its journal */
};
extern const char *const report_format_names[]; /* "text", "google-benchmark", ...; NULL-terminated */

struct report_request {
    const char *const *results; /* as source.h finds them */
    size_t n_results;
    const char *const *published; /* CSV files of the CUDA-L2 authors */
    size_t n_published;
    enum report_format format;
    int table;          /* 1 to 4, or 0 for all */
    const char *timing; /* "device", "event", "wall"; NULL: each cell's headline */
    bool mixed;         /* accept results of different devices or drivers */
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
