/*
 * series_text.c - times as "<step>:<shortest>:<digits>" in base-64 VLQ, with the coarsest step that loses nothing that
 * counts. Pure. Called by record_series.c.
 */
#include "record/series_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define STEPS_IN_SHORTEST 5000.0 /* at least: half a step is then at most 0.01% */
#define GROUP_BITS 5
#define GROUP_MORE 32u
#define GROUPS_MAX 11 /* of a number below 2^53 */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* 1, 2, 5, 10, 20, 50, ... */
static double next_step(double tenths)
{
    double leading = tenths;
    while (leading >= 10)
        leading /= 10;
    return round(leading) == 2 ? tenths * 2.5 : tenths * 2;
}

double series_step_tenths(double shortest_ns)
{
    double tenths = 1;
    while (next_step(tenths) * STEPS_IN_SHORTEST <= shortest_ns * 10)
        tenths = next_step(tenths);
    return tenths;
}

/* ---- writing ---- */

static double to_steps(double ns, double tenths)
{
    return round(ns * 10 / tenths);
}

static double from_steps(double steps, double tenths)
{
    return steps * tenths / 10;
}

/* What is read back must choose the same step again, so it is chosen by the shortest time as rounded. */
static double stable_step(double shortest_ns)
{
    double tenths = series_step_tenths(shortest_ns);
    return series_step_tenths(from_steps(to_steps(shortest_ns, tenths), tenths));
}

static void add_vlq(struct text *out, uint64_t value)
{
    char groups[GROUPS_MAX + 2];
    size_t n = 0;
    do {
        unsigned group = (unsigned)(value & (GROUP_MORE - 1));
        value >>= GROUP_BITS;
        groups[n++] = alphabet[value ? group + GROUP_MORE : group];
    } while (value);
    text_add_bytes(out, groups, n);
}

static double clamp_time(double ns)
{
    return ns > 0 ? fmin(ns, SERIES_TIME_MAX) : 0;
}

char *series_text_write(const double *ns, size_t n, double step_tenths)
{
    struct text out = {0};
    double shortest = n > 0 ? SERIES_TIME_MAX : 0;
    for (size_t i = 0; i < n; i++)
        shortest = fmin(shortest, clamp_time(ns[i]));
    double tenths = step_tenths > 0 ? step_tenths : stable_step(shortest);
    double base = to_steps(shortest, tenths);
    text_add(&out, "%.15g:%.0f:", tenths / 10, base);
    for (size_t i = 0; i < n; i++)
        add_vlq(&out, (uint64_t)(to_steps(clamp_time(ns[i]), tenths) - base));
    if (out.failed)
        text_free(&out);
    return out.bytes;
}

/* ---- reading ---- */

static bool read_decimal(const char **at, double *out)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    *out = strtod(*at, &end);
    bool good = *end == ':' && end - *at <= 18 && *out <= 10 * SERIES_TIME_MAX;
    *at = end + 1;
    return good;
}

bool series_text_open(const char *text, struct series_text *out)
{
    double step;
    *out = (struct series_text){.rest = text};
    if (!read_decimal(&out->rest, &step) || !read_decimal(&out->rest, &out->shortest))
        return false;
    out->tenths = round(step * 10);
    return out->tenths >= 1 && fabs(out->tenths - step * 10) < 1e-6 * out->tenths &&
           out->shortest == floor(out->shortest);
}

/* The number that starts at *at, or -1. */
static double take_vlq(const char **at)
{
    double value = 0, weight = 1;
    for (int i = 0; i < GROUPS_MAX; i++) {
        const char *digit = **at ? strchr(alphabet, **at) : NULL;
        if (!digit)
            return -1;
        (*at)++;
        unsigned group = (unsigned)(digit - alphabet);
        value += weight * (double)(group & (GROUP_MORE - 1));
        weight *= GROUP_MORE;
        if (group < GROUP_MORE)
            return value;
    }
    return -1;
}

int series_text_next(struct series_text *t, double *ns)
{
    if (*t->rest == '\0')
        return 0;
    double steps = take_vlq(&t->rest);
    *ns = from_steps(t->shortest + steps, t->tenths);
    return steps >= 0 && *ns <= SERIES_TIME_MAX ? 1 : -1;
}
