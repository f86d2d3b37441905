/*
 * starting.c - turns a run's spec into what its workers are told when they start. Relies on slot.h for the message.
 * Called by measuring.c.
 */
#include "run/starting.h"

#include <string.h>

void starting_request(const struct run_spec *spec, cJSON *config, bool checking, struct start_request *out)
{
    memset(out, 0, sizeof *out);
    out->config = config;
    out->plugin_directory = spec->plugin_directory;
    out->kernel_directory = spec->kernel_directory;
    out->precompile = !spec->search && !checking; /* it sees to that itself */
    out->search = spec->search;
    out->no_tuned = spec->no_tuned;
    out->force_tuned = spec->force_tuned;
    for (size_t i = 0; i < CONFIG_NAMES_MAX && spec->tuned && spec->tuned[i]; i++)
        out->tuned[i] = spec->tuned[i];
}
