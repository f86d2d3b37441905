/*
 * worker_directory.c - makes and removes the directory of a worker's temporary files. Relies on mkdtemp and nftw.
 * Called by process.c.
 */
#include "run/worker_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/confine.h"
#include "worker/spaces.h"

#define MOST_OPEN 16
/* As long as CONFINE_TEMPORARY_NAME. */
#define NAME_BEFORE "cudal2-making-"
_Static_assert(sizeof NAME_BEFORE == sizeof CONFINE_TEMPORARY_NAME, "one name takes the place of the other");

static bool is_wanted(void)
{
    struct confinement c;
    struct error ignored;
    return confine_parse(getenv(CONFINE_VARIABLE), &c, &ignored) == 0 && c.wanted[CONFINE_TEMPORARY];
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

static void remove_all(const char *path)
{
    nftw(path, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Root's workers have users of their own. */
static bool is_ours(uid_t owner)
{
    return owner == geteuid() || (geteuid() == 0 && spaces_is_user(owner));
}

/* -1 where somebody has it, or it is not ours. */
static int take(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && is_ours(st.st_uid) && flock(fd, LOCK_EX | LOCK_NB) == 0))
        return fd;
    close(fd);
    return -1;
}

static bool is_abandoned(const char *path)
{
    int fd = take(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void sweep(const char *base)
{
    char *path = NULL;
    DIR *list = opendir(base);
    for (const struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        if (strncmp(entry->d_name, CONFINE_TEMPORARY_NAME, strlen(CONFINE_TEMPORARY_NAME)) != 0 ||
            asprintf(&path, "%s/%s", base, entry->d_name) < 0)
            continue;
        if (is_abandoned(path))
            remove_all(path);
        free(path);
    }
    if (list)
        closedir(list);
}

/* It gets its name when it is locked: what has that name and no lock has lost its maker. */
static bool make_locked(struct worker_directory *out)
{
    char *place = strrchr(out->path, '/') + 1, name[sizeof CONFINE_TEMPORARY_NAME];
    memcpy(name, place, sizeof name - 1);
    memcpy(place, NAME_BEFORE, sizeof name - 1);
    if (!mkdtemp(out->path))
        return false;
    char *before = strdup(out->path);
    memcpy(place, name, sizeof name - 1);
    out->lock = before ? take(before) : -1;
    bool made = out->lock >= 0 && rename(before, out->path) == 0;
    if (!made && before)
        (void)rmdir(before);
    if (!made && out->lock >= 0)
        close(out->lock);
    free(before);
    return made;
}

struct worker_directory worker_directory_make(void)
{
    const char *given = getenv("TMPDIR"), *base = given && given[0] == '/' ? given : "/tmp";
    struct worker_directory none = {NULL, -1}, made = none;
    if (!is_wanted())
        return none;
    sweep(base);
    if (asprintf(&made.path, "%s/" CONFINE_TEMPORARY_NAME "XXXXXX", base) < 0)
        return none;
    if (make_locked(&made))
        return made;
    free(made.path);
    return none;
}

void worker_directory_remove(struct worker_directory *directory)
{
    if (directory->path)
        remove_all(directory->path);
    if (directory->path && directory->lock >= 0)
        close(directory->lock);
    free(directory->path);
    *directory = (struct worker_directory){NULL, -1};
}
