/*
 * inspect.h - kernels compiled and held against their manifests without a GPU: whether each variant compiles, takes the
 * arguments that the harness would give it, and may be launched on an architecture; and what it is made of.
 */
#ifndef CUDAL2_CONTENDER_INSPECT_H
#define CUDAL2_CONTENDER_INSPECT_H

#include "compile/cubin.h"
#include "compile/mix.h"
#include "contender/module.h"
#include "device/chips.h"
#include "model/verdict.h"

struct inspect_request {
    const struct chip *chip;               /* the set's device has chip_info of it */
    uint32_t dtypes, accumulates, layouts; /* bits */
    const struct cudal2_problem *problems; /* whose launches are worked out; only their sizes count */
    size_t n_problems;
    size_t most; /* variants at most */
    unsigned threads;
};

#define INSPECT_LOG_BYTES 3000u

struct inspected {
    char *log; /* owned; the beginning of what the compiler said where it does not compile, else NULL */
    struct cudal2_variant variant;
    enum cudal2_dtype dtype;
    enum cudal2_accumulate accumulate;
    enum cudal2_layout layout;
    enum verdict verdict; /* VERDICT_OK, or what of it does not compile or fit */
    char why[CUDAL2_WHY]; /* when not ok; when ok, why no problem was launched, or "" */
    struct compile_usage usage;
    struct cubin_entry code;
    char instructions[128];
    struct mix mix;
    /* Of the largest launch on any of the problems; where the set means the variant for none of them, of one that its
     * kernel takes; 0 threads: there is none. */
    unsigned threads, dynamic_bytes, cluster_blocks;
    size_t taken; /* of the problems */
};

struct inspection {
    struct inspected *items; /* owned; in the order of the set, a manifest's defaults first */
    size_t n;
    size_t legal;          /* variants that there are, among the combinations that were looked at */
    bool all_seen;         /* every combination was */
    char none[CUDAL2_WHY]; /* where legal is 0: the last reason */
};

/* Every legal combination of a manifest's parameters, or every entry of a set, for each of its types and layouts. Where
 * that is more than request->most: of a set the first entries; of a manifest the defaults, and combinations that lie
 * spread over the product, or, where it is too large to be walked whole, those next to the defaults first.
 * EXIT_CODE_UNAVAILABLE: no NVRTC, or none for this architecture. Free the inspection in every case. */
int inspect_set(const struct module_set *set, const struct inspect_request *request, struct inspection *out,
                struct error *err);
void inspection_free(struct inspection *i);

#endif
