/*
 * merge_run.h - the first line of a merged journal: the run as it would be had it not been cut. Private to gather/.
 */
#ifndef CUDAL2_GATHER_MERGE_RUN_H
#define CUDAL2_GATHER_MERGE_RUN_H

#include "gather/shard_files.h"

/* Of complete shards that shard_files_check has passed; owned by the caller. Reads every first line again, and proves
 * that the shards' parts are the whole plan, each cell once: EXIT_CODE_DATA otherwise. Without "plan" where that would
 * be longer than a line may be; the cells are then listed by key. */
int merge_run_line(const struct shard_files *files, cJSON **out, struct error *err);

#endif
