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

/* So often a loop that waits gives up its processor, which on an idle machine costs it nothing: beside other programs,
 * a wait this long (some 200 us) is for somebody who waits for a processor too. */
#define PLUGIN_WAITS_EACH 4096u

/* For the `i`-th turn of a loop that waits, i from 1: some tens of nanoseconds. */
static inline void plugin_wait_a_moment(bool alone, unsigned i)
{
    if (alone || i % PLUGIN_WAITS_EACH == 0)
        (void)sched_yield();
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#endif
