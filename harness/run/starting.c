/*
 * starting.c - turns a run's options into what its workers are told when they start. Relies on slot.h for the message.
 * Called by supervisor.c.
 */
#include "run/starting.h"

const char *starting_program(const struct run_options *options)
{
    return options->program ? options->program : "/proc/self/exe";
}

void starting_request(const struct run_options *options, cJSON *config, bool checking, struct start_request *out)
{
    *out = (struct start_request){
        .config = config,
        .plugin_directory = options->plugin_directory,
        .kernel_directory = options->kernel_directory,
        .precompile = !options->director && !checking, /* it sees to that itself */
        .search = options->director != NULL,
        .no_tuned = options->no_tuned,
        .force_tuned = options->force_tuned,
    };
    for (size_t i = 0; i < CONFIG_NAMES_MAX && options->tuned && options->tuned[i]; i++)
        out->tuned[i] = options->tuned[i];
}
