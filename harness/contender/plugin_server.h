/*
 * plugin_server.h - what a plugin's own process does: it loads the plugin and runs its hooks as the harness asks.
 */
#ifndef CUDAL2_CONTENDER_PLUGIN_SERVER_H
#define CUDAL2_CONTENDER_PLUGIN_SERVER_H

#include "contender/plugin_mailbox.h"

#include <sched.h>

/* Answers questions until the process is ended. `enter` is called before the plugin is loaded. `alone`: as
 * in plugin_process.h. */
_Noreturn void plugin_serve(struct plugin_mailbox *mailbox, bool alone, void (*enter)(void *context), void *context);

/* For a loop that waits, at its turn `i`: some tens of nanoseconds. From PLUGIN_SPINS on others get the processor if
 * they want it: on a busy machine the one who is to answer may be among them. */
#define PLUGIN_SPINS 1000u
static inline void plugin_wait_a_moment(unsigned i, bool alone)
{
    if (alone || i > PLUGIN_SPINS)
        (void)sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#endif
