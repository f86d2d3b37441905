/* bad_load_hang.c - its constructor never returns. */
#include "bad.h"

#include <unistd.h>

__attribute__((constructor)) static void hang_early(void)
{
    for (;;)
        pause();
}

BAD_CONTENDER("bad-load-hang-nn", honest_setup, honest_launch);
BAD_ENTRY("bad-load-hang")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
