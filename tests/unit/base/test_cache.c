/* base/cache where plugins could write into it: a directory that is written instead of it, and kinds that are not used.
 * What else it does: test_file. */
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/cudal2-cache-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    return setenv("CUDAL2_CACHE", directory, 1);
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    unsetenv(FILE_CACHE_OWN);
    unsetenv(FILE_CACHE_ONLY);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* What is in the cache: "", where there is nothing. Valid until the next call. */
static const char *kept(const char *kind, const char *key)
{
    static char text[64];
    char *bytes = NULL;
    size_t length = 0;
    bool found = false;
    struct error err;
    assert_int_equal(file_cache_get(kind, key, &bytes, &length, &found, &err), 0);
    snprintf(text, sizeof text, "%s", found ? bytes : "");
    if (found)
        free(bytes);
    return text;
}

static void put(const char *kind, const char *key, const char *text)
{
    struct error err;
    assert_int_equal(file_cache_put(kind, key, text, 1, &err), 0);
}

static void its_own_is_written_and_read_first(void **state)
{
    char own[128];
    (void)state;
    put("winner", "both", "c");
    put("winner", "one", "c");
    snprintf(own, sizeof own, "%s/strangers/x", directory);
    setenv(FILE_CACHE_OWN, own, 1);
    put("winner", "both", "o");
    assert_string_equal(kept("winner", "both"), "o");
    assert_string_equal(kept("winner", "one"), "c");
    unsetenv(FILE_CACHE_OWN);
    assert_string_equal(kept("winner", "both"), "c");
}

static void other_kinds_are_neither_read_nor_written(void **state)
{
    (void)state;
    put("winner", "x", "1");
    put("cubin-log", "x", "1");
    setenv(FILE_CACHE_ONLY, "cubin", 1);
    assert_string_equal(kept("winner", "x"), "");
    assert_string_equal(kept("cubin-log", "x"), "1");
    put("winner", "x", "2");
    put("cubin", "x", "2");
    assert_string_equal(kept("cubin", "x"), "2");
    unsetenv(FILE_CACHE_ONLY);
    assert_string_equal(kept("winner", "x"), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(its_own_is_written_and_read_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_kinds_are_neither_read_nor_written, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
