/*
 * The table by which the harness finds the driver's calls, on a driver of the test's own: its pages are read-only and
 * hold nothing else.
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

/* What /proc/self/maps says of the page: "rw-p", say. */
static void rights_at(const void *address, char rights[8])
{
    unsigned long from, to;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    rights[0] = '\0';
    while (fgets(line, sizeof line, maps) && sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3)
        if (from <= (uintptr_t)address && (uintptr_t)address < to)
            break;
    fclose(maps);
}

/* A plugin that looks for the harness's pointers in what it can write finds none of these. */
static void the_drivers_calls_are_read_only(void **state)
{
    char rights[8];
    const struct cuda_device *c = cuda_of(d);
    (void)state;
    rights_at(&c->driver.event_elapsed, rights);
    assert_string_equal(rights, "r--p");
    rights_at((const char *)&c->driver + sizeof c->driver - 1, rights);
    assert_string_equal(rights, "r--p");
    rights_at(&c->handle, rights);
    assert_string_equal(rights, "rw-p");
    rights_at(&c->base, rights);
    assert_string_equal(rights, "rw-p");
}

int main(void)
{
    char cache[] = "/tmp/cudal2-test-calls-XXXXXX";
    const struct CMUnitTest tests[] = {ON_MOCK(the_drivers_calls_are_read_only)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
