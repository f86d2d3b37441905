/*
 * starting.c - turns a run's spec into what its workers are told when they start. Relies on worker/protocol.h for the
 * message. Called by measuring.c.
 */
#include "run/starting.h"

#include <stdbool.h>
#include <stdlib.h>
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

cJSON *starting_order(const struct config *config, const struct plan *plan, const size_t *cells, const bool *done)
{
    bool *seen = calloc(config->n_shapes, sizeof *seen);
    cJSON *order = seen ? cJSON_CreateArray() : NULL;
    for (size_t i = 0; order && i < plan->n_cells; i++) {
        size_t shape = plan_shape(config, &plan->cells[cells[i]]);
        if (done[cells[i]] || seen[shape])
            continue;
        cJSON_AddItemToArray(order, cJSON_CreateNumber((double)shape));
        seen[shape] = true;
    }
    free(seen);
    return order;
}

/* Files of a list in the config; other entries are names, looked up in the directories. */
static size_t add_files(const cJSON *list, const char **out)
{
    const cJSON *name;
    size_t n = 0;
    cJSON_ArrayForEach(name, list)
    {
        if (n < CONFIG_NAMES_MAX && cJSON_IsString(name) && strchr(name->valuestring, '/'))
            out[n++] = name->valuestring;
    }
    return n;
}

void starting_arguments(const struct start_request *start, const char *device, bool wary,
                        const char *out[STARTING_ARGUMENTS])
{
    size_t n = 0;
    out[n++] = wary ? "wary" : "at";
    out[n++] = device;
    out[n++] = start->audit ? "watching" : "timing";
    if (start->plugin_directory)
        out[n++] = start->plugin_directory;
    if (start->kernel_directory)
        out[n++] = start->kernel_directory;
    for (size_t i = 0; i < CONFIG_NAMES_MAX && start->tuned[i]; i++)
        out[n++] = start->tuned[i];
    n += add_files(cJSON_GetObjectItemCaseSensitive(start->config, "baselines"), out + n);
    n += add_files(cJSON_GetObjectItemCaseSensitive(start->config, "candidates"), out + n);
    out[n] = NULL;
}
