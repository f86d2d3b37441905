/* What the GPU tests share: the device, memory on it, an error that fails the test. After the headers of cmocka. */
#ifndef CUDAL2_TESTS_GPU_FIXTURE_H
#define CUDAL2_TESTS_GPU_FIXTURE_H

#include "device/device.h"

static struct device *gpu;

static inline void check(int code, const struct error *err)
{
    if (code != 0)
        fail_msg("%s", err->text);
}

/* Given back by gpu->ops->release. */
static inline void *take(size_t bytes)
{
    void *memory = NULL;
    struct error err;
    check(gpu->ops->alloc(gpu, bytes, &memory, &err), &err);
    return memory;
}

#endif
