/*
 * starting.h - what a worker is told when it starts, from a run's spec.
 */
#ifndef CUDAL2_RUN_STARTING_H
#define CUDAL2_RUN_STARTING_H

#include "run/plan.h"
#include "run/run_spec.h"
#include "worker/protocol.h"

/* What every worker of the run is told, but for who was refused before (refusals_tell). Nothing in it is owned: config
 * and spec must outlive it. `checking`: the worker is only asked what it is. Not by value: it is large, and stacks
 * may be small. */
void starting_request(const struct run_spec *spec, cJSON *config, bool checking, struct start_request *out);

/* start_request.order: the shapes of the plan's cells that are not done, in the order `cells` of its cells. Owned by
 * the caller; NULL out of memory. */
cJSON *starting_order(const struct config *config, const struct plan *plan, const size_t *cells, const bool *done);

/* What follows `worker` on its command line, NULL-terminated: `at`, or `wary` where the device must have opened in a
 * trial before it enters anything (settle.h); its device, what it is there for, and the files and directories that it
 * must be able to read whoever it is by then. Strings are the request's, or constant. */
#define STARTING_ARGUMENTS (6 + 3 * (CONFIG_NAMES_MAX + 1))
void starting_arguments(const struct start_request *start, const char *device, bool wary,
                        const char *out[STARTING_ARGUMENTS]);

#endif
