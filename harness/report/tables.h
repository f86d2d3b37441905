/*
 * tables.h - the tables of the paper (section 4) from a dataset.
 */
#ifndef CUDAL2_REPORT_TABLES_H
#define CUDAL2_REPORT_TABLES_H

#include "report/dataset.h"
#include "report/table.h"

#define TABLES_FIRST 1
#define TABLES_LAST 8

/* Receives finished tables one by one; the table stays the caller's. Non-zero ends the making. */
typedef int (*table_sink)(void *context, int number, const struct table *table);

/* Table 1: for each source, candidate and number format, a row for each baseline and for both modes mean, wins, median,
 * standard deviation, geometric mean and 95% interval of the mean. With both sources one more table sets claimed
 * next to measured, and one more has the A/A figures of the result. Table 2: the mean of max(candidate, baseline) over
 * the baseline. Table 3: speedup over cuBLASLt-AutoTuning-max, or the last of the paper's baselines there, by size:
 * log2(MNK), mean dimension, largest dimension. Where a mode's outcome allows no mean (outcome.h) there is none, a note
 * says why, and further columns have the counts. Table 4, from the result alone (NULL: no tables): which parameters won
 * where, as table4.h has it. Tables 5 and 6, likewise: time_tables.h; Table 7: chain_table.h; Table 8:
 * contender_table.h. Returns 0, or what the sink returned. */
int tables_make(const struct dataset *d, const struct result *result, int number, table_sink sink, void *context);

#endif
