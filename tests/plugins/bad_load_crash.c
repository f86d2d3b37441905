/* bad_load_crash.c - dies in a constructor, before anything is asked of it. */
#include "bad.h"

__attribute__((constructor)) static void die_early(void)
{
    abort();
}

BAD_CONTENDER("bad-load-crash-nn", honest_setup, honest_launch);
BAD_ENTRY("bad-load-crash")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
