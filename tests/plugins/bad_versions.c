/* bad_versions.c - ends the process when asked for its versions. */
#include "bad.h"

#include <unistd.h>

BAD_CONTENDER("bad-versions-nn", honest_setup, honest_launch);

static int leaving_versions(char *json, size_t capacity)
{
    (void)json;
    (void)capacity;
    _exit(0);
}

static const struct cudal2_plugin plugin = {
    .name = "bad-versions", .contenders = contenders, .n_contenders = 1, .versions = leaving_versions};

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
