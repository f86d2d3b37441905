/*
 * shard_paths.h - from what `merge` and `watch` are given to the paths of journals.
 */
#ifndef CUDAL2_GATHER_SHARD_PATHS_H
#define CUDAL2_GATHER_SHARD_PATHS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct shard_path {
    char *path; /* owned */
    bool named; /* by the user, and not found in a directory */
};

struct shard_paths {
    struct shard_path *list;
    size_t n, capacity;
};

/* Of each operand, in their order: a directory stands for every *.journal.jsonl in it, by name; "x.json" for the
 * shards that --output x.json has; anything else is a journal. EXIT_CODE_DATA for a directory that cannot be read.
 * *out is to be freed in every case. */
int shard_paths_list(const char *const *operands, struct shard_paths *out, struct error *err);
void shard_paths_free(struct shard_paths *paths);

#endif
