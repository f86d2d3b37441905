/* bad_launch.c - launch returns an error with a reason. */
#include "bad.h"

static int failing_launch(void *state, size_t set, char *why)
{
    (void)state;
    (void)set;
    snprintf(why, CUDAL2_WHY, "this launch always fails");
    return CUDAL2_LIBRARY_ERROR;
}

BAD_CONTENDER("bad-launch-nn", honest_setup, failing_launch);
BAD_ENTRY("bad-launch")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
