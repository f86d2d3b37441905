/* bad_crash_launch.c - launch dies of a segmentation fault. */
#include "bad.h"

#include <signal.h>

static int crashing_launch(void *state, size_t set, char *why)
{
    (void)state;
    (void)set;
    (void)why;
    raise(SIGSEGV);
    return CUDAL2_OK;
}

BAD_CONTENDER("bad-crash-launch-nn", honest_setup, crashing_launch);
BAD_ENTRY("bad-crash-launch")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
