/*
 * A GPU that falls off the bus in mid run, on a driver of the test's own: every call says so and gives the worker up,
 * and the next worker is told that the GPU is not there.
 */
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* What drivers say of it; the worker ends, for whatever the context is asked it answers the same. */
static void every_call_gives_the_worker_up(void **state)
{
    static const struct {
        cu_result as;
        const char *number;
    } table[] = {{CU_DEVICE_LOST, "(46)"}, {CU_ECC, "(214)"}, {CU_LAUNCH_FAILED, "(719)"}, {CU_UNKNOWN, "(999)"}};
    unsigned char bytes[4] = {0};
    void *memory;
    struct error err;
    (void)state;
    assert_int_equal(d->ops->alloc(d, sizeof bytes, &memory, &err), 0);
    mock.lost = true;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        mock.lost_as = table[i].as;
        assert_int_equal(d->ops->sync(d, &err), EXIT_CODE_UNAVAILABLE);
        assert_non_null(strstr(err.text, table[i].number));
        assert_int_equal(d->ops->download(d, bytes, memory, sizeof bytes, &err), EXIT_CODE_UNAVAILABLE);
        assert_int_equal(d->ops->settle(d, &err), EXIT_CODE_UNAVAILABLE);
        assert_non_null(strstr(err.text, table[i].number));
    }
    mock.lost = false;
    d->ops->release(d, memory);
}

static void the_next_worker_finds_none(void **state)
{
    struct device *other;
    struct error err;
    (void)state;
    mock.init = CU_NO_DEVICE;
    assert_int_equal(cuda_open_with(resolve, 0, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_null(other);
    assert_non_null(strstr(err.text, "the NVIDIA driver is here but shows no GPU"));
    mock.init = CU_UNKNOWN;
    assert_int_equal(cuda_open_with(resolve, 0, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "cuInit"));
    mock.init = CU_OK;
    mock.absent = true;
    assert_int_equal(cuda_open_with(resolve, 0, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "there is no GPU 0: the driver shows 0"));
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-lost-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_MOCK(every_call_gives_the_worker_up),
        ON_MOCK(the_next_worker_finds_none),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
