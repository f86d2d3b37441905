/*
 * claimed.h - what the authors of CUDA-L2 published, next to what was measured here: which GPU, which timing and which
 * cache state each side is of, because they differ.
 */
#ifndef CUDAL2_REPORT_CLAIMED_H
#define CUDAL2_REPORT_CLAIMED_H

#include "report/tables.h"

/* A table for each measured group that has a claimed one of its accumulate type. Returns 0, or what the sink did. */
int claimed_make(const struct dataset *d, table_sink sink, void *context);

#endif
