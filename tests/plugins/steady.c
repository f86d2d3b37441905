/* steady.c - a candidate under test by `compare`; steady_slow.c is the same one after a bad change. */
#include "bad.h"

BAD_CONTENDER("steady-nn", honest_setup, honest_launch);
BAD_ENTRY("steady")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
