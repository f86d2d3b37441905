/*
 * starting.h - what a worker is told when it starts, from a run's spec.
 */
#ifndef CUDAL2_RUN_STARTING_H
#define CUDAL2_RUN_STARTING_H

#include "run/run_spec.h"
#include "worker/protocol.h"

/* What every worker of the run is told, but for who was refused before (refusals_tell). Nothing in it is owned: config
 * and spec must outlive it. `checking`: the worker is only asked what it is. Not by value: it is large, and stacks
 * may be small. */
void starting_request(const struct run_spec *spec, cJSON *config, bool checking, struct start_request *out);

#endif
