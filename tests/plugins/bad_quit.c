/* bad_quit.c - measures honestly and leaves an exit handler that never returns. */
#include "bad.h"

#include <unistd.h>

static void hang_at_exit(void)
{
    for (;;)
        pause();
}

static int planting_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int planted;
    if (!planted++)
        atexit(hang_at_exit);
    return honest_setup(setup, state, why);
}

BAD_CONTENDER("bad-quit-nn", planting_setup, honest_launch);
BAD_ENTRY("bad-quit")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
