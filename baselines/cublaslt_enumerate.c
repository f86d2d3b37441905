/*
 * cublaslt_enumerate.c - walks the neighbours of the heuristic's answers by AlgoInit, AlgoCapGetAttribute,
 * AlgoConfigSetAttribute and AlgoCheck. An enumeration of everything has some 60,000 algorithms a problem, most of them
 * hopeless. Where the best of it was over 2% faster than the heuristic's on an H100, cluster, custom option or split of
 * K had changed, often two at once, and the tile in half of the cases. Called by cublaslt.c for cublaslt-exhaustive.
 */
#include "cublaslt_attributes.h"
#include "cublaslt_enumerate.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 1024 /* of one attribute */
#define SPLIT_K_MOST 16

/* A list that does not fit is not given at all. */
_Static_assert(VALUES_MAX > CUBLASLT_MATMUL_TILE_END, "an id may offer every tile");

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
    int n, most; /* listed, and how many may be for now */
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

struct seeds {
    struct seed *list;
    size_t n;
};

/* Every attribute but the tile, of which an id has hundreds: the k-th value of each for every seed, then the next. */
static void walk_around(struct search *s, const struct seeds *seeds)
{
    for (int k = 0; k < VALUES_MAX; k++)
        for (int which = LT_TILE + 1; which < LT_CHOICES; which++)
            for (size_t i = 0; i < seeds->n && s->n < s->most; i++) {
                const struct seed *seed = &seeds->list[i];
                cublasLtMatmulAlgo_t a = seed->algorithm;
                if (k < seed->n_values[which] && change(seed, &a, (enum lt_attribute)which, seed->values[which][k]))
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

/* Another value of an attribute but the tile that no earlier change has taken; false: none was found, or is taken. */
static bool change_any(const struct seed *seed, cublasLtMatmulAlgo_t *a, unsigned *changed, uint64_t *state)
{
    for (int tries = 0; tries < 16; tries++) {
        uint64_t r = draw(state);
        int which = LT_TILE + 1 + (int)(r % (LT_CHOICES - LT_TILE - 1)), n = seed->n_values[which];
        if (n < 2 || *changed & 1u << which)
            continue;
        *changed |= 1u << which;
        return change(seed, a, (enum lt_attribute)which, seed->values[which][(r >> 8) % (uint64_t)n]);
    }
    return false;
}

static bool change_tile(const struct seed *seed, cublasLtMatmulAlgo_t *a, uint64_t *state)
{
    int n = seed->n_values[LT_TILE];
    return n > 1 && change(seed, a, LT_TILE, seed->values[LT_TILE][draw(state) % (uint64_t)n]);
}

/* One seed after the other with two attributes changed, or with the tile and one or two. */
static void walk_far(struct search *s, const struct seeds *seeds, bool tile, uint64_t *state)
{
    for (size_t i = 0; i < LT_DRAWS && seeds->n > 0 && s->n < s->most; i++) {
        const struct seed *seed = &seeds->list[i % seeds->n];
        cublasLtMatmulAlgo_t a = seed->algorithm;
        unsigned changed = 0;
        bool more = !tile || (draw(state) & 1);
        if ((!tile || change_tile(seed, &a, state)) && change_any(seed, &a, &changed, state) &&
            (!more || change_any(seed, &a, &changed, state)))
            offer(s, &a);
    }
}

static int open_seeds(const struct search *s, struct seed *seeds)
{
    int n = 0;
    for (int i = 0; i < s->n && n < LT_SEEDS; i++)
        n += seed_open(&s->out[i], &seeds[n]);
    return n;
}

/* A third of the room each; what one part leaves is the next one's. */
static void walk(struct search *s, const struct seeds *seeds, int capacity, uint64_t state)
{
    int third = (capacity - s->n) / 3;
    s->most = s->n + third;
    walk_around(s, seeds);
    s->most = capacity - third;
    walk_far(s, seeds, false, &state);
    s->most = capacity;
    walk_far(s, seeds, true, &state);
}

static uint64_t state_of(const struct cudal2_problem *p)
{
    return (uint64_t)p->m * 1000003u + (uint64_t)p->n * 1009u + (uint64_t)p->k;
}

int lt_enumerate(const struct lt_matmul *m, const struct cudal2_setup *setup, struct lt_algorithm *out, int capacity,
                 char *why)
{
    struct lt_algorithm *known = calloc(LT_MAX_ALGORITHMS, sizeof *known);
    struct seeds seeds = {calloc(LT_SEEDS, sizeof *seeds.list), 0};
    struct search s = {m, setup->workspace_bytes, out, 0, 0};
    int n = -CUDAL2_NO_MEMORY;
    if (known && seeds.list)
        n = lt_all_algorithms(m, setup->workspace_bytes, known, why);
    else
        snprintf(why, CUDAL2_WHY, "out of host memory");
    if (n > 0) {
        s.n = n < capacity ? n : capacity;
        memcpy(out, known, (size_t)s.n * sizeof *out);
        seeds.n = (size_t)open_seeds(&s, seeds.list);
        walk(&s, &seeds, capacity, state_of(&setup->problem));
        n = s.n;
    }
    free(seeds.list);
    free(known);
    return n;
}
