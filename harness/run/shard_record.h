/*
 * shard_record.h - what a shard's journal says of its shard: the member `shard` of its `run` line, the node in each
 * `sitting`; written by the run, read by merge and watch (gather/).
 */
#ifndef CUDAL2_RUN_SHARD_RECORD_H
#define CUDAL2_RUN_SHARD_RECORD_H

#include "run/run_spec.h"

/* {"index","count","hash","sentinel","cells","search","places":[...],"cost_us":[...]}: `cells` is how many the whole
 * plan has, `places` where this shard's are in it, in the order of the run's `plan`. Owned by the caller. */
cJSON *shard_record_json(const struct run_spec *spec, const struct shard_cut *cut, const struct plan *plan);

/* Adds the name of this machine. */
void shard_record_node(cJSON *sitting);

/* Whether a journal's `run` line is of this shard and this cut; EXIT_CODE_DATA with what differs. */
int shard_record_check(struct json_at run, const struct shard *shard, const struct shard_cut *cut, struct error *err);

/* The member as it was read; strings point into the tree. */
struct shard_head {
    struct shard shard;
    const char *plan_hash, *hash, *sentinel;
    size_t n_whole, n_cells;              /* of the whole plan; of this shard, the sentinel included */
    const cJSON *plan, *places, *cost_us; /* arrays of n_cells */
    bool search;
};

/* Of a `run` line. *is_shard is false, and 0 returned, when it has no `shard`. Strict: EXIT_CODE_DATA with the path. */
int shard_record_read(struct json_at run, bool *is_shard, struct shard_head *out, struct error *err);

#endif
