/*
 * stage.h - the verification stage of a cell: what every entrant must pass before any of its times counts.
 *
 *   exact match   {0,1} inputs, several seeds (exact.h)                  wrong_result
 *   deviation     N(0,1) inputs, bounded by the baselines' (deviation.h) wrong_result
 *   class         billed f32, accumulates in 16 bits: by the error       precision_class
 *                 profile, and where that leaves it open by the
 *                 instructions of the kernel (instructions.h)
 *
 * Baselines go through the same, but set the bounds of deviation instead of being held against them.
 */
#ifndef CUDAL2_VERIFY_STAGE_H
#define CUDAL2_VERIFY_STAGE_H

#include "measure/race.h"

/* Checks every living entrant on fresh inputs, except those that passed before (verified.h). An entrant whose raced
 * variant is wrong falls back to the next in its ranking (races[i] belongs to bench->entrants[i]) and is checked again;
 * one without another variant fails, or with config->time_anyway stays in the race marked invalid. Winners that passed
 * are remembered. Fills the record's verification and deviations. Leaves other inputs in the operands than it found.
 * Non-zero only when the worker must end. */
int verify_entrants(struct bench *bench, struct race_result *races, struct error *err);

/* For verify_only, instead of a race: every variant that the entrant's contender lists, in its own order. A candidate's
 * are then all verified, and one that fails fails the candidate. The entrant fails when it lists none. Non-zero only
 * without memory. */
int verify_list_variants(struct bench *bench, struct entrant *entrant, struct race_result *out, struct error *err);

/* Device memory that the stage takes for a problem, beside the operands. */
uint64_t verify_bytes(const struct cudal2_problem *problem);

#endif
