/*
 * preflight.c - asks, before the first cell, whether any contender could run any problem of the plan here, and says why
 * not. Relies on contender's supports. Called by worker.c at its start.
 */
#include "worker/preflight.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* A size that every declared multiple divides. */
#define ROUND_SIZE 16384

static bool can(const struct preflight_question *q, const struct contender *c, char *why)
{
    for (int accumulate = CUDAL2_ACC_F16; accumulate <= CUDAL2_ACC_F32; accumulate++) {
        struct cudal2_problem problem = {.m = ROUND_SIZE,
                                         .n = ROUND_SIZE,
                                         .k = ROUND_SIZE,
                                         .dtype = q->dtype,
                                         .accumulate = (enum cudal2_accumulate)accumulate};
        if ((q->accumulates & CUDAL2_BIT(accumulate)) && contender_supports(c, q->device, &problem, why))
            return true;
    }
    return false;
}

/* "torch.matmul multiplies bf16 and f32 only, not f16", once for each family. */
static void add_reason(struct text *out, const struct contender *c, const char *why)
{
    char reason[CONTENDER_NAME_MAX + CUDAL2_WHY + 2];
    snprintf(reason, sizeof reason, "%s %s", c->family, why);
    if (!out->bytes || !strstr(out->bytes, reason))
        text_add(out, "%s%s", out->bytes ? "; " : "", reason);
}

/* Families that do run here have a reason of their own; the others only lack this device. */
int preflight_check(const struct preflight_question *q, struct error *err)
{
    struct text here = {0}, elsewhere = {0};
    bool possible = false;
    for (size_t i = 0; i < registry_count(q->registry) && !possible; i++) {
        const struct contender *c = registry_at(q->registry, i);
        char why[CUDAL2_WHY];
        possible = can(q, c, why);
        if (!possible)
            add_reason(c->available ? &here : &elsewhere, c, why);
    }
    bool half_on_cpu = q->dtype == CUDAL2_F16 && q->device->device_bit == CUDAL2_ON_CPU;
    if (!possible)
        error_set(err, EXIT_CODE_UNAVAILABLE, "no contender can multiply %s on device %s%s: %.160s",
                  dtype_names[q->dtype], q->device->kind, half_on_cpu ? " (dtype native is f32 there)" : "",
                  here.bytes        ? here.bytes
                  : elsewhere.bytes ? elsewhere.bytes
                                    : "there is none");
    text_free(&here);
    text_free(&elsewhere);
    return possible ? 0 : err->code;
}

int preflight_search_check(const struct preflight_question *q, struct error *err)
{
    struct text reasons = {0};
    bool possible = false;
    for (size_t i = 0; i < registry_count(q->registry) && !possible; i++) {
        const struct contender *c = registry_at(q->registry, i);
        char why[CUDAL2_WHY];
        if (c->role != ROLE_CANDIDATE)
            continue;
        bool able = can(q, c, why);
        possible = able && c->ops->list_variants;
        if (!possible)
            add_reason(&reasons, c, able ? "has no variants to choose among" : why);
    }
    if (!possible)
        error_set(err, EXIT_CODE_UNAVAILABLE, "nothing to search on device %s: %.300s", q->device->kind,
                  reasons.bytes ? reasons.bytes : "there is no candidate");
    text_free(&reasons);
    return possible ? 0 : err->code;
}
