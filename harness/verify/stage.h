/*
 * stage.h - the verification stage of a cell: every entrant must match exactly before any of its times counts.
 */
#ifndef CUDAL2_VERIFY_STAGE_H
#define CUDAL2_VERIFY_STAGE_H

#include "measure/race.h"

/* Checks every living entrant on config->verify_seeds fresh inputs. An entrant whose raced variant is wrong falls back
 * to the next in its ranking (races[i] belongs to bench->entrants[i]) and is checked again; one without another variant
 * fails with wrong_result. Winners that passed are remembered. Leaves binary inputs in the operands. Non-zero only when
 * the worker must end. */
int verify_entrants(struct bench *bench, struct race_result *races, struct error *err);

#endif
