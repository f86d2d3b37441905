/*
 * merge.h - one journal of the journals of all shards, as if one run had measured the whole plan: each cell once, and
 * each worker start (env) with the shard and the node that it was on. `report`, `compare` and `--resume` read it like
 * any other.
 */
#ifndef CUDAL2_GATHER_MERGE_H
#define CUDAL2_GATHER_MERGE_H

#include "gather/sentinel.h"
#include "gather/shard_files.h"

#include <limits.h>

struct merge_request {
    const char *const *sources; /* outputs, directories and journals, NULL-terminated */
    const char *output;         /* result.json, the journal beside it; NULL: the shards' name without their ending */
    FILE *notes;                /* duplicates, torn lines, journals passed over; NULL: nobody is told */
    bool mixed;                 /* devices, drivers and libraries may differ */
};

struct merge_outcome {
    size_t n_cells, n_missing;
    unsigned n_shards;
    bool search;                   /* of `tune`: there is a table to be made, and no result */
    struct text missing;           /* "1,4-6" */
    char sentinel[RECORD_KEY_MAX]; /* its key */
    struct sentinels sentinels;    /* rated */
    char journal[PATH_MAX], output[PATH_MAX];
};

/* Checks that the shards are of one cut of one plan and all complete, then writes the journal (by rename): first `run`,
 * then shard by shard what each journal has, one at a time in memory. A pure function of the journals that it takes: of
 * one shard's several the first complete one, by path. An existing journal is replaced only if it was merged itself.
 * EXIT_CODE_INCOMPARABLE with out->missing when shards are missing; EXIT_CODE_DATA when journals do not belong
 * together. *out is to be freed in every case. */
int merge_shards(const struct merge_request *request, struct merge_outcome *out, struct error *err);
void merge_outcome_free(struct merge_outcome *out);

#endif
