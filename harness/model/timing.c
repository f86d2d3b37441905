/*
 * timing.c - the table of timings and the questions that it answers. Constants and pure functions. Called by every room
 * above model/.
 */
#include "model/timing.h"

#include <string.h>

#define ANY_MODE ((1u << MODE_OFFLINE) | (1u << MODE_SERVER) | (1u << MODE_CHAIN))

#define TIMING_NAME(id, name) [TIMING_##id] = (name),
const char *const timing_names[] = {TIMING_LIST(TIMING_NAME)[TIMING_COUNT] = NULL};
#define TIMING_EQUAL_NAME(id, name) [TIMING_##id] = "equal_path_" name,
const char *const timing_equal_names[] = {TIMING_LIST(TIMING_EQUAL_NAME)[TIMING_COUNT] = NULL};

const char *const overlap_names[] = {"none", "launches", NULL};

const struct timing_info timing_table[] = {
    [TIMING_DEVICE] = {.help = "GPU time of a launch alone: it begins when the one ahead of it has ended",
                       .devices = CUDAL2_ON_CUDA,
                       .modes = ANY_MODE,
                       .way = TIMING_BY_SEGMENT,
                       .by_default = true},
    [TIMING_DEVICE_ROW] = {.help = "GPU time of a launch in a row whose launches may overlap: throughput alone",
                           .devices = CUDAL2_ON_CUDA,
                           .modes = 1u << MODE_OFFLINE, /* from idle there is no launch ahead */
                           .way = TIMING_BY_SEGMENT,
                           .overlaps = true},
    [TIMING_EVENT] = {.help = "CUDA events around a launch, with the cost of launching (the paper's Listing 1)",
                      .devices = CUDAL2_ON_CUDA,
                      .modes = ANY_MODE,
                      .way = TIMING_BY_EVENTS,
                      .by_default = true},
    [TIMING_WALL] = {.help = "the host's clock around a launch and the wait for its end",
                     .devices = CUDAL2_ON_CUDA | CUDAL2_ON_CPU,
                     .modes = ANY_MODE,
                     .way = TIMING_BY_HOST,
                     .by_default = true},
};
_Static_assert(sizeof timing_table / sizeof timing_table[0] == TIMING_COUNT, "each timing has its row");

uint32_t timing_bits(uint32_t device)
{
    uint32_t bits = 0;
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_table[t].devices & device)
            bits |= CUDAL2_BIT(t);
    return bits;
}

uint32_t timing_defaults(void)
{
    uint32_t bits = 0;
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_table[t].by_default)
            bits |= CUDAL2_BIT(t);
    return bits;
}

bool timing_any_segment(uint32_t bits)
{
    for (int t = 0; t < TIMING_COUNT; t++)
        if ((bits & CUDAL2_BIT(t)) != 0 && timing_is_segment((enum timing)t))
            return true;
    return false;
}

static bool is_able(enum timing timing, uint32_t able, enum mode mode)
{
    return (able & CUDAL2_BIT(timing)) != 0 && (timing_table[timing].modes & CUDAL2_BIT(mode)) != 0;
}

enum timing timing_choose(enum timing wanted, uint32_t able, enum mode mode)
{
    if (is_able(wanted, able, mode))
        return wanted;
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_table[t].by_default && is_able((enum timing)t, able, mode))
            return (enum timing)t;
    return wanted;
}

int timing_find(const char *name)
{
    for (int t = 0; name && t < TIMING_COUNT; t++)
        if (strcmp(timing_names[t], name) == 0)
            return t;
    return -1;
}

const char *timing_overlapping_name(const char *name)
{
    int at = timing_find(name);
    if (at < 0 || !timing_is_segment((enum timing)at))
        return name;
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_table[t].overlaps)
            return timing_names[t];
    return name;
}
