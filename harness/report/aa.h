/*
 * aa.h - what racing a contender against its own copy says about the measurement: a table beside Table 1.
 */
#ifndef CUDAL2_REPORT_AA_H
#define CUDAL2_REPORT_AA_H

#include "report/tables.h"

/* One row for each mode, timing and copied contender of the result's summary; no table without copies. */
int aa_make(const struct result *result, table_sink sink, void *context);

#endif
