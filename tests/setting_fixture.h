/* A contender that is set up, as the work of a device (device.h) where there is no bench around it. */
#ifndef CUDAL2_TESTS_SETTING_FIXTURE_H
#define CUDAL2_TESTS_SETTING_FIXTURE_H

#include "contender/contender.h"

struct setting {
    const struct contender *contender;
    void *state;
};

static inline int setting_launch(void *context, size_t set, char *why)
{
    const struct setting *s = context;
    return s->contender->ops->launch(s->contender, s->state, set, why);
}

#endif
