/*
 * rank.h - a choice for any problem: the configurations of a kernel set's space that the model (choice/cudal2/) expects
 * to be fastest, for measure/ to race or to take as they are. The spaces are read when they are first asked for.
 */
#ifndef CUDAL2_CHOICE_RANK_H
#define CUDAL2_CHOICE_RANK_H

#include "contender/module.h"
#include "device/device.h"

struct ranker;

/* NULL out of memory. The device must outlive it. `threads` compile at once. */
struct ranker *ranker_open(const struct device_info *device, unsigned threads);
void ranker_close(struct ranker *r);
unsigned ranker_threads(const struct ranker *r);

struct rank_query {
    const struct module_set *set;
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    uint64_t workspace_bytes;
    size_t breadth;
};

/* Keys of the model's fastest that take the problem, fastest first, at most `breadth` of them; 0 where the set has no
 * space, or none that can be read. */
size_t ranker_choose(struct ranker *r, const struct rank_query *query, struct cudal2_variant *out);

#endif
