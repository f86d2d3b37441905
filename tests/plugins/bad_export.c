/* bad_export.c - exports a symbol beside the two entry points. */
#include "bad.h"

CUDAL2_EXPORT int cublasCreate_v2(void **handle);

CUDAL2_EXPORT int cublasCreate_v2(void **handle)
{
    *handle = NULL;
    return 0;
}

BAD_CONTENDER("bad-export-nn", honest_setup, honest_launch);
BAD_ENTRY("bad-export")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
