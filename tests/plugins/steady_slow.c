/* steady_slow.c - steady.c after a change that made it three times slower, and still right. */
#include "bad.h"

static int slow_launch(void *state, size_t set, char *why)
{
    for (int i = 0; i < 2; i++) {
        int code = honest_launch(state, set, why);
        if (code != CUDAL2_OK)
            return code;
    }
    return honest_launch(state, set, why);
}

BAD_CONTENDER("steady-nn", honest_setup, slow_launch);
BAD_ENTRY("steady")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
