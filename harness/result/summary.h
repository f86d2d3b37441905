/*
 * summary.h - the run in a few dozen lines, from the cells of a result tree: what tables and screen show first.
 */
#ifndef CUDAL2_RESULT_SUMMARY_H
#define CUDAL2_RESULT_SUMMARY_H

#include "base/json.h"

/* The summary object of an array of result cells, owned by the caller; NULL out of memory. */
cJSON *summary_of(const cJSON *cells);

#endif
