/*
 * chain_table.h - Table 7: what a product adds to a chain, as one graph and as a stream of launches. Called by
 * tables.c.
 */
#ifndef CUDAL2_REPORT_CHAIN_TABLE_H
#define CUDAL2_REPORT_CHAIN_TABLE_H

#include "report/tables.h"

/* For each whole candidate and number format in mode chain a row for each baseline, with the statistics of Table 1 for
 * each way in which the chains were timed. Nothing for a result without chains. Returns 0, or what the sink returned.
 */
int chain_table_make(const struct result *result, table_sink sink, void *context);

#endif
