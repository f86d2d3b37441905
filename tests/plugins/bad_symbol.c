/* bad_symbol.c - a shared object without cudal2_plugin. */
#include "abi/contender.h"

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
