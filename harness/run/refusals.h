/*
 * refusals.h - what the next worker of a run is to do without, because the last one died of it while it started:
 * plugins that are loaded no more, and the compiling of all kernels at once.
 */
#ifndef CUDAL2_RUN_REFUSALS_H
#define CUDAL2_RUN_REFUSALS_H

#include "base/text.h"
#include "run/slot.h"

struct refusals {
    struct exclusion plugins[START_MAX_REFUSED];
    size_t n_plugins;
    bool one_by_one;    /* the compiler took a worker with it: kernels are compiled where somebody is to blame */
    struct text unsaid; /* lines, each with its newline */
};

/* Whether the next start is another one than that which was lost in `event`; in what, refusals_say will say. */
bool refusals_learn(struct refusals *refusals, const struct slot *slot, const struct slot_event *event);

/* Says what has been learned since the last time, a line at a time. */
void refusals_say(struct refusals *refusals, void (*say)(void *context, const char *line), void *context);
void refusals_free(struct refusals *refusals);

/* Fills in `refused`, and takes back a wish to precompile. */
void refusals_tell(const struct refusals *refusals, struct start_request *start);

#endif
