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

/* For a loop that waits: some tens of nanoseconds. */
static inline void plugin_wait_a_moment(bool alone)
{
    if (alone)
        (void)sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#endif
