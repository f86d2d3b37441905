/*
 * contender_table.h - Table 8: what each contender raced before the blocks, took of energy and showed of its bits.
 * Called by tables.c.
 */
#ifndef CUDAL2_REPORT_CONTENDER_TABLE_H
#define CUDAL2_REPORT_CONTENDER_TABLE_H

#include "report/tables.h"

/* One table for each mode and number format, a row for each contender that has something of that kind to tell; a kind
 * that nobody has takes no column where readers look. Nothing for a result without any. Returns 0, or what the sink
 * returned. */
int contender_table_make(const struct result *result, table_sink sink, void *context);

#endif
