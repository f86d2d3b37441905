/* For tests that compile CUDA code, which needs NVRTC and no GPU. After the headers of cmocka. */
#ifndef CUDAL2_TESTS_NVRTC_FIXTURE_H
#define CUDAL2_TESTS_NVRTC_FIXTURE_H

#include "compile/nvrtc.h"

/* False, and it says why, where there is no NVRTC. */
static inline bool has_nvrtc(void)
{
    struct error err;
    int major, minor;
    bool there = nvrtc_version(&major, &minor, &err) == 0;
    if (!there)
        print_message("skipped: %s\n", err.text);
    return there;
}

/* Skips the test without it. */
static inline void require_nvrtc(void)
{
    if (!has_nvrtc())
        skip();
}

#endif
