/* worker/caches and what confinement leaves of the cache: where plugins run they write nothing that others are believed
 * by. Each case that confines runs in a child of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "worker/caches.h"

#include "confine_fixture.h"

static char directory[64];

static bool can_open(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- which of it ---- */

/* The directory that is written instead of the cache; "" for the cache. */
static const char *chosen(const char *plugin_directory, char *baseline, char *candidate)
{
    struct config config = {.baselines = {baseline}, .candidates = {candidate}};
    struct confinement c = {0};
    unsetenv(FILE_CACHE_OWN);
    caches_choose(&config, plugin_directory, &c);
    const char *own = getenv(FILE_CACHE_OWN);
    assert_true(c.caches == (own ? CONFINE_CACHES_OWN : CONFINE_CACHES_ALL));
    return own ? own : "";
}

static void put(const char *path, const char *text)
{
    struct error err;
    assert_int_equal(file_write_passing(path, text, strlen(text), &err), 0);
}

static void strangers_plugins_have_a_cache_of_their_own(void **state)
{
    char plugin[128], before[256], start[128];
    (void)state;
    setenv("CUDAL2_CACHE", directory, 1);
    snprintf(plugin, sizeof plugin, "%s/plugin.so", directory);
    snprintf(start, sizeof start, "%s/strangers/", directory);
    put(plugin, "a");
    assert_string_equal(chosen(NULL, "openblas", "kernel.json"), "");
    assert_string_equal(chosen(NULL, "openblas", "cudal2"), "");
    snprintf(before, sizeof before, "%s", chosen(NULL, "openblas", plugin));
    assert_memory_equal(before, start, strlen(start));
    assert_true(can_open(before, O_RDONLY | O_DIRECTORY));
    assert_string_equal(chosen(NULL, "openblas", plugin), before);
    assert_string_not_equal(chosen(NULL, plugin, "cudal2"), "");
    assert_string_not_equal(chosen("/plugins", "openblas", "cudal2"), "");
    put(plugin, "b"); /* another plugin of the same name */
    assert_string_not_equal(chosen(NULL, "openblas", plugin), before);
    unsetenv(FILE_CACHE_OWN);
}

static void without_landlock_only_compiled_kernels_are_believed(void **state)
{
    struct confinement c = {.in_force = {[CONFINE_FILES] = true}};
    (void)state;
    caches_believe(&c);
    assert_null(getenv(FILE_CACHE_ONLY));
    c.in_force[CONFINE_FILES] = false;
    caches_believe(&c);
    assert_string_equal(getenv(FILE_CACHE_ONLY), "cubin");
    unsetenv(FILE_CACHE_ONLY);
}

/* ---- what confinement leaves of it ---- */

static int confined_with(enum confine_caches caches, const char *own)
{
    struct confinement c;
    struct error err;
    setenv("CUDAL2_CACHE", directory, 1);
    setenv("TMPDIR", "/nowhere", 1);
    setenv(FILE_CACHE_OWN, own, 1);
    if (chdir(directory) != 0 || confine_parse("files", &c, &err))
        return 1;
    c.caches = caches;
    confine_process(&c);
    return c.in_force[CONFINE_FILES] ? 0 : NOT_HERE;
}

static int writes_nothing(void)
{
    if (can_open("new", O_WRONLY | O_CREAT) || can_open("winner/new", O_WRONLY | O_CREAT) ||
        can_open("winner/was", O_WRONLY) || unlink("winner/was") == 0 || mkdir("verified", 0700) == 0)
        return 2;
    return can_open("winner/was", O_RDONLY) ? 0 : 3;
}

static int cache_of_nobody(void)
{
    int code = confined_with(CONFINE_CACHES_NONE, "own");
    if (!code)
        code = writes_nothing();
    return code || !can_open("own/new", O_WRONLY | O_CREAT) ? code : 4;
}

static int cache_of_its_own(void)
{
    char own[128];
    snprintf(own, sizeof own, "%s/own", directory);
    int code = confined_with(CONFINE_CACHES_OWN, own);
    if (!code)
        code = writes_nothing();
    return code || can_open("own/new", O_WRONLY | O_CREAT) ? code : 4;
}

static void plugins_cannot_write_what_others_are_believed_by(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/own", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/winner", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/winner/was", directory);
    put(path, "x");
    check(cache_of_nobody);
    check(cache_of_its_own);
}

/* ---- */

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/var/tmp/cudal2-caches-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_plugins_have_a_cache_of_their_own),
        cmocka_unit_test(without_landlock_only_compiled_kernels_are_believed),
        cmocka_unit_test(plugins_cannot_write_what_others_are_believed_by),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
