/*
 * screen_device.c - GPUs, driver, peak and how many cells each GPU measured. Called by screen.c for its first lines.
 */
#include "report/screen_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/gpus.h"

#define UUID_SHOWN 12 /* GPU-3bd7d89f: as much as tells one from another */

/* Cells by env[] line; the caller frees. */
static double *count_cells(const struct result *result)
{
    double *counts = calloc(result->n_env + 1, sizeof *counts);
    for (size_t i = 0; i < result->n_cells && counts; i++) {
        double env = result->cells[i].env;
        if (env >= 0 && env < (double)result->n_env)
            counts[(size_t)env]++;
    }
    return counts;
}

/* Brings the counts of lines of the same device together in the first one's; returns how many devices have cells. */
static int join_devices(const struct result *result, double *counts)
{
    int devices = 0;
    for (size_t i = 0; i < result->n_env; i++) {
        for (size_t j = i + 1; j < result->n_env; j++) {
            if (strcmp(result->env[i].device.uuid, result->env[j].device.uuid) == 0) {
                counts[i] += counts[j];
                counts[j] = 0;
            }
        }
        devices += counts[i] > 0;
    }
    return devices;
}

static void add_devices(struct screen *screen)
{
    const struct result *result = screen->result;
    double *counts = count_cells(result);
    int devices = counts ? join_devices(result, counts) : 0, shown = 0;
    if (devices > 1)
        text_add(&screen->text, "Measured on %d GPUs:", devices);
    for (size_t i = 0; i < result->n_env && devices > 1; i++) {
        if (counts[i] > 0 && shown++ < SCREEN_LISTED)
            text_add(&screen->text, "%s %.0f cell%s on %.*s", shown > 1 ? "," : "", counts[i],
                     counts[i] == 1 ? "" : "s", UUID_SHOWN, result->env[i].device.uuid);
    }
    if (devices > SCREEN_LISTED)
        text_add(&screen->text, " and %d more", devices - SCREEN_LISTED);
    if (devices > 1)
        text_add(&screen->text, "\n");
    screen->text.failed |= !counts;
    free(counts);
}

static void say_apart(struct screen *screen, const char *first, const char *second, const struct gpus_apart *apart)
{
    struct text *out = &screen->text;
    text_add(out, "Between GPUs, by %zu cell%s on each: %.*s takes %.1f%% %s than %.*s", apart->cells,
             apart->cells == 1 ? "" : "s", UUID_SHOWN, second, 100 * fabs(expm1(apart->longer)),
             apart->longer < 0 ? "less" : "longer", UUID_SHOWN, first);
    if (!isnan(apart->speedups))
        text_add(out, ", speedups are %+.2f%% apart", 100 * apart->speedups);
    if (!isnan(apart->half_width))
        text_add(out, " (95%%: ±%.2f)", 100 * apart->half_width);
    if (!isnan(apart->repeats))
        text_add(out, "; of one GPU measured twice %.2f%%", 100 * apart->repeats);
    text_add(out, apart->apart ? ". MORE than repeats explain\n" : "\n");
}

/* Of each further GPU against the first. */
static void add_between(struct screen *screen)
{
    const char *devices[GPUS_MOST];
    struct gpus_apart apart;
    const cJSON *looks = screen->result->run.end.between_devices;
    size_t n = gpus_list(looks, devices, GPUS_MOST);
    for (size_t i = 1; i < n; i++)
        if (gpus_compare(looks, devices[0], devices[i], &apart))
            say_apart(screen, devices[0], devices[i], &apart);
}

void screen_device(struct screen *screen)
{
    const struct result_device *device = result_device(screen->result, 0);
    double f32 = device->peak_flops_f32, peak = f32 > 0 ? f32 : device->peak_flops;
    /* A CPU has no driver: what is recorded in its place is the kernel's release. */
    const char *label = strcmp(device->kind, "cpu") == 0 ? "kernel" : "driver";
    text_add(&screen->text, "%s, %s %s", device->name, label, device->driver);
    if (peak > 0)
        text_add(&screen->text, f32 > 0 ? ", peak of f32 at most %.3g TFLOPS" : ", peak %.0f TFLOPS at maximum clock",
                 peak / 1e12);
    text_add(&screen->text, "\n");
    add_devices(screen);
    add_between(screen);
}
