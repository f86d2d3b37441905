/*
 * host_plain.c - bias and clamp between two products in the host's memory, and the comparison of what is there with it.
 * Relies on half.h. Called by cpu.c and fake.c; kernels/harness/plain.cu does the same on a GPU.
 */
#include "device/host_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"

float plain_scale(const struct cudal2_problem *p)
{
    float terms = p->n > p->k ? (float)p->n / (float)p->k : 1;
    return PLAIN_GAIN / sqrtf((float)p->k * terms);
}

/* NaN passes both comparisons. */
static float held(float value)
{
    return value > PLAIN_CLAMP ? PLAIN_CLAMP : value < -PLAIN_CLAMP ? -PLAIN_CLAMP : value;
}

/* What a row of C gives for column j before it is scaled. */
static float sum_of(const struct cudal2_problem *p, const void *row, int64_t j)
{
    int64_t column = p->k > p->n ? j % p->n : j;
    float sum = element_load(row, p->dtype, (size_t)column);
    for (column += p->k; column < p->n; column += p->k)
        sum += element_load(row, p->dtype, (size_t)column);
    return sum;
}

/* Where every column of C has one of its own and all are floats. */
static void write_plain_row(const float *c, const float *bias, float scale, int64_t k, float *out)
{
    for (int64_t j = 0; j < k; j++)
        out[j] = held(c[j] * scale + PLAIN_BIAS * bias[j]);
}

/* One row of the output, by the same instructions whoever asks. */
static __attribute__((noinline)) void write_row(const struct device_plain *plain, float scale, int64_t i, void *out)
{
    const struct cudal2_problem *p = &plain->problem;
    const void *row = (const char *)plain->c + (size_t)(i * p->n) * dtype_bytes(p->dtype);
    if (p->dtype == CUDAL2_F32 && p->n == p->k) {
        write_plain_row(row, plain->bias, scale, p->k, out);
        return;
    }
    for (int64_t j = 0; j < p->k; j++) {
        float bias = PLAIN_BIAS * element_load(plain->bias, p->dtype, (size_t)j);
        element_store(out, p->dtype, (size_t)j, held(sum_of(p, row, j) * scale + bias));
    }
}

static size_t row_bytes(const struct cudal2_problem *p)
{
    return (size_t)p->k * dtype_bytes(p->dtype);
}

void host_plain(const struct device_plain *plain)
{
    float scale = plain_scale(&plain->problem);
    for (int64_t i = 0; i < plain->problem.m; i++)
        write_row(plain, scale, i, (char *)plain->out + (size_t)i * row_bytes(&plain->problem));
}

static uint64_t count_differing(const char *a, const char *b, size_t elements, size_t bytes)
{
    uint64_t differing = 0;
    for (size_t i = 0; i < elements; i++)
        differing += memcmp(a + i * bytes, b + i * bytes, bytes) != 0;
    return differing;
}

int host_plain_differs(const struct device_plain *plain, uint64_t *elements, struct error *err)
{
    const struct cudal2_problem *p = &plain->problem;
    size_t bytes = row_bytes(p);
    float scale = plain_scale(p);
    char *expected = malloc(bytes);
    *elements = 0;
    if (expected == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a row of %zu bytes", bytes);
    for (int64_t i = 0; i < p->m; i++) {
        const char *found = (const char *)plain->out + (size_t)i * bytes;
        write_row(plain, scale, i, expected);
        if (memcmp(expected, found, bytes) != 0)
            *elements += count_differing(expected, found, (size_t)p->k, dtype_bytes(p->dtype));
    }
    free(expected);
    return 0;
}
