/* bad_probe.c - a plugin that says it cannot be used here. */
#include "bad.h"

static int refusing_probe(uint32_t device_bits, int device_ordinal, char *why)
{
    snprintf(why, CUDAL2_WHY, "refuses device bits %u, ordinal %d", (unsigned)device_bits, device_ordinal);
    return CUDAL2_UNSUPPORTED;
}

BAD_CONTENDER("bad-probe-nn", honest_setup, honest_launch);

static const struct cudal2_plugin plugin = {
    .name = "bad-probe", .contenders = contenders, .n_contenders = 1, .probe = refusing_probe};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
