/* honest.c - a plugin that does nothing wrong: the others' control. */
#include "bad.h"

BAD_CONTENDER("honest-nn", honest_setup, honest_launch);
BAD_ENTRY("honest")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
