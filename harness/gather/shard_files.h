/*
 * shard_files.h - the journals of a sharded run: found in directories or named one by one, each with what its first
 * line says, and checked to be of one run.
 */
#ifndef CUDAL2_GATHER_SHARD_FILES_H
#define CUDAL2_GATHER_SHARD_FILES_H

#include "base/text.h"
#include "run/shard_record.h"

#include <stdio.h>

struct shard_file {
    char *path; /* owned */
    struct shard shard;
    size_t n_cells, n_whole; /* planned: of the shard, the sentinel included; of the whole */
    char plan_hash[DIGEST_HEX], hash[DIGEST_HEX], sentinel[RECORD_KEY_MAX];
    bool complete; /* it has its end */
    bool search;
};

struct shard_files {
    struct shard_file *list; /* by index; of one index the complete ones first, then by path */
    size_t n, capacity;
};

/* All journals of shards among the operands (shard_paths.h); what is no shard's is passed over in a directory. `notes`
 * (NULL: nobody) is told of journals without a first line. EXIT_CODE_DATA for what cannot be read, for a named journal
 * that is no shard's, and when there is none. *out is to be freed in every case. */
int shard_files_find(const char *const *operands, FILE *notes, struct shard_files *out, struct error *err);
void shard_files_free(struct shard_files *files);

/* EXIT_CODE_DATA, naming two journals, unless all are of one plan and one cut. */
int shard_files_check(const struct shard_files *files, struct error *err);

/* The journal to take for a shard: the first complete one; NULL when there is none. */
const struct shard_file *shard_files_of(const struct shard_files *files, unsigned index);

/* "1,4-6": the shards without a complete journal, as Slurm's --array takes them; how many. */
size_t shard_files_missing(const struct shard_files *files, struct text *out);

#endif
