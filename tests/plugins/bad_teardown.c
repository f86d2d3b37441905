/* bad_teardown.c - measures honestly and hangs when it is told to go. */
#include "bad.h"

#include <unistd.h>

static void hanging_teardown(void *state)
{
    (void)state;
    for (;;)
        pause();
}

static const struct cudal2_contender contenders[] = {{.name = "bad-teardown-nn",
                                                      .devices = CUDAL2_ON_CPU,
                                                      .dtypes = CUDAL2_BIT(CUDAL2_F32),
                                                      .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                                      .layout = CUDAL2_NN,
                                                      .setup = honest_setup,
                                                      .launch = honest_launch,
                                                      .teardown = hanging_teardown}};
BAD_ENTRY("bad-teardown")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
