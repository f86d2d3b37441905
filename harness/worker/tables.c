/*
 * tables.c - opens the tuning tables that a start message asks for, where they are not those that are open. Relies on
 * contender/tuned.h. Called by worker.c.
 */
#include "worker/tables.h"

#include <string.h>

#include "compile/kernels.h"

/* A machine without a kernel directory has no tables of its own. */
int tables_open(struct tables *t, const struct start_request *start, const struct config *config,
                const struct device *device, struct error *err)
{
    char directory[4096], key[DIGEST_HEX];
    struct error ignored;
    bool found = kernel_directory_find(start->kernel_directory, directory, sizeof directory, &ignored) == 0;
    enum cudal2_dtype dtype = config_dtype(config, device->info.device_bit == CUDAL2_ON_CUDA);
    const struct tuned_request request = {
        .files = start->tuned,
        .directory = found ? directory : NULL,
        .none = start->no_tuned,
        .force = start->force_tuned,
        .device = &device->info,
        .dtype = dtype,
        .accumulates = config_accumulates(config, dtype),
        .modes = config->modes,
    };
    tuned_request_digest(&request, key);
    if (strcmp(key, t->key) == 0)
        return 0;
    tuned_tables_close(&t->tuned);
    memcpy(t->key, key, sizeof key);
    return tuned_tables_open(&request, &t->tuned, err);
}
