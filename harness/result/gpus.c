/*
 * gpus.c - compares two GPUs of a run by the cells that both measured. Pure. Relies on stats/interval.h. Called by
 * report/screen_device.c.
 */
#include "result/gpus.h"

#include <math.h>
#include <string.h>

#include "stats/interval.h"

#define CELLS_MOST 64
/* Fewer cells have no interval worth its name: with two it is ten times the scatter wide. They tell what is plain: over
 * so much, four times how far speedups of a cell scatter from GPU to GPU, and over as many times the repeats. */
#define CELLS_LEAST 3
#define PLAIN 0.03
#define PLAIN_REPEATS 4

static const char *text_of(const cJSON *look, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(look, key);
    return cJSON_IsString(node) ? node->valuestring : "";
}

size_t gpus_list(const cJSON *looks, const char **devices, size_t capacity)
{
    const cJSON *look;
    size_t n = 0;
    cJSON_ArrayForEach(look, looks)
    {
        const char *device = text_of(look, "device");
        bool known = device[0] == '\0';
        for (size_t i = 0; i < n && !known; i++)
            known = strcmp(devices[i], device) == 0;
        if (!known && n < capacity)
            devices[n++] = device;
    }
    return n;
}

/* ---- one look ---- */

static const cJSON *find(const cJSON *looks, const char *device, const char *cell, bool again)
{
    const cJSON *look;
    cJSON_ArrayForEach(look, looks)
    {
        bool is_again = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(look, "again"));
        if (is_again == again && strcmp(text_of(look, "device"), device) == 0 &&
            strcmp(text_of(look, "cell"), cell) == 0)
            return look;
    }
    return NULL;
}

static double time_of(const cJSON *times, const char *name)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(times, name);
    return cJSON_IsNumber(node) && node->valuedouble > 0 ? node->valuedouble : 0;
}

/* Mean log ratio of the times that both have, b over a; NaN where there is none. */
static double apart(const cJSON *a, const cJSON *b, const char *kind)
{
    const cJSON *of_a = cJSON_GetObjectItemCaseSensitive(a, kind), *of_b = cJSON_GetObjectItemCaseSensitive(b, kind),
                *time;
    double sum = 0;
    size_t n = 0;
    cJSON_ArrayForEach(time, of_a)
    {
        double before = time->string ? time_of(of_a, time->string) : 0;
        double after = before > 0 ? time_of(of_b, time->string) : 0;
        if (after <= 0)
            continue;
        sum += log(after / before);
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* How far b's speedups lie above a's. */
static double speedups_apart(const cJSON *a, const cJSON *b)
{
    return apart(a, b, "references_ns") - apart(a, b, "candidates_ns");
}

static double times_apart(const cJSON *a, const cJSON *b)
{
    double references = apart(a, b, "references_ns"), candidates = apart(a, b, "candidates_ns");
    return isnan(references) ? candidates : isnan(candidates) ? references : (references + candidates) / 2;
}

/* ---- all looks ---- */

static double repeats_of(const cJSON *looks)
{
    const cJSON *look;
    double sum = 0;
    size_t n = 0;
    cJSON_ArrayForEach(look, looks)
    {
        const cJSON *again = find(looks, text_of(look, "device"), text_of(look, "cell"), true);
        double difference = again && again != look ? speedups_apart(look, again) : (double)NAN;
        sum += isnan(difference) ? 0 : fabs(difference);
        n += isnan(difference) ? 0 : 1;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* Half the 95% interval of the mean; NaN for fewer than two. */
static double half_width_of(const double *values, size_t n)
{
    return n > 1 ? stats_t95((double)n - 1) * stats_sd(values, n) / sqrt((double)n) : (double)NAN;
}

static bool is_apart(const struct gpus_apart *a, size_t n)
{
    double repeats = isnan(a->repeats) ? 0 : a->repeats, distance = fabs(a->speedups);
    if (n < CELLS_LEAST)
        return distance > fmax(PLAIN, PLAIN_REPEATS * repeats);
    return distance > a->half_width && distance > repeats;
}

bool gpus_compare(const cJSON *looks, const char *first, const char *second, struct gpus_apart *out)
{
    double speedups[CELLS_MOST], longer = 0;
    size_t n = 0;
    const cJSON *look;
    *out = (struct gpus_apart){.speedups = (double)NAN, .half_width = (double)NAN, .repeats = repeats_of(looks)};
    cJSON_ArrayForEach(look, looks)
    {
        const char *cell = text_of(look, "cell");
        const cJSON *other = find(looks, second, cell, true);
        double time = find(looks, first, cell, true) == look && other ? times_apart(look, other) : (double)NAN;
        if (isnan(time) || out->cells == CELLS_MOST)
            continue;
        longer += time;
        out->cells++;
        double difference = speedups_apart(look, other);
        if (!isnan(difference))
            speedups[n++] = difference;
    }
    out->longer = out->cells > 0 ? longer / (double)out->cells : (double)NAN;
    if (n > 0)
        out->speedups = stats_mean(speedups, n);
    out->half_width = half_width_of(speedups, n);
    out->apart = is_apart(out, n);
    return out->cells > 0;
}
