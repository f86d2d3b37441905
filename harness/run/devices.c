/*
 * devices.c - picks one of several devices; takes the lock file of a GPU, with a deadline. Relies on flock in the cache
 * directory. Called by crew.c.
 */
#include "run/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

void devices_pick(const struct devices *from, int which, struct devices *out)
{
    *out = (struct devices){.count = 1, .on_cuda = from->on_cuda};
    memcpy(out->spec[0], from->spec[which], sizeof out->spec[0]);
    memcpy(out->lock[0], from->lock[which], sizeof out->lock[0]);
    memcpy(out->bus[0], from->bus[which], sizeof out->bus[0]);
}

/* Opens, and makes the directory on the way. */
static int lock_open(const char *name, int *fd, struct error *err)
{
    char path[4096];
    if (file_cache_path("locks", name, path, sizeof path, err))
        return err->code;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (file_make_directories(path, err))
        return error_wrap(err, "lock of the GPU");
    *slash = '/';
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "lock file %s: %s", path, strerror(errno));
    return 0;
}

int devices_lock(const char *name, double seconds, const volatile int *stop, int *fd, struct error *err)
{
    *fd = -1;
    if (lock_open(name, fd, err))
        return err->code;
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    while (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (busy && clock_now_ns() < deadline && !(stop && *stop)) {
            usleep(50000);
            continue;
        }
        if (busy)
            error_set(err, EXIT_CODE_TEMPORARY, "another run holds GPU %s (waited %.0f s)", name, seconds);
        else
            error_set(
                err, EXIT_CODE_IO,
                "lock of GPU %s: the file system of the cache directory has no locks (flock: %s): set CUDAL2_CACHE "
                "to a directory on a local disk",
                name, strerror(errno));
        close(*fd);
        *fd = -1;
        return err->code;
    }
    return 0;
}
