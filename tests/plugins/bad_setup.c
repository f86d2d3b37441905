/* bad_setup.c - setup returns an error with a reason. */
#include "bad.h"

static int failing_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    (void)setup;
    (void)state;
    snprintf(why, CUDAL2_WHY, "this setup always fails");
    return CUDAL2_LIBRARY_ERROR;
}

BAD_CONTENDER("bad-setup-nn", failing_setup, honest_launch);
BAD_ENTRY("bad-setup")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
