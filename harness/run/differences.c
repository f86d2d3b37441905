/*
 * differences.c - compares model, clocks, power limit and memory of two workers' GPUs. What is compared is of the
 * journal's `env` lines (worker/environment.c). Called by measuring.c when a worker is up.
 */
#include "run/differences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *name, *unit;
    double scale;
} figures[] = {{"sm_count", "multiprocessors", "", 1},
               {"max_sm_clock_mhz", "SM clock", " MHz", 1},
               {"max_memory_clock_mhz", "memory clock", " MHz", 1},
               {"power_limit_mw", "power limit", " W", 1e-3},
               {"memory_bytes", "memory", " GB", 1e-9},
               {"l2_bytes", "L2", " MB", 1e-6}};

static double number_of(const cJSON *device, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(device, key);
    return cJSON_IsNumber(node) ? node->valuedouble : (double)NAN;
}

static const char *model_of(const cJSON *device)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(device, "name");
    return cJSON_IsString(node) ? node->valuestring : "";
}

bool differences_of(const cJSON *first, const cJSON *other, char out[DIFFERENCES_MAX])
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(first, "device");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(other, "device");
    size_t used = 0;
    out[0] = '\0';
    if (strcmp(model_of(a), model_of(b)) != 0)
        snprintf(out, DIFFERENCES_MAX, "%.100s (%.100s)", model_of(b), model_of(a));
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        double was = number_of(a, figures[i].key), is = number_of(b, figures[i].key);
        used = strlen(out);
        if (is != was && !isnan(is) && !isnan(was))
            snprintf(out + used, DIFFERENCES_MAX - used, "%s%s %.6g%s (%.6g%s)", used > 0 ? ", " : "", figures[i].name,
                     is * figures[i].scale, figures[i].unit, was * figures[i].scale, figures[i].unit);
    }
    return out[0] != '\0';
}
