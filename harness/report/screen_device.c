/*
 * screen_device.c - GPUs, driver, peak and how many cells each GPU measured. Called by screen.c for its first lines.
 */
#include "report/screen_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/tree.h"

#define UUID_SHOWN 12 /* GPU-3bd7d89f: as much as tells one from another */

static const char *uuid_of(const cJSON *env)
{
    return tree_text(tree_member(env, "device"), "uuid");
}

/* Cells by env[] line; the caller frees. */
static double *count_cells(const cJSON *result, int n_env)
{
    double *counts = calloc((size_t)n_env + 1, sizeof *counts);
    const cJSON *cell;
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        double env = tree_number(cell, "env");
        if (counts && env >= 0 && env < n_env)
            counts[(int)env]++;
    }
    return counts;
}

/* Brings the counts of lines of the same device together in the first one's; returns how many devices have cells. */
static int join_devices(const cJSON *envs, double *counts, int n_env)
{
    int devices = 0;
    for (int i = 0; i < n_env; i++) {
        for (int j = i + 1; j < n_env; j++) {
            if (strcmp(uuid_of(cJSON_GetArrayItem(envs, i)), uuid_of(cJSON_GetArrayItem(envs, j))) == 0) {
                counts[i] += counts[j];
                counts[j] = 0;
            }
        }
        devices += counts[i] > 0;
    }
    return devices;
}

static void add_devices(struct screen *screen, const cJSON *envs)
{
    int n_env = cJSON_GetArraySize(envs);
    double *counts = count_cells(screen->result, n_env);
    int devices = counts ? join_devices(envs, counts, n_env) : 0, shown = 0;
    if (devices > 1)
        text_add(&screen->text, "Measured on %d GPUs:", devices);
    for (int i = 0; i < n_env && devices > 1; i++) {
        if (counts[i] > 0 && shown++ < SCREEN_LISTED)
            text_add(&screen->text, "%s %.0f cell%s on %.*s", shown > 1 ? "," : "", counts[i],
                     counts[i] == 1 ? "" : "s", UUID_SHOWN, uuid_of(cJSON_GetArrayItem(envs, i)));
    }
    if (devices > SCREEN_LISTED)
        text_add(&screen->text, " and %d more", devices - SCREEN_LISTED);
    if (devices > 1)
        text_add(&screen->text, "\n");
    screen->text.failed |= !counts;
    free(counts);
}

void screen_device(struct screen *screen)
{
    const cJSON *envs = tree_member(screen->result, "env");
    const cJSON *device = tree_member(cJSON_GetArrayItem(envs, 0), "device");
    double f32 = tree_number(device, "peak_flops_f32"), peak = f32 > 0 ? f32 : tree_number(device, "peak_flops");
    /* A CPU has no driver: what is recorded in its place is the kernel's release. */
    const char *label = strcmp(tree_text(device, "kind"), "cpu") == 0 ? "kernel" : "driver";
    text_add(&screen->text, "%s, %s %s", tree_text(device, "name"), label, tree_text(device, "driver"));
    if (peak > 0)
        text_add(&screen->text, f32 > 0 ? ", peak of f32 at most %.3g TFLOPS" : ", peak %.0f TFLOPS at maximum clock",
                 peak / 1e12);
    text_add(&screen->text, "\n");
    add_devices(screen, envs);
}
