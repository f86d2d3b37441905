/*
 * rank.h - a choice for any problem: the configurations of a kernel set's space that are expected to be fastest, for
 * measure/ to race or to take as they are. The model (choice/cudal2/) expects, and trees that were learned on the
 * device's generation correct it. Spaces and trees are read when they are first asked for.
 */
#ifndef CUDAL2_CHOICE_RANK_H
#define CUDAL2_CHOICE_RANK_H

#include "choice/trees.h"
#include "contender/module.h"
#include "device/device.h"

struct ranker;

/* NULL out of memory. The device must outlive it. `threads` compile at once. */
struct ranker *ranker_open(const struct device_info *device, unsigned threads);
void ranker_close(struct ranker *r);
/* From now on it knows of a set no other kernels than its portfolio (portfolio.h), where it has one: they and the set's
 * own entries are there without a compiler. Before the first choice. */
void ranker_keep_portfolio(struct ranker *r);
unsigned ranker_threads(const struct ranker *r);

/* The trees of a set for a device, which the caller frees; NULL where there are none, or none of its generation. */
struct trees *rank_trees(const struct module_set *set, const struct device_info *device);

struct rank_query {
    const struct module_set *set;
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    uint64_t workspace_bytes;
    size_t breadth;
    bool idle, alone; /* as in cudal2/features.h */
};

/* Keys of what is expected to be fastest and takes the problem, fastest first, at most `breadth` of them; 0 where the
 * set has no space, or none that can be read. */
size_t ranker_choose(struct ranker *r, const struct rank_query *query, struct cudal2_variant *out);

/* Whether the key's kernel takes the problem, by its manifest: nothing is compiled. true also where that is not known:
 * the set has no space. Kept to the portfolio, false for each other kernel. */
bool ranker_takes(struct ranker *r, const struct rank_query *query, const char *key);

/* Whether the set's space has the key's kernel, so that ranker_choose would propose it if it were worth it. false also
 * where there is no space. */
bool ranker_knows(struct ranker *r, const struct rank_query *query, const char *key);

#endif
