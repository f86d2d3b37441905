/*
 * here.c - opens device and registry in this process. Relies on device/device.h and contender/contender.h. Called by
 * cmd_verify.c and one_launch.c.
 */
#include "cli/here.h"

int here_open(const struct options *options, const struct config *config, struct here *out, struct error *err)
{
    struct registry_request request = {.baselines = (const char *const *)config->baselines,
                                       .candidates = (const char *const *)config->candidates,
                                       .layouts = config->layouts,
                                       .plugin_directory = options->plugins,
                                       .kernel_directory = options->kernels};
    *out = (struct here){.device = NULL};
    int code = device_open(options->device, NULL, &out->device, err);
    return code == 0 ? registry_open(&request, out->device, &out->registry, err) : code;
}

void here_close(struct here *here)
{
    if (here->registry != NULL)
        registry_close(here->registry);
    if (here->device != NULL)
        here->device->ops->close(here->device);
}
