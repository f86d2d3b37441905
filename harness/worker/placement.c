/*
 * placement.c - how many sets and visits a cell gets and who shares, from the problem's bytes and the size of the L2
 * (docs/method.md, section 3). Pure. Called by cell.c.
 */
#include "worker/placement.h"

#include <math.h>

#include "measure/chain.h"
#include "operands/operands.h"
#include "record/record.h"

/* A warm offline segment of a small problem spreads its launches over this many places, as long as all of them fit in a
 * quarter of the L2: the place of a matrix is then averaged within a segment instead of over many groups. */
#define WARM_PLACES 8
_Static_assert(WARM_PLACES <= DEVICE_MAX_VISITS, "a segment can visit every place");

/* Places that a segment visits one after the other where its sets are too large to take turns: as many as make eight
 * with the sets, and as hold two L2s' worth of matrices, but three at most, for each visit takes as long as a segment
 * of one. What is too large for three stays at one: a visit to a place begins with the L2 full of the place before,
 * which long after still shows in launches that do not fit into it. */
#define MOST_VISITS 3.0
#define VISITED_L2S 2.0
#define LEAST_VISITS 3.0

/* Matrices over this many L2s are shared, with the cache emptied between contenders (segment.c): in the same place two
 * contenders differ by less than in places of their own, and what is filled once is not filled ten times. Where nothing
 * is timed as a segment they are shared if sets for a dozen would take over a quarter of the memory. */
#define CACHED_L2S 2.0
#define OWN_SETS 12.0
#define OWN_MEMORY 0.25

/* A, B in both layouts, C, with their gaps. */
static double set_bytes(const struct cudal2_problem *p)
{
    const struct matrix_extent all[] = {problem_a(p), problem_b(p, CUDAL2_NN), problem_b(p, CUDAL2_TN), problem_c(p)};
    double elements = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        elements += (double)extent_elements(&all[i]);
    if (problem_reads_c(p)) /* and what it is to hold */
        elements += (double)extent_elements(&all[3]);
    return elements * (double)dtype_bytes(p->dtype);
}

/* Of a contender where all have sets of their own: a dozen of them are to fit. */
static double affordable_sets(const struct config *config, const struct device_info *info,
                              const struct cudal2_problem *p)
{
    double memory = (double)info->memory_bytes, limit = (double)config->limits.memory_bytes;
    double least = limit > 0 && (memory <= 0 || limit < memory) ? limit : memory;
    return least > 0 ? floor(OWN_MEMORY * least / (OWN_SETS * set_bytes(p))) : INFINITY;
}

/* One for each layer: all are there when the chain has run, and judged then. */
static size_t sets_of_chain(const struct config *config, const struct device_info *info, const struct cudal2_problem *p)
{
    double wanted = chain_layers(config, info, p) + CHAIN_PRIMERS, most = OPERANDS_MAX_SETS / RECORD_MAX_CONTENDERS;
    return (size_t)fmin(fmin(wanted, most), fmax(affordable_sets(config, info, p), CHAIN_LEAST_LAYERS));
}

/* Sets of operands one contender cycles through at each place: with cache rotate, so many that none is still cached
 * when it comes round again, or as many as a segment has launches and primers; then it empties the cache as well
 * (measure/rotation.h). */
static size_t sets_of_one(const struct config *config, const struct device_info *info, const struct cudal2_problem *p,
                          enum mode mode)
{
    double l2 = (double)info->l2_bytes;
    double most = OPERANDS_MAX_SETS / RECORD_MAX_CONTENDERS;
    bool segments = timing_any_segment(info->timings);
    if (mode == MODE_CHAIN)
        return sets_of_chain(config, info, p);
    if (config->cache[mode] == CACHE_ROTATE)
        return (size_t)fmax(1,
                            fmin(fmin(ceil(2.0 * l2 / problem_bytes(p)) + 1, most), affordable_sets(config, info, p)));
    if (config->cache[mode] == CACHE_FLUSH || config->cache[mode] == CACHE_LEFT || mode == MODE_SERVER || !segments)
        return 1;
    return (size_t)fmax(1, fmin(floor(l2 / 4 / set_bytes(p)), WARM_PLACES));
}

static unsigned visits_of_one(const struct device_info *info, const struct cudal2_problem *p, size_t sets)
{
    double fit = VISITED_L2S * (double)info->l2_bytes / (set_bytes(p) * (double)sets);
    if (fit < LEAST_VISITS)
        return 1;
    return (unsigned)fmax(1, fmin(fmin(floor(fit), WARM_PLACES / (double)sets), MOST_VISITS));
}

/* The paper's loop gives both kernels of a pair the same matrices: what a launch finds is what the rival left. */
static bool is_shared(const struct config *config, const struct device_info *info, const struct cudal2_problem *p,
                      enum mode mode)
{
    bool cached = set_bytes(p) <= CACHED_L2S * (double)info->l2_bytes;
    bool segments = timing_any_segment(info->timings);
    bool affordable = OWN_SETS * set_bytes(p) <= OWN_MEMORY * (double)info->memory_bytes;
    return (!cached && (segments || !affordable)) || config->protocol == PROTOCOL_PAPER ||
           config->cache[mode] == CACHE_LEFT;
}

struct placement placement_choose(const struct config *config, const struct device_info *info,
                                  const struct cudal2_problem *problem, enum mode mode, enum timing headline)
{
    size_t sets = sets_of_one(config, info, problem, mode);
    bool visiting = mode == MODE_OFFLINE && config->cache[mode] == CACHE_WARM && timing_is_segment(headline) &&
                    config->protocol == PROTOCOL_ADAPTIVE;
    unsigned visits = visiting ? visits_of_one(info, problem, sets) : 1;
    return (struct placement){sets * visits, visits, is_shared(config, info, problem, mode)};
}
