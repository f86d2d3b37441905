/*
 * spec.c - fills in the spec of a run from the command line. Relies on run_config.c having settled config and devices.
 * Called by the commands that measure: run, tune, verify, compare.
 */
#include "cli/spec.h"

#include <stdlib.h>

static void fill(const struct options *options, const struct run_config *made, struct run_spec *spec)
{
    run_spec_init(spec, &made->config);
    spec->config_path = made->path[0] ? made->path : NULL;
    spec->devices = made->devices;
    spec->argc = options->argc;
    spec->argv = options->argv;
    spec->resume = options->resume;
    spec->plugin_directory = options->plugins;
    spec->kernel_directory = options->kernels;
}

int spec_make(const struct options *options, const struct run_config *made, const char *output, struct run_spec **out,
              struct error *err)
{
    *out = NULL;
    if (made->no_device.code) {
        *err = made->no_device;
        return err->code;
    }
    struct run_spec *spec = malloc(sizeof *spec);
    if (!spec)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    fill(options, made, spec);
    if (run_spec_name(spec, output, err)) {
        free(spec);
        return err->code;
    }
    *out = spec;
    return 0;
}
