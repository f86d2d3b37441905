/*
 * worker_directory.c - makes and removes the directory of a worker's temporary files. Relies on mkdtemp and nftw.
 * Called by process.c.
 */
#include "run/worker_directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/confine.h"

#define MOST_OPEN 16

static bool is_wanted(void)
{
    struct confinement c;
    struct error ignored;
    return confine_parse(getenv(CONFINE_VARIABLE), &c, &ignored) == 0 && c.wanted[CONFINE_TEMPORARY];
}

char *worker_directory_make(void)
{
    const char *base = getenv("TMPDIR");
    char *path = NULL;
    if (!is_wanted())
        return NULL;
    if (asprintf(&path, "%s/" CONFINE_TEMPORARY_NAME "XXXXXX", base && base[0] == '/' ? base : "/tmp") < 0)
        return NULL;
    if (mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

/* A directory that its maker has closed is empty, or opened for its owner. */
static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st, (void)where;
    if (kind == FTW_DNR)
        (void)chmod(path, S_IRWXU);
    (void)remove(path);
    return 0;
}

void worker_directory_remove(char *path)
{
    if (path)
        nftw(path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    free(path);
}
