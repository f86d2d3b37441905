/* bad_abi.c - built for an ABI version that does not exist. */
#include "bad.h"

BAD_CONTENDER("bad-abi-nn", honest_setup, honest_launch);
BAD_ENTRY("bad-abi")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI + 1000u;
