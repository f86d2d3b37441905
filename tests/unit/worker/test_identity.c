/* worker/environment: what a remembered winner depends on. A kernel set of another name or text is another identity,
 * but not for the libraries that raced beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "compile/kernels.h"
#include "device/fake.h"
#include "worker/environment.h"

static char kernels[600];

/* The device is the scripted one, for which a set is opened and no plugin is asked what it can. */
static int find_kernels(void **state)
{
    char here[512], found[1024];
    struct error err;
    (void)state;
    if (file_executable_directory(here, sizeof here, &err))
        return -1;
    snprintf(kernels, sizeof kernels, "%s/../../kernels", here);
    if (kernel_directory_find(kernels, found, sizeof found, &err) != 0)
        snprintf(kernels, sizeof kernels, "kernels");
    return 0;
}

/* Of one library and a kernel set. */
static void identify(const char *library, const char *set, char whole[DIGEST_HEX], char libraries[DIGEST_HEX])
{
    const char *baselines[] = {library, NULL}, *candidates[] = {set, NULL};
    const struct registry_request request = {.baselines = baselines,
                                             .candidates = candidates,
                                             .layouts = CUDAL2_BIT(CUDAL2_NN),
                                             .kernel_directory = kernels};
    const struct fake_script script = {0};
    struct registry *registry = NULL;
    struct device *device = NULL;
    struct error err;
    cJSON *environment = NULL;
    assert_int_equal(fake_open(&script, &device, &err), 0);
    assert_int_equal(registry_open(&request, device, &registry, &err), 0);
    assert_int_equal(environment_collect(device, registry, 0, &environment, &err), 0);
    environment_identity(environment, NULL, whole);
    environment_identity(environment, registry, libraries);
    cJSON_Delete(environment);
    registry_close(registry);
    device->ops->close(device);
}

static void test_a_library_knows_no_kernel_set(void **state)
{
    char first[2][DIGEST_HEX], second[2][DIGEST_HEX];
    (void)state;
    identify("honest", "skeleton", first[0], first[1]);
    identify("honest", "tiny", second[0], second[1]);
    assert_string_not_equal(first[0], second[0]);
    assert_string_equal(first[1], second[1]);
    assert_string_not_equal(first[0], first[1]);
}

/* Code on the host is in both, whatever its role. */
static void test_plugins_count(void **state)
{
    char first[2][DIGEST_HEX], second[2][DIGEST_HEX];
    (void)state;
    identify("honest", "tiny", first[0], first[1]);
    identify("tunable", "tiny", second[0], second[1]);
    assert_string_not_equal(first[1], second[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_library_knows_no_kernel_set),
        cmocka_unit_test(test_plugins_count),
    };
    return cmocka_run_group_tests(tests, find_kernels, NULL);
}
