/*
 * time_tables.h - Tables 5 and 6: what speedups come to where the times of shapes count, and what the slowest launches
 * from idle take. Made of a result by analysis/by_time.h. Called by tables.c and the screen.
 */
#ifndef CUDAL2_REPORT_TIME_TABLES_H
#define CUDAL2_REPORT_TIME_TABLES_H

#include "report/tables.h"

/* Table 5: for each group of cells and whole candidate a row for each whole baseline and class of the baseline's time
 * (all classes first), in each cell's headline timing. Table 6: for each group in server mode a row for each baseline,
 * with the leads at the 50th, 95th and 99th percentile of single launches; a result file has no 99th, its journal has.
 * What has no times gets no table. Returns 0, or what the sink returned. */
int time_tables_make(const struct result *result, int number, table_sink sink, void *context);

/* Table 5 of the group of `like` over the one baseline that its first candidate leads least; without rows where there
 * is none. *out, zeroed before, is the caller's (table_free). */
void time_table_hardest(const struct result *result, const struct result_cell *like, struct table *out);

/* Table 6 of the group of `like` and its first candidate; without rows where the mode is another. *out likewise. */
void time_table_launches(const struct result *result, const struct result_cell *like, struct table *out);

#endif
