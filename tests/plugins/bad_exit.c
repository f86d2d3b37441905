/* bad_exit.c - launch ends the process with status 0, as if all were well. */
#include "bad.h"

static int exiting_launch(void *state, size_t set, char *why)
{
    (void)state;
    (void)set;
    (void)why;
    exit(0);
}

BAD_CONTENDER("bad-exit-nn", honest_setup, exiting_launch);
BAD_ENTRY("bad-exit")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
