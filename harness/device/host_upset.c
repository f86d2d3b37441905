/*
 * host_upset.c - what lies between two launches in the host's memory (probe.h, upset): some inputs become others, some
 * elements of C take values of the right size, and whoever leaves those is counted. Relies on fill.h and half.h; called
 * by host_probe.c's tables alone. kernels/harness/probe.cu does the same on a GPU.
 */
#include "base/half.h"
#include "device/fill.h"
#include "device/host_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One process has one device; what the latest upset put into C, and the counter. */
static struct {
    unsigned char *put;
    size_t bytes;
    uint64_t kept;
} upset_memory;

/* Contenders must not write A and B; the memory is the harness's own. */
static void put_input(const void *matrix, enum cudal2_dtype dtype, uint64_t index, uint64_t bits)
{
    element_store((void *)(uintptr_t)matrix, dtype, (size_t)index, fill_normal(bits));
}

static void change_inputs(const struct probe_upset *u)
{
    const struct cudal2_problem *p = &u->problem;
    uint64_t key = fill_key(u->seed), m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    uint64_t lda = (uint64_t)problem_a(p).stride, ldb = (uint64_t)problem_b(p, u->layout).stride;
    if (u->lines == 0)
        return;
    for (uint64_t i = fill_bits(key, UINT64_MAX) % u->lines; i < m; i += u->lines)
        put_input(u->operands->a, p->dtype, i * lda + fill_bits(key, 4 * i) % k, fill_bits(key, 4 * i + 1));
    for (uint64_t j = fill_bits(key, UINT64_MAX - 1) % u->lines; j < n; j += u->lines) {
        uint64_t at = fill_bits(key, 4 * j + 2) % k;
        put_input(u->operands->b, p->dtype, u->layout == CUDAL2_TN ? j * ldb + at : at * ldb + j,
                  fill_bits(key, 4 * j + 3));
    }
}

/* Off what was there; NaN compares as neither near nor far and needs no more. */
static float unlike(float was, float value, float size)
{
    float least = PROBE_UNLIKE * size;
    return fabsf(value - was) < least ? was + (value < was ? -least : least) : value;
}

static float spoiled(const struct probe_upset *u, uint64_t index, uint64_t bits)
{
    const struct matrix_extent e = problem_c(&u->problem);
    const void *c = u->operands->c;
    enum cudal2_dtype dtype = u->problem.dtype;
    float was = element_load(c, dtype, (size_t)index), size = sqrtf((float)u->problem.k);
    float nudge = 0.03f * fabsf(was) + PROBE_NUDGE * size;
    if (u->spoil == SPOIL_NUDGED)
        return was + (bits >> 63 ? nudge : -nudge);
    if (u->spoil == SPOIL_MOVED)
        return unlike(was, element_load(c, dtype, extent_place(&e, bits % (uint64_t)(u->problem.m * u->problem.n))),
                      size);
    return unlike(was, fill_normal(bits) * size, size);
}

static bool room_for(uint64_t elements, char *why)
{
    size_t bytes = (size_t)((elements + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE) * sizeof(float);
    if (bytes <= upset_memory.bytes)
        return true;
    unsigned char *grown = realloc(upset_memory.put, bytes);
    if (grown == NULL) {
        snprintf(why, CUDAL2_WHY, "no memory for %zu bytes", bytes);
        return false;
    }
    upset_memory.put = grown;
    upset_memory.bytes = bytes;
    return true;
}

static int upset(const struct probe_upset *u, char *why)
{
    uint64_t elements = (uint64_t)(u->problem.m * u->problem.n), of_c = fill_mix(fill_key(u->seed));
    size_t bytes = dtype_bytes(u->problem.dtype), n = 0;
    const struct matrix_extent e = problem_c(&u->problem);
    unsigned char *c = u->operands->c;
    change_inputs(u);
    if (u->spoil == SPOIL_NONE)
        return CUDAL2_OK;
    if (!room_for(elements, why))
        return CUDAL2_LIBRARY_ERROR;
    for (uint64_t first = 0; first < elements; first += PROBE_SPRINKLE, n++) {
        uint64_t at = extent_place(&e, probe_place(of_c, first, elements));
        if (u->spoil == SPOIL_SOME_NAN)
            memset(c + at * bytes, PROBE_POISON, bytes);
        else
            element_store(c, u->problem.dtype, (size_t)at, spoiled(u, at, fill_bits(of_c, ~first)));
        memcpy(upset_memory.put + n * bytes, c + at * bytes, bytes);
    }
    return CUDAL2_OK;
}

int host_upset(struct device *d, const struct probe_upset *u, char *why)
{
    struct probe_upset kept = *u;
    struct cudal2_operands operands = *u->operands;
    (void)d;
    if (u->input == NULL)
        return upset(u, why);
    operands.c = u->input;
    kept.operands = &operands;
    kept.spoil = host_spoil_of_input(u->spoil);
    int status = upset(&kept, why);
    host_put_back(&u->problem, u->input, u->operands->c);
    return status;
}

int host_count_kept(struct device *d, const struct probe_upset *u, char *why)
{
    uint64_t elements = (uint64_t)(u->problem.m * u->problem.n), of_c = fill_mix(fill_key(u->seed));
    size_t bytes = dtype_bytes(u->problem.dtype), n = 0;
    const struct matrix_extent e = problem_c(&u->problem);
    const unsigned char *c = u->operands->c;
    (void)d, (void)why;
    if (u->spoil == SPOIL_NONE)
        return CUDAL2_OK;
    for (uint64_t first = 0; first < elements; first += PROBE_SPRINKLE, n++)
        upset_memory.kept += memcmp(upset_memory.put + n * bytes,
                                    c + extent_place(&e, probe_place(of_c, first, elements)) * bytes, bytes) == 0;
    return CUDAL2_OK;
}

int host_read_kept(struct device *d, uint64_t *kept, struct error *err)
{
    *kept = upset_memory.kept;
    upset_memory.kept = 0;
    return d->ops->sync(d, err);
}
