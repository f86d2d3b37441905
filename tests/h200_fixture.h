/*
 * h200_fixture.h - an H200 that is described and not there, and the committed kernel set and search space on it.
 */
#ifndef CUDAL2_TESTS_H200_FIXTURE_H
#define CUDAL2_TESTS_H200_FIXTURE_H

#include "tune/family.h"

static struct device h200 = {.info = {.kind = "cuda",
                                      .device_bit = CUDAL2_ON_CUDA,
                                      .name = "NVIDIA H200",
                                      .cc = 90,
                                      .sm_count = 132,
                                      .max_sm_clock_mhz = 1980,
                                      .l2_bytes = 62914560,
                                      .peak_flops = 1070.5e12,
                                      .peak_bytes_per_s = 4814e9}};

/* The set cudal2 of the tree; fails the test when it is not good. */
static inline struct module_set *open_cudal2(void)
{
    struct module_set *set;
    struct error err;
    if (module_set_open("cudal2", "kernels", &h200, &set, &err))
        fail_msg("%s", err.text);
    return set;
}

static inline struct space_conditions h200_conditions(enum cudal2_accumulate accumulate, enum cudal2_layout layout)
{
    return (struct space_conditions){CUDAL2_F16, accumulate, layout, &h200.info};
}

static inline void open_space(const struct module_set *set, const struct space_conditions *conditions,
                              struct space *out)
{
    char path[1024];
    struct error err;
    assert_true(space_path(set, path, sizeof path));
    if (space_open(set, path, conditions, out, &err))
        fail_msg("%s", err.text);
}

#endif
