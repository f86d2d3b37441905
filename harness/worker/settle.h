/*
 * settle.h - a worker's first steps, before it opens its device.
 */
#ifndef CUDAL2_WORKER_SETTLE_H
#define CUDAL2_WORKER_SETTLE_H

#include "worker/confine.h"

/* The arguments of the command `worker`: `at DEVICE timing|watching PATH...`, `in ...`. Returns in the process that
 * goes on. */
void settle(struct confinement *c, char *const arguments[]);

/* What a contender prints on stdout goes nowhere, and nothing it starts may inherit our descriptors. */
void settle_descriptors(void);

#endif
