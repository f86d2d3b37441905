/* worker/opening: the GPU that is asked for is the only one that CUDA is shown, and nobody behind it finds that out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/opening.h"

#define VISIBLE "CUDA_VISIBLE_DEVICES"

/* No GPU has this UUID, whatever the machine. */
static int open_nobody(struct error *err)
{
    const struct start_request start = {.device = "cuda:3", .gpu = "GPU-nobody"};
    struct watcher *watcher = NULL;
    struct device *device = NULL;
    int code = opening_device(&start, &watcher, &device, err);
    assert_null(device);
    assert_null(watcher);
    return code;
}

static void test_it_is_named_as_the_run_does(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(open_nobody(&err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "cuda:3, GPU-nobody: cuda:0: "));
}

static void test_the_variable_is_as_it_was(void **state)
{
    struct error err;
    (void)state;
    setenv(VISIBLE, "3,5", 1);
    open_nobody(&err);
    assert_string_equal(getenv(VISIBLE), "3,5");
    unsetenv(VISIBLE);
    open_nobody(&err);
    assert_null(getenv(VISIBLE));
}

static void test_without_a_gpu_it_is_any_device(void **state)
{
    const struct start_request start = {.device = "cpu"};
    struct watcher *watcher = NULL;
    struct device *device = NULL;
    struct error err;
    (void)state;
    assert_int_equal(opening_device(&start, &watcher, &device, &err), 0);
    assert_int_equal(device->info.device_bit, CUDAL2_ON_CPU);
    device->ops->close(device);
}

static double number_in(const struct start_request *start)
{
    cJSON *environment = cJSON_Parse("{\"device\":{\"ordinal\":0}}");
    opening_number(start, environment);
    double number = cJSON_GetObjectItem(cJSON_GetObjectItem(environment, "device"), "ordinal")->valuedouble;
    cJSON_Delete(environment);
    return number;
}

static void test_its_number_is_the_run_s(void **state)
{
    const struct start_request alone = {.device = "cuda:3", .gpu = "GPU-1"}, all = {.device = "cuda:3"};
    (void)state;
    assert_int_equal((int)number_in(&alone), 3);
    assert_int_equal((int)number_in(&all), 0); /* CUDA's own, whatever that is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_named_as_the_run_does),
        cmocka_unit_test(test_the_variable_is_as_it_was),
        cmocka_unit_test(test_without_a_gpu_it_is_any_device),
        cmocka_unit_test(test_its_number_is_the_run_s),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
