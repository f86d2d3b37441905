/*
 * preflight.h - whether a run can measure anything on this device, asked once, before a thousand cells fail one by one.
 */
#ifndef CUDAL2_WORKER_PREFLIGHT_H
#define CUDAL2_WORKER_PREFLIGHT_H

#include "contender/contender.h"

struct preflight_question {
    const struct registry *registry;
    const struct device_info *device;
    enum cudal2_dtype dtype;
    uint32_t accumulates; /* of the run's cells */
};

/* EXIT_CODE_UNAVAILABLE when no contender can multiply the dtype in any of the accumulate types here; one line that
 * says of each family why not. Sizes are not asked about. */
int preflight_check(const struct preflight_question *question, struct error *err);

/* EXIT_CODE_UNAVAILABLE when no candidate that can multiply here has variants to choose among: a search would measure
 * all its problems and end without an entry. One line that says of each candidate why not. */
int preflight_search_check(const struct preflight_question *question, struct error *err);

#endif
