/*
 * table4.h - the paper's Table 4: how the candidate's parameters go with the size of the problem.
 */
#ifndef CUDAL2_REPORT_TABLE4_H
#define CUDAL2_REPORT_TABLE4_H

#include "report/tables.h"

/* For each mode, number format and candidate with recorded parameters: one table of Pearson and Spearman correlations
 * (sizes as log2), one of mean parameters by size class, the paper's classes of log2(MNK). */
int table4_make(const struct result *result, table_sink sink, void *context);

#endif
