/*
 * shard.h - a plan cut into shards, one for each task of a cluster: every task cuts alike, from the plan alone, and
 * measures its own part. One cell, the sentinel, is measured by every shard, so that hosts can be set beside each
 * other. It counts as a cell of shard 0.
 */
#ifndef CUDAL2_RUN_SHARD_H
#define CUDAL2_RUN_SHARD_H

#include "record/record.h"
#include "run/plan.h"

#define SHARD_MAX 65536u
#define SHARD_LOCK_SECONDS 120.0 /* how long a shard waits for a journal or a GPU that an older task still holds */

/* Which part of how many; count 0: the whole plan. */
struct shard {
    unsigned index, count;
};

/* What all shards of one cut share. */
struct shard_cut {
    char hash[DIGEST_HEX]; /* of the whole plan and of who measures what */
    char sentinel[RECORD_KEY_MAX];
    size_t n_whole; /* cells of the whole plan */
};

/* Leaves in *plan the shard's cells, in plan order behind the sentinel; plan->hash stays that of the whole. Longest
 * processing time first, by modelled cost in whole microseconds: the same program cuts alike on every host.
 * EXIT_CODE_INTERNAL out of memory. */
int shard_take(struct plan *plan, const struct shard *shard, struct shard_cut *cut, struct error *err);

/* Modelled cost of a cell as the cut counts it. */
uint64_t shard_cost_us(const struct plan_cell *cell);

#endif
