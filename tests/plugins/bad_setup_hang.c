/* bad_setup_hang.c - setup never returns. */
#include "bad.h"

#include <unistd.h>

static int hanging_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    (void)setup;
    (void)state;
    (void)why;
    while (pause()) {
    }
    return CUDAL2_OK;
}

BAD_CONTENDER("bad-setup-hang-nn", hanging_setup, honest_launch);
BAD_ENTRY("bad-setup-hang")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
