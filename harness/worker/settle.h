/*
 * settle.h - a worker's first steps, before it opens its device.
 */
#ifndef CUDAL2_WORKER_SETTLE_H
#define CUDAL2_WORKER_SETTLE_H

#include "worker/confine.h"

/* The arguments of the command `worker`: `at|wary DEVICE timing|watching PATH...`, `in ...`. Namespaces are tried in a
 * child; with `wary` the device must open there too, which takes a GPU as long as a start. Returns in the process that
 * goes on. */
void settle(struct confinement *c, char *const arguments[]);

/* What a contender prints on stdout goes nowhere, and nothing it starts may inherit our descriptors. */
void settle_descriptors(void);

#endif
