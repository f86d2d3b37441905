/*
 * merge.h - several results as one.
 *
 * A result file has the speedups of each cell in its headline timing only; of the others (event, wall) it keeps the
 * summary. So where all cells of one mode, dtype and accumulate type are in one result, its summary's rows are kept;
 * rows of cells that are spread over several results (shards) are computed anew, from what the cells still have.
 */
#ifndef CUDAL2_RESULT_MERGE_H
#define CUDAL2_RESULT_MERGE_H

#include "result/result.h"

/* One result of n: cells in the order of the parts (their `env` shifted), env[] appended, `run` with the sums, runs[]
 * with each part's own, files[] with its path and number of cells. The parts are taken over and set to NULL, unless
 * there is no room for them; paths[] must outlive *out. EXIT_CODE_INTERNAL out of memory. */
int result_merge(struct result **parts, const char *const *paths, size_t n, struct result **out, struct error *err);

#endif
