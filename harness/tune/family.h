/*
 * family.h - one searched kernel set inside the tuner: its space for both layouts, the device it is worked out for, and
 * what is raced for a problem.
 */
#ifndef CUDAL2_TUNE_FAMILY_H
#define CUDAL2_TUNE_FAMILY_H

#include "contender/tuned.h"
#include "contender/module.h"
#include "device/device.h"
#include "tune/pool.h"
#include "choice/prune.h"

/* Tables whose entries race again: the one that a search goes into, and the offline one in server mode. */
#define FAMILY_TABLES 2

struct family {
    const char *asked;       /* its name in the config; borrowed from there */
    struct device described; /* has only info: nothing here touches a device */
    struct module_set *set;
    uint32_t layouts;
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    uint64_t workspace_bytes;
    bool alone; /* launches are timed alone: whether they may overlap makes no difference */
    bool idle;  /* launches come after a gap */
    size_t breadth;
    size_t at_random;                               /* of them, drawn from the whole space: against the model's bias */
    struct space spaces[2];                         /* by layout */
    struct trees *trees;                            /* owned; NULL: the model chooses alone */
    const struct tuned_table *known[FAMILY_TABLES]; /* NULL, or what an earlier search found: it races again */
};

/* Opens the set and its space. *has_space is false, and nothing is open, when `candidate` is no kernel set with a
 * space. Everything but `described.info`, layouts, types, workspace and breadth is filled in here. */
int family_open(struct family *f, const char *candidate, const char *kernel_directory, bool *has_space,
                struct error *err);
void family_close(struct family *f);

/* Keys to race for a problem in a layout: what `known` has for this very problem, the same launched
 * otherwise, the set's entries that fit, then the model's choice and some at random, `breadth` in all and no key twice.
 * A JSON array owned by the caller. */
cJSON *family_choose(const struct family *f, enum cudal2_layout layout, const struct cudal2_problem *problem);

struct family_problems {
    const struct cudal2_problem *problems;
    size_t n;
};

/* What compiling everything that family_choose names came to. */
struct family_compiled {
    size_t compiled, spilled, serialised, failed;
    char last_failure[CUDAL2_WHY];
};

/* Compiles into the cache on disk what the problems will race, and rejects what may not win, until every problem's
 * choice stands. */
int family_compile(struct family *f, const struct family_problems *problems, const struct pool_request *pool,
                   struct family_compiled *out, struct error *err);

/* NULL, or why a kernel with this compiler log may not win, in why[CUDAL2_WHY]: it spills, has a stack, or its wgmma
 * are serialised (ptxas C7510, C7511 and their kin). */
const char *family_objection(const char *log, const char *entry, char *why);

#endif
