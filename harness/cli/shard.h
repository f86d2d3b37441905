/*
 * shard.h - which shard of a run this process is: what --shard says, or else what the scheduler that started it put
 * into the environment.
 */
#ifndef CUDAL2_CLI_SHARD_H
#define CUDAL2_CLI_SHARD_H

#include "cli/options.h"
#include "cli/run_config.h"
#include "run/run_spec.h"

typedef const char *(*shard_lookup)(const char *name); /* getenv, or a test's */

/* The first of these that is there; out->count is 0 when none is, or for "none":
 *   --shard I/N or none
 *   CUDAL2_SHARD, the same
 *   SLURM_ARRAY_TASK_ID with CUDAL2_SHARDS, or else of an array 0-(N-1) in steps of 1
 *   JOB_COMPLETION_INDEX with CUDAL2_SHARDS (a Kubernetes Indexed Job)
 *   SLURM_PROCID of SLURM_NTASKS, in a step of several tasks (srun)
 *   OMPI_COMM_WORLD_RANK of OMPI_COMM_WORLD_SIZE, if there are several
 * *source names it. EXIT_CODE_USAGE for anything else than I/N with I < N. */
int shard_resolve(const char *option, shard_lookup lookup, struct shard *out, const char **source, struct error *err);

/* The shard of this process, told on stderr. A shard is not to be measured on the CPU because its task got no GPU:
 * EXIT_CODE_TEMPORARY when none is visible, unless --device cpu asks for that. */
int shard_open(const struct options *options, struct shard *out, struct error *err);

/* Makes a shard's run of the spec: names of its files, always resumed, patient with locks. Nothing for count 0. */
int shard_apply(const struct shard *shard, struct run_spec *spec, struct error *err);

#endif
