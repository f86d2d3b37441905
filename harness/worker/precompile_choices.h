/*
 * precompile_choices.h - the kernels that race for problems which no tuning table has: those that a cell would choose
 * (measure/choose.h), worked out beforehand and without a GPU, for the command `compile`.
 */
#ifndef CUDAL2_WORKER_PRECOMPILE_CHOICES_H
#define CUDAL2_WORKER_PRECOMPILE_CHOICES_H

#include "choice/rank.h"
#include "worker/precompile_list.h"

struct precompile_choices_request {
    const struct precompile_list_request *list;
    const struct module_set *set;
    struct device *device; /* only its info is read */
    struct ranker *ranker;
};

struct precompile_choices {
    struct precompile_key *keys;   /* the family is the set's name */
    struct cudal2_variant **texts; /* owned: what the keys point to */
    size_t n, capacity, text_capacity;
};

/* Adds to *out, which is all zero before the first call. What there was room for when memory runs out. Free in every
 * case. */
void precompile_choices_collect(const struct precompile_choices_request *request, struct precompile_choices *out);
void precompile_choices_free(struct precompile_choices *c);

#endif
