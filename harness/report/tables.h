/*
 * tables.h - the tables of the paper (section 4) from a dataset.
 */
#ifndef CUDAL2_REPORT_TABLES_H
#define CUDAL2_REPORT_TABLES_H

#include "report/dataset.h"
#include "report/sheet.h"

#define TABLES_FIRST 1
#define TABLES_LAST 3

/* Receives finished sheets one by one; the sheet stays the caller's. Non-zero ends the making. */
typedef int (*sheet_sink)(void *context, int table, const struct sheet *sheet);

/* Table 1: for each source, candidate and number format, a row for each baseline and for both modes mean, wins, median,
 * standard deviation, geometric mean and 95% interval of the mean. With both sources one more sheet sets claimed
 * next to measured. Table 2: the mean of max(candidate, baseline) over the baseline. Table 3: speedup over the
 * strongest baseline by size: log2(MNK), mean dimension, largest dimension.
 * Returns 0, or what the sink returned. */
int tables_make(const struct dataset *d, int table, sheet_sink sink, void *context);

#endif
