/* bad_hang.c - launch never returns. */
#include "bad.h"

#include <unistd.h>

static int hanging_launch(void *state, size_t set, char *why)
{
    (void)state;
    (void)set;
    (void)why;
    while (pause()) {
    }
    return CUDAL2_OK;
}

BAD_CONTENDER("bad-hang-nn", honest_setup, hanging_launch);
BAD_ENTRY("bad-hang")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
