/*
 * starting.h - what a worker is told when it starts, from a run's options.
 */
#ifndef CUDAL2_RUN_STARTING_H
#define CUDAL2_RUN_STARTING_H

#include "run/slot.h"
#include "run/supervisor.h"

/* The program that a worker runs: this one, unless a test names another. */
const char *starting_program(const struct run_options *options);

/* What every worker of the run is told, but for who was refused before (refusals_tell). Nothing in it is owned: config
 * and options must outlive it. `checking`: the worker is only asked what it is. Not by value: it is large, and stacks
 * may be small. */
void starting_request(const struct run_options *options, cJSON *config, bool checking, struct start_request *out);

#endif
