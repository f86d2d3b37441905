/*
 * watch_state.h - what a launch that is watched finds: its inputs, its C, and the caches as the timed launch found
 * them. Where those were warm the contender's own launches warm them first, and of the inputs only the smaller matrix
 * is written again, so that they stay warm; where they were cold they are emptied. activity.c asks.
 */
#ifndef CUDAL2_VERIFY_WATCH_STATE_H
#define CUDAL2_VERIFY_WATCH_STATE_H

#include "verify/timed_check.h"

enum watch_arm {
    WATCH_NEW,   /* inputs that nobody has seen, and a poisoned C */
    WATCH_TIMED, /* as it was timed: what the launch before has left, nothing written */
    WATCH_SAME   /* what WATCH_NEW writes of the inputs, but with the values that are there; C is left alone */
};

struct watch_state {
    struct bench *bench;
    struct entrant *entrant;
    struct device_segment *segment; /* what is watched: a graph of one launch, or NULL for the launch itself */
    struct random *random;
    struct operands_values lesser; /* what the smaller input holds */
    struct operands_values all;    /* and both, where they were written together */
};

/* Brings the entrant's first set and the caches there, before every watched launch. Errors as of a launch. */
int watch_state_bring(struct watch_state *s, enum watch_arm arm, struct error *err);

#endif
