/*
 * prune.h - which configurations of a space are worth measuring for one problem: those that are expected to be fastest,
 * by the model alone or as trees correct it, as long as the kernel takes the problem, with room for every kernel that
 * is not far behind.
 */
#ifndef CUDAL2_CHOICE_PRUNE_H
#define CUDAL2_CHOICE_PRUNE_H

#include "choice/space.h"
#include "choice/trees.h"

#define PRUNE_WITHIN 1.6       /* of the fastest prediction; nothing slower is measured */
#define PRUNE_SHARE_WITHIN 1.4 /* of it: a kernel keeps places only where it may win */
#define PRUNE_MAX 512          /* as many as a race takes (RACE_MAX_VARIANTS) */
#define PRUNE_WIDE 4
#define PRUNE_ASKED 2.0 /* of the model's fastest; trees are asked about nothing slower */

struct prune_request {
    const struct space *space;
    struct model_machine machine;
    struct space_conditions conditions;
    int64_t m, n, k;
    uint64_t workspace_bytes;
    size_t breadth;            /* how many at most, up to PRUNE_MAX */
    const struct trees *trees; /* of FEATURES_COUNT features; NULL: the model alone */
    bool idle, alone;          /* as in features.h; asked with trees only */
    bool wide;                 /* clusters of PRUNE_WIDE CTAs and more that read operands together, and no others */
};

/* Indices into the space's configurations, the fastest prediction first. Each kernel whose best is within
 * PRUNE_SHARE_WITHIN gets at least a sixth of the breadth, if it has that many there; one tile and split gets half of
 * it at most. Rejected configurations and those that refuse the problem are passed over. Returns how many; 0 when none
 * can do it. */
size_t prune_choose(const struct prune_request *request, size_t *out);

/* A list of indices, best first, and how many of them have been looked at. */
struct prune_list {
    size_t items[PRUNE_MAX], n, at;
};

/* Every so manieth place is for what the model expects without trees, and for wide clusters: where trees know nothing,
 * they know it wrongly. */
#define PRUNE_MODEL_EVERY 8
#define PRUNE_WIDE_EVERY 4

struct prune_lists {
    struct prune_list first, model, wide;
};

/* The choice by trees, the model's own and that of wide clusters (by both in turn) in one, each place from its own list
 * as long as that has any, no index twice; how many, at most `most`. */
size_t prune_merge(struct prune_lists *lists, size_t most, size_t *taken);

/* Puts the request's choice into chosen[PRUNE_MAX], `most` of it at most; returns how many. */
typedef size_t (*prune_chooser)(const struct prune_request *request, size_t most, size_t *chosen);

/* How many configurations there may be at most, up to PRUNE_MAX, and how many for the places of wide clusters. */
struct prune_most {
    size_t all, wide;
};

/* The request chosen for by `choose` with its trees, without them (where it has any), and of wide clusters alone,
 * merged into taken[PRUNE_MAX]; returns how many. */
size_t prune_together(const struct prune_request *request, prune_chooser choose, const struct prune_most *most,
                      size_t *taken);

/* Whether the configuration takes the request's problem, is not rejected, lets no operand leave the L2 first where the
 * problem fits there, and is not the same as one with a stage more where each CTA has one tile. */
bool prune_takes(const struct prune_request *request, const struct configuration *c);

#endif
