/*
 * precompile_list.h - the kernels that the cells of a run will ask for, so that they are compiled several at a
 * time, before the first cell or beside the first ones (behind.h), and not one by one in races.
 */
#ifndef CUDAL2_WORKER_PRECOMPILE_LIST_H
#define CUDAL2_WORKER_PRECOMPILE_LIST_H

#include "config/config.h"
#include "contender/module.h"
#include "contender/tuned.h"

struct precompile_list_request {
    const struct config *config; /* its problems, layouts and modes */
    const char *const *families; /* of the kernel sets that the run has */
    size_t n_families;
    enum cudal2_dtype dtype;
    uint32_t accumulates; /* bits */
    const struct tuned_tables *tuned;
    bool chooses;        /* what no table has is chosen, and compiled, when it comes */
    const size_t *order; /* places of the config's shapes, those that are wanted first ahead; NULL: all, as they are */
    size_t n_order;
};

struct precompile_list {
    struct precompile_key *keys; /* of the tables' entries for the problems, in order; the texts are the tables' */
    size_t n, capacity;
    bool own;  /* some problem races what its contender lists itself */
    bool open; /* some problem may ask for other kernels than the keys' */
};

/* What there was room for, with `own`, when memory runs out: the rest is compiled when it is asked for. Free in every
 * case. */
void precompile_list_collect(const struct precompile_list_request *request, struct precompile_list *out);
/* The same for one cell. */
void precompile_list_cell(const struct precompile_list_request *request, const struct cudal2_problem *problem,
                          enum mode mode, struct precompile_list *out);
void precompile_list_free(struct precompile_list *w);

#endif
