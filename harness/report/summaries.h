/*
 * summaries.h - the summary of several results together.
 *
 * A result file has the speedups of each cell in its headline timing only; of the others (event, wall) it keeps the
 * summary. So where all cells of one mode, dtype and accumulate type are in one result, its summary's rows are kept;
 * rows of cells that are spread over several results (shards) are computed anew, from what the cells still have.
 */
#ifndef CUDAL2_REPORT_SUMMARIES_H
#define CUDAL2_REPORT_SUMMARIES_H

#include "base/json.h"

/* Rows to keep, from results that still have their cells; owned by the caller. NULL out of memory. */
cJSON *summaries_to_keep(cJSON *const *results, size_t n);

/* The summary of all cells with the kept rows (taken over, NULL counts as out of memory) in place of the new ones.
 * Owned by the caller; NULL out of memory. */
cJSON *summaries_merge(const cJSON *cells, cJSON *kept);

#endif
