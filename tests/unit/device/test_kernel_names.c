/* The CUDA device reads, on a driver of the test's own, whose kernels a captured graph holds. */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* Functions of kernels that a launch enqueues, up to 0. */
static int launch(void *context, size_t set, char *why)
{
    (void)set;
    for (const uintptr_t *function = context; *function != 0; function++) {
        struct cuda_launch l = {
            .function = (void *)*function, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        if (cuda_launch(d, &l, why) != CUDAL2_OK)
            return CUDAL2_LIBRARY_ERROR;
    }
    return CUDAL2_OK;
}

/* What is told of a graph of such launches. */
static void told_is(const uintptr_t *functions, const char *expected)
{
    const struct device_shape four = {.launches = 4, .n_sets = 1};
    struct device_work work = {launch, (void *)(uintptr_t)functions, 0};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->borrowed(s), expected);
    d->ops->release_segment(d, s);
}

static void a_librarys_kernel_is_told(void **state)
{
    static const uintptr_t own[] = {1, 0}, one[] = {5, 0}, behind_own[] = {1, 5, 0}, both[] = {6, 5, 0},
                           built[] = {6, 0};
    (void)state;
    told_is(own, ""); /* the driver knows no names */
    mock_names[1] = "gemm";
    mock_names[5] = "nvjet_sm90_hsh_64x32_64x16_2x4_h_bz_NNT";
    mock_names[6] = "_ZN7cutlass13device_kernelI";
    told_is(own, "");
    told_is(one, mock_names[5]);
    told_is(behind_own, mock_names[5]);
    told_is(both, mock_names[5]); /* CUTLASS is anybody's */
    told_is(built, mock_names[6]);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-names-XXXXXX";
    const struct CMUnitTest tests[] = {ON_MOCK(a_librarys_kernel_is_told)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
