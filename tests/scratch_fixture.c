/*
 * scratch_fixture.c - a temporary directory for a test, files written into it, and its removal. Linked into the tests
 * that need files.
 */
#include "scratch_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

char scratch[64];

int scratch_make(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/cudal2-test-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

int scratch_make_cache(void **state)
{
    return scratch_make(state) || setenv("CUDAL2_CACHE", scratch, 1) ? -1 : 0;
}

int scratch_remove(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    return system(command);
}

int scratch_empty(void **state)
{
    return scratch_remove(state) || mkdir(scratch, 0700) ? -1 : 0;
}

const char *scratch_path(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

void scratch_write(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    char folder[256];
    struct error err;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (file_make_directories(folder, &err) || file_write_atomic(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}
