/* bad_crash_setup.c - setup dies of a signal. */
#include "bad.h"

static int crashing_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    (void)setup;
    (void)state;
    (void)why;
    abort();
}

BAD_CONTENDER("bad-crash-setup-nn", crashing_setup, honest_launch);
BAD_ENTRY("bad-crash-setup")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
