/*
 * mock_cuda_run.h - what a test needs around the driver of mock_cuda.h: kernels, a compiler and a cache.
 */
#ifndef CUDAL2_TESTS_MOCK_CUDA_RUN_H
#define CUDAL2_TESTS_MOCK_CUDA_RUN_H

#include "base/file.h"
#include "compile/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "nvrtc_fixture.h"

static bool find_kernels(void)
{
    char directory[512], beside[600], found[1024];
    struct error err;
    if (file_executable_directory(directory, sizeof directory, &err) != 0)
        return false;
    snprintf(beside, sizeof beside, "%s/../../kernels", directory);
    if (kernel_directory_find(beside, found, sizeof found, &err) != 0 &&
        kernel_directory_find("kernels", found, sizeof found, &err) != 0)
        return false;
    return setenv("CUDAL2_KERNELS", found, 1) == 0;
}

/* What opening the device needs: kernels, a compiler and a cache of its own (mkdtemp's template). False: not here, it
 * says why. */
static bool mock_environment(char *cache)
{
    return has_nvrtc() && find_kernels() && mkdtemp(cache) && setenv("CUDAL2_CACHE", cache, 1) == 0;
}

/* For a test's set-up: a fresh driver, and the device on it; what opening it took is not counted. -1, and it says why.
 */
static inline int mock_open(struct device **out)
{
    struct error err;
    memset(&mock, 0, sizeof mock);
    mock.limits[CU_LIMIT_PERSISTING_L2] = 1024;
    if (cuda_open_with(resolve, 0, out, &err) != 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    assert_int_equal(mock.n, 0); /* nothing of it is left in the stream */
    mock.kernels = mock.blockers = mock.graph_launches = mock.uploads = mock.waits = 0;
    return 0;
}

/* For its teardown: -1 where events or memory are left. */
static inline int mock_close(struct device *device)
{
    device->ops->close(device);
    return mock.live_events == 0 && mock.live_memory == 0 ? 0 : -1;
}

/* The device of the tests: each that stands in ON_MOCK has a fresh one, and leaves no events and no memory behind. */
static struct device *d;

static inline int open_mock(void **state)
{
    (void)state;
    return mock_open(&d);
}

static inline int close_mock(void **state)
{
    (void)state;
    return mock_close(d);
}

#define ON_MOCK(test) cmocka_unit_test_setup_teardown(test, open_mock, close_mock)

/* Removes the cache; returns the status of the tests. */
static int mock_leave(const char *cache, int status_of_tests)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command) != 0 ? 1 : status_of_tests;
}

#endif
