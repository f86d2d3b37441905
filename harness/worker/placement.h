/*
 * placement.h - where the matrices of a cell lie: how many sets of operands a contender has, how many places a segment
 * visits, and who shares what. Where matrices lie moves a small kernel's time by more than repeating it does
 * (docs/method.md, section 4).
 */
#ifndef CUDAL2_WORKER_PLACEMENT_H
#define CUDAL2_WORKER_PLACEMENT_H

#include "config/config.h"
#include "device/device.h"

struct placement {
    size_t sets_each; /* of one contender, of all visits together */
    unsigned visits;  /* 1..DEVICE_MAX_VISITS, each with sets_each / visits sets of its own */
    bool shared;      /* all contenders on the same sets; an A/A copy has its own even then */
};

/* For a cell of this problem and mode whose headline timing is `headline`. */
struct placement placement_choose(const struct config *config, const struct device_info *info,
                                  const struct cudal2_problem *problem, enum mode mode, enum timing headline);

#endif
