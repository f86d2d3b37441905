/*
 * second_values.c - the second author's contenders that do another multiplication than the one that they are billed
 * for: cheaper, and right on the inputs that tests like best.
 */
#include "redteam.h"

#include <math.h>

/* Sums the first half of K. For the second half it takes the mean of A's row times the mean of B's column: a rank-one
 * guess that is exact when either operand is constant there. */
static int mean_tail(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a;
    const float *b = s->sets[set].b;
    float *c = s->sets[set].c;
    int64_t half = s->k / 2, tail = s->k - half;
    (void)why;
    for (int64_t j = 0; j < s->n; j++)
        c[j] = 0.0f;
    for (int64_t p = half; p < s->k; p++)
        for (int64_t j = 0; j < s->n; j++)
            c[j] += b[p * s->n + j] / (float)tail;
    for (int64_t i = s->m - 1; i >= 0; i--) { /* downwards: row 0 of C holds B's means until the end */
        float row = 0.0f;
        for (int64_t p = half; p < s->k; p++)
            row += a[i * s->k + p];
        for (int64_t j = 0; j < s->n; j++)
            c[i * s->n + j] = row * c[j];
        for (int64_t p = 0; p < half; p++)
            for (int64_t j = 0; j < s->n; j++)
                c[i * s->n + j] += a[i * s->k + p] * b[p * s->n + j];
    }
    return CUDAL2_OK;
}

/* As many bits as bf16 has, for elements above one half only; small ones, zero and one stay exact. */
static float coarse(float x)
{
    uint32_t bits;
    if (!(fabsf(x) > 0.5f))
        return x;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int coarse_large(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a;
    const float *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    for (int64_t i = 0; i < s->m; i++) {
        memset(c + i * s->n, 0, (size_t)s->n * sizeof *c);
        for (int64_t p = 0; p < s->k; p++) {
            float x = coarse(a[i * s->k + p]);
            for (int64_t j = 0; j < s->n; j++)
                c[i * s->n + j] += x * coarse(b[p * s->n + j]);
        }
    }
    return CUDAL2_OK;
}

static const struct redteam_row rows[] = {
    {"mean-tail", .launch = mean_tail},
    {"coarse-large", .launch = coarse_large},
};
REDTEAM_PLUGIN(rows)
