/*
 * supports.c - whether a contender takes a problem on a device, by what it declares: device, types, architecture,
 * multiples; else the reason. Pure. Called by registry, entrants and `list`.
 */
#include "contender/contender.h"

#include <inttypes.h>
#include <stdio.h>

bool contender_runs_on(const struct contender *c, const struct device_info *device, char *why)
{
    if (c->is.devices & device->device_bit)
        return true;
    const char *where = c->is.devices == CUDAL2_ON_CPU ? "the CPU" : "a CUDA GPU";
    snprintf(why, CUDAL2_WHY, "runs on %s only", where);
    return false;
}

/* "f16 and bf16": the names of the bits set. */
static void list_names(uint32_t bits, const char *const names[], char *out, size_t capacity)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; names[i]; i++) {
        if (!(bits & CUDAL2_BIT(i)))
            continue;
        int n = snprintf(out + length, capacity - length, "%s%s", length ? " and " : "", names[i]);
        if (n < 0 || (size_t)n >= capacity - length)
            return;
        length += (size_t)n;
    }
}

static bool refuse_type(const struct contender *c, const struct cudal2_problem *p, char *why)
{
    char names[64];
    if (!(c->is.dtypes & CUDAL2_BIT(p->dtype))) {
        list_names(c->is.dtypes, dtype_names, names, sizeof names);
        snprintf(why, CUDAL2_WHY, "multiplies %s only, not %s", names, dtype_names[p->dtype]);
        return true;
    }
    if (!(c->is.accumulates & CUDAL2_BIT(p->accumulate))) {
        list_names(c->is.accumulates, accumulate_names, names, sizeof names);
        snprintf(why, CUDAL2_WHY, "accumulates in %s only, not %s (--accumulate)", names,
                 accumulate_names[p->accumulate]);
        return true;
    }
    return false;
}

static bool refuse_architecture(const struct contender *c, const struct device_info *device, char *why)
{
    if (device->device_bit != CUDAL2_ON_CUDA)
        return false;
    if (c->is.min_cc && device->cc < c->is.min_cc) {
        snprintf(why, CUDAL2_WHY, "needs compute capability %d.%d or higher, this GPU has %d.%d", c->is.min_cc / 10,
                 c->is.min_cc % 10, device->cc / 10, device->cc % 10);
        return true;
    }
    if (c->is.max_cc && device->cc > c->is.max_cc) {
        snprintf(why, CUDAL2_WHY, "runs up to compute capability %d.%d, this GPU has %d.%d", c->is.max_cc / 10,
                 c->is.max_cc % 10, device->cc / 10, device->cc % 10);
        return true;
    }
    return false;
}

/* The GPU's own checks (kernels/harness/) know packed matrices only. */
static bool refuse_strides(const struct contender *c, const struct device_info *device, const struct cudal2_problem *p,
                           char *why)
{
    if (problem_is_packed(p))
        return false;
    if (device->device_bit == CUDAL2_ON_CUDA)
        snprintf(why, CUDAL2_WHY, "leading dimensions are measured on the CPU device only");
    else if (!(c->is.flags & CUDAL2_STRIDES))
        snprintf(why, CUDAL2_WHY, "takes packed matrices only, and this problem has leading dimensions");
    return why[0] != '\0';
}

/* Nor do they know what C was. In a segment each launch would also take the output of the one before: the n-th on a set
 * leaves alpha (1 + beta + ... + beta^(n-1)) A B + beta^n C, which is known, and is what its checks would have to hold
 * C against. */
static bool refuse_scales(const struct contender *c, const struct device_info *device, const struct cudal2_problem *p,
                          char *why)
{
    if (!problem_is_scaled(p))
        return false;
    if (device->device_bit == CUDAL2_ON_CUDA)
        snprintf(why, CUDAL2_WHY, "alpha and beta are measured on the CPU device only");
    else if (!(c->is.flags & CUDAL2_SCALES))
        snprintf(why, CUDAL2_WHY, "takes an alpha of 1 and a beta of 0 only, and this problem has others");
    return why[0] != '\0';
}

static bool refuse_multiple(const char *name, int64_t value, int64_t multiple, char *why)
{
    if (multiple <= 1 || value % multiple == 0)
        return false;
    snprintf(why, CUDAL2_WHY, "needs %s to be a multiple of %" PRId64 ", not %" PRId64, name, multiple, value);
    return true;
}

bool contender_supports(const struct contender *c, const struct device_info *device,
                        const struct cudal2_problem *problem, char *why)
{
    why[0] = '\0';
    if (!c->available) {
        snprintf(why, CUDAL2_WHY, "%s", c->reason);
        return false;
    }
    return contender_runs_on(c, device, why) &&
           !(refuse_type(c, problem, why) || refuse_architecture(c, device, why) ||
             refuse_strides(c, device, problem, why) || refuse_scales(c, device, problem, why) ||
             refuse_multiple("M", problem->m, c->is.m_multiple, why) ||
             refuse_multiple("N", problem->n, c->is.n_multiple, why) ||
             refuse_multiple("K", problem->k, c->is.k_multiple, why));
}
