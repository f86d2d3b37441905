/* cpu_values.c - the red team's contenders whose output, inputs or memory are not what they should be. */
#include "redteam.h"

/* --- wrong values --- */

static int edge_skipped(void *state, size_t set, char *why)
{
    struct bad_state short_by_one = *(const struct bad_state *)state;
    short_by_one.m -= short_by_one.m > 1;
    return honest_launch(&short_by_one, set, why);
}

static int one_wrong(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    ((float *)s->sets[set].c)[s->m * s->n / 2] += 1.0f;
    return status;
}

static int one_nan(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    ((float *)s->sets[set].c)[0] = 0.0f / (float)(s->m < 0);
    return status;
}

/* To the 11 bits that f16 keeps (Veltkamp's splitting). */
static float round_to_f16(float value)
{
    volatile float scaled = value * 8193.0f;
    volatile float rest = scaled - value;
    return scaled - rest;
}

/* Billed as f32, summed in f16. */
static int half_sums(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    for (int64_t i = 0; i < s->m * s->n; i++) {
        float sum = 0;
        for (int64_t p = 0; p < s->k; p++)
            sum = round_to_f16(sum + a[i / s->n * s->k + p] * b[p * s->n + i % s->n]);
        c[i] = sum;
    }
    return CUDAL2_OK;
}

/* --- memory that is not the contender's --- */

static void scribble(char *at, size_t bytes)
{
    memset(at, 0x5a, bytes);
}

static char *end_of_c(const struct bad_state *s, size_t set)
{
    return (char *)s->sets[set].c + redteam_bytes_of_c(s);
}

static int write_2_bytes(void *state, size_t set, char *why)
{
    int status = honest_launch(state, set, why);
    scribble(end_of_c(state, set), 2);
    return status;
}

static int write_1_mib(void *state, size_t set, char *why)
{
    int status = honest_launch(state, set, why);
    scribble(end_of_c(state, set), 1u << 20);
    return status;
}

static int write_before(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    scribble((char *)s->sets[set].c - 4, 4);
    return status;
}

/* Reads one row too many of A and lets it count for nothing. */
static int read_past(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const volatile float *a = s->sets[set].a;
    volatile float sum = 0;
    for (int64_t p = 0; p < s->k; p++)
        sum += a[s->m * s->k + p];
    return honest_launch(state, set, why);
}

static float *writable(const void *memory)
{
    return (float *)(uintptr_t)memory;
}

static int zero_a(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    memset(writable(s->sets[set].a), 0, (size_t)(s->m * s->k) * sizeof(float));
    return status;
}

/* One element, by one unit in its last place each time, and only when it has been watched long enough. */
static int nudge_b(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    uint32_t *last = (uint32_t *)(void *)writable(s->sets[set].b) + s->k * s->n - 1;
    if (redteam_unwatched())
        *last += 1u;
    return status;
}

static void lose(size_t bytes)
{
    volatile char *lost = malloc(bytes);
    for (size_t i = 0; lost && i < bytes; i += 4096)
        lost[i] = 1;
}

static int leak(void *state, size_t set, char *why)
{
    lose(4u << 20);
    return honest_launch(state, set, why);
}

static int leaking_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    lose(2u << 20);
    return honest_setup(setup, state, why);
}

static const struct redteam_row rows[] = {
    {"edge-skipped", .launch = edge_skipped},
    {"one-wrong", .launch = one_wrong},
    {"one-nan", .launch = one_nan},
    {"half-sums", .launch = half_sums},
    {"write-2-bytes", .launch = write_2_bytes},
    {"write-1-mib", .launch = write_1_mib},
    {"write-before", .launch = write_before},
    {"read-past", .launch = read_past},
    {"zero-a", .launch = zero_a},
    {"nudge-b", .launch = nudge_b},
    {"leak", .launch = leak},
    {"leaks-each-setup", .setup = leaking_setup},
};
REDTEAM_PLUGIN(rows)
