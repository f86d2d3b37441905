/*
 * summary.h - the run in a few dozen lines, from the cells of a result: what tables and screen show first.
 */
#ifndef CUDAL2_RESULT_SUMMARY_H
#define CUDAL2_RESULT_SUMMARY_H

#include "result/result.h"

/* The summary of n cells, rounded as a file has it. Its texts are the cells' and must not outlive them; its lists are
 * owned by the caller (result_free_summary in fields.h), also after false: out of memory. */
bool summary_of(const struct result_cell *cells, size_t n, struct result_summary *out);

/* As a result has it; owned by the caller, NULL out of memory. */
cJSON *summary_to_json(const struct result_summary *s);

#endif
