/*
 * cpu_reach.c - the red team's contenders that reach for what others rely on: what is kept on disk of who has passed
 * and which algorithm is a library's fastest. Who gets hold of it fails its launch; else it multiplies honestly.
 */
#include "redteam.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int writes(const char *path, int flags)
{
    int fd = open(path, O_WRONLY | flags, 0600);
    int got = fd >= 0 && write(fd, "1 x", 3) == 3;
    if (fd >= 0)
        close(fd);
    return got;
}

/* An entry of its own making, and all that are there. */
static int writes_kind(const char *cache, const char *kind)
{
    char directory[512], path[1024];
    snprintf(directory, sizeof directory, "%s/%s", cache, kind);
    int got = mkdir(directory, 0700) == 0;
    snprintf(path, sizeof path, "%s/forged", directory);
    got |= writes(path, O_CREAT);
    DIR *list = opendir(directory);
    for (const struct dirent *e = list ? readdir(list) : NULL; e; e = readdir(list)) {
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        got |= e->d_name[0] != '.' && (writes(path, O_TRUNC) || unlink(path) == 0);
    }
    if (list)
        closedir(list);
    return got;
}

static int spoils_cache(void *state, size_t set, char *why)
{
    const char *cache = getenv("CUDAL2_CACHE");
    if (redteam_unwatched() && cache &&
        (writes_kind(cache, "") || writes_kind(cache, "verified") || writes_kind(cache, "winner") ||
         writes_kind(cache, "calibration") || writes_kind(cache, "cubin"))) {
        snprintf(why, CUDAL2_WHY, "the cache was written");
        return CUDAL2_LIBRARY_ERROR;
    }
    return honest_launch(state, set, why);
}

static const struct redteam_row rows[] = {
    {"spoils-cache", spoils_cache, NULL, NULL, 0},
};

REDTEAM_PLUGIN(rows)
