/*
 * cublaslt_enumerate.c - walks the neighbours of the heuristic's answers by AlgoInit, AlgoCapGetAttribute,
 * AlgoConfigSetAttribute and AlgoCheck. An enumeration of everything has some 60,000 algorithms a problem, most of them
 * hopeless; the best one was within two attributes of an answer of the heuristic on the shapes that were tried.
 * Called by cublaslt.c for the contenders cublaslt-exhaustive.
 */
#include "cublaslt_attributes.h"
#include "cublaslt_enumerate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 512 /* of one attribute */
#define SPLIT_K_MOST 16

/* One algorithm id: an answer of the heuristic, taken apart, and the values that each attribute may have. */
struct seed {
    cublasLtMatmulAlgo_t algorithm;
    uint32_t value[LT_CHOICES];
    uint32_t values[LT_CHOICES][VALUES_MAX];
    int n_values[LT_CHOICES];
};

struct search {
    const struct lt_matmul *m;
    size_t workspace_bytes;
    struct lt_algorithm *out;
    int n, capacity;
};

/* ---- what an id offers ---- */

static uint32_t capability(const cublasLtMatmulAlgo_t *a, cublasLtMatmulAlgoCapAttributes_t which)
{
    uint32_t value = 0;
    size_t written = 0;
    cublasStatus_t status = cublasLtMatmulAlgoCapGetAttribute(a, which, &value, sizeof value, &written);
    return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : 0;
}

/* Identifiers of a list that the library keeps; its own value alone where there is none. */
static void take_list(struct seed *s, enum lt_attribute which, cublasLtMatmulAlgoCapAttributes_t list)
{
    size_t written = 0;
    cublasStatus_t status =
        cublasLtMatmulAlgoCapGetAttribute(&s->algorithm, list, s->values[which], sizeof s->values[which], &written);
    s->n_values[which] = status == CUBLAS_STATUS_SUCCESS ? (int)(written / sizeof s->values[which][0]) : 0;
}

static void take_range(struct seed *s, enum lt_attribute which, uint32_t first, uint32_t last)
{
    for (uint32_t v = first; v <= last && s->n_values[which] < VALUES_MAX; v++)
        s->values[which][s->n_values[which]++] = v;
}

static void take_reductions(struct seed *s)
{
    uint32_t mask = capability(&s->algorithm, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK);
    for (uint32_t bit = 1; bit != 0 && bit <= mask; bit <<= 1)
        if (mask & bit)
            s->values[LT_REDUCTION][s->n_values[LT_REDUCTION]++] = bit;
}

static void take_values(struct seed *s)
{
    take_list(s, LT_TILE, CUBLASLT_ALGO_CAP_TILE_IDS);
    take_list(s, LT_STAGES, CUBLASLT_ALGO_CAP_STAGES_IDS);
    take_range(s, LT_CUSTOM, 0, capability(&s->algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX));
    take_range(s, LT_SWIZZLE, 0, capability(&s->algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT));
    take_range(s, LT_INNER_SHAPE, CUBLASLT_MATMUL_INNER_SHAPE_UNDEFINED, CUBLASLT_MATMUL_INNER_SHAPE_END - 1);
    take_range(s, LT_CLUSTER_SHAPE, CUBLASLT_CLUSTER_SHAPE_AUTO, CUBLASLT_CLUSTER_SHAPE_END - 1);
    if (capability(&s->algorithm, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT)) {
        take_range(s, LT_SPLIT_K, 1, SPLIT_K_MOST);
        take_reductions(s);
    }
}

static bool seed_open(const struct lt_algorithm *from, struct seed *out)
{
    memset(out, 0, sizeof *out);
    out->algorithm = from->algorithm;
    for (int i = 0; i < LT_CHOICES; i++)
        if (!lt_read_attribute(&from->algorithm, (enum lt_attribute)i, &out->value[i]))
            return false;
    take_values(out);
    return true;
}

/* ---- one candidate ---- */

static bool is_listed(const struct search *s, const cublasLtMatmulAlgo_t *a)
{
    for (int i = 0; i < s->n; i++)
        if (memcmp(&s->out[i].algorithm, a, sizeof *a) == 0)
            return true;
    return false;
}

/* Adds the algorithm where the library takes it and it is new. */
static void offer(struct search *s, const cublasLtMatmulAlgo_t *a)
{
    cublasLtMatmulHeuristicResult_t result;
    memset(&result, 0, sizeof result);
    const struct lt_matmul *m = s->m;
    if (is_listed(s, a) ||
        cublasLtMatmulAlgoCheck(m->handle, m->operation, m->a, m->b, m->c, m->c, a, &result) != CUBLAS_STATUS_SUCCESS)
        return;
    if (result.workspaceSize > s->workspace_bytes)
        return;
    s->out[s->n++] =
        (struct lt_algorithm){.algorithm = *a, .workspace_bytes = result.workspaceSize, .waves = result.wavesCount};
}

/* K in one piece needs no reduction; in pieces it needs one, and the last that the id offers is the most exact. */
static bool settle_split(const struct seed *seed, cublasLtMatmulAlgo_t *a, uint32_t pieces)
{
    int n = seed->n_values[LT_REDUCTION];
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
    if (pieces > 1 && n > 0)
        scheme = seed->value[LT_REDUCTION] ? seed->value[LT_REDUCTION] : seed->values[LT_REDUCTION][n - 1];
    return lt_write_attribute(a, LT_REDUCTION, scheme);
}

static bool change(const struct seed *seed, cublasLtMatmulAlgo_t *a, enum lt_attribute which, uint32_t value)
{
    return lt_write_attribute(a, which, value) && (which != LT_SPLIT_K || settle_split(seed, a, value));
}

/* ---- the walk ---- */

static void walk_one(struct search *s, const struct seed *seed)
{
    for (int which = 0; which < LT_CHOICES; which++)
        for (int i = 0; i < seed->n_values[which] && s->n < s->capacity; i++) {
            cublasLtMatmulAlgo_t a = seed->algorithm;
            if (change(seed, &a, (enum lt_attribute)which, seed->values[which][i]))
                offer(s, &a);
        }
}

/* splitmix64: the same list for the same problem, so that a winner's key means the same in the next run. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void offer_random(struct search *s, const struct seed *seed, uint64_t *state)
{
    cublasLtMatmulAlgo_t a = seed->algorithm;
    int changed = 0;
    for (int tries = 0; tries < 16 && changed < 2; tries++) {
        uint64_t r = draw(state);
        enum lt_attribute which = (enum lt_attribute)(r % LT_CHOICES);
        int n = seed->n_values[which];
        if (n < 2)
            continue;
        if (!change(seed, &a, which, seed->values[which][(r >> 8) % (uint64_t)n]))
            return;
        changed++;
    }
    offer(s, &a);
}

static int open_seeds(const struct search *s, struct seed *seeds)
{
    int n = 0;
    for (int i = 0; i < s->n && n < LT_SEEDS; i++)
        n += seed_open(&s->out[i], &seeds[n]);
    return n;
}

int lt_enumerate(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out, int capacity,
                 char *why)
{
    struct lt_algorithm *known = calloc(LT_MAX_ALGORITHMS, sizeof *known);
    struct seed *seeds = calloc(LT_SEEDS, sizeof *seeds);
    struct search s = {m, setup->workspace_bytes, out, 0, capacity};
    int n = -CUDAL2_NO_MEMORY;
    if (known && seeds)
        n = lt_all_algorithms(m, setup->workspace_bytes, known, why);
    else
        snprintf(why, CUDAL2_WHY, "out of host memory");
    if (n > 0) {
        s.n = n < capacity ? n : capacity;
        memcpy(out, known, (size_t)s.n * sizeof *out);
        int n_seeds = open_seeds(&s, seeds);
        for (int i = 0; i < n_seeds; i++)
            walk_one(&s, &seeds[i]);
        uint64_t state =
            (uint64_t)setup->problem.m * 1000003u + (uint64_t)setup->problem.n * 1009u + (uint64_t)setup->problem.k;
        for (int i = 0; i < LT_DRAWS && n_seeds > 0 && s.n < capacity; i++)
            offer_random(&s, &seeds[i % n_seeds], &state);
        n = s.n;
    }
    free(seeds);
    free(known);
    return n;
}
