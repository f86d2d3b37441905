/*
 * opening.h - a worker's device, and with it the recorder of one that watches.
 */
#ifndef CUDAL2_WORKER_OPENING_H
#define CUDAL2_WORKER_OPENING_H

#include "device/activity.h"
#include "device/device.h"
#include "worker/protocol.h"

/* Opens what start->device means; with start->gpu CUDA shows this process that GPU alone, as number 0. *watcher is left
 * alone unless start->audit. Both are the caller's, as far as they were opened, also after an error. */
int opening_device(const struct start_request *start, struct watcher **watcher, struct device **out, struct error *err);

/* The device's number among those of the run, in an environment: `device` counts what this process sees. */
void opening_number(const struct start_request *start, cJSON *environment);

/* Which CUPTI a watcher has, for an environment; owned by the caller. */
cJSON *opening_recorder(const struct watcher *watcher);

#endif
