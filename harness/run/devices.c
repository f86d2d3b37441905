/*
 * devices.c - picks one of several devices; takes the lock file of a GPU, with a deadline. Relies on flock in the cache
 * directory. Called by crew_devices.c, counters.c and serve/evaluate.c.
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

#define PATH_BYTES 4096
#define PAUSE_US 50000

void devices_pick(const struct devices *from, int which, struct devices *out)
{
    *out = (struct devices){.count = 1, .on_cuda = from->on_cuda};
    memcpy(out->spec[0], from->spec[which], sizeof out->spec[0]);
    memcpy(out->lock[0], from->lock[which], sizeof out->lock[0]);
    memcpy(out->bus[0], from->bus[which], sizeof out->bus[0]);
}

static int lock_path(const char *name, char path[PATH_BYTES], struct error *err)
{
    return file_cache_path("locks", name, path, PATH_BYTES, err);
}

void devices_lock_order(const struct devices *devices, int order[DEVICES_MAX])
{
    for (int i = 0; i < devices->count; i++) {
        int at = i;
        for (; at > 0 && strcmp(devices->lock[order[at - 1]], devices->lock[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Opens, and makes the directory on the way. */
static int lock_open(char path[PATH_BYTES], int *fd, struct error *err)
{
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

/* For who has to wait. Nothing depends on it. */
static void sign(int fd)
{
    char text[DEVICES_HOLDER_MAX], node[64] = "";
    if (gethostname(node, sizeof node - 1) != 0)
        node[0] = '\0';
    int length = snprintf(text, sizeof text, "process %ld on %s", (long)getpid(), node);
    bool signed_it = ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) == length;
    (void)signed_it;
}

void devices_holder(const char *name, char out[DEVICES_HOLDER_MAX])
{
    char path[PATH_BYTES];
    struct error ignored;
    ssize_t length = -1;
    int fd = lock_path(name, path, &ignored) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0) {
        length = pread(fd, out, DEVICES_HOLDER_MAX - 1, 0);
        close(fd);
    }
    out[length > 0 ? length : 0] = '\0';
    error_one_line(out);
    if (!out[0])
        snprintf(out, DEVICES_HOLDER_MAX, "another run");
}

static int refuse_busy(const char *name, double seconds, struct error *err)
{
    char holder[DEVICES_HOLDER_MAX];
    devices_holder(name, holder);
    return error_set(err, EXIT_CODE_TEMPORARY,
                     "%s measures on %s (waited %.0f s): give each task a GPU of its own, or start this one when "
                     "the other has ended",
                     holder, name, seconds);
}

static int refuse_without_locks(const char *name, const char *found, struct error *err)
{
    return error_set(err, EXIT_CODE_IO,
                     "lock of %s: the file system of the cache directory has no locks (flock: %s): set CUDAL2_CACHE "
                     "to a directory on a local disk",
                     name, found);
}

/* Until it is ours, the time is over, or the end is asked for. */
static int wait_for(int fd, double seconds, const volatile int *stop)
{
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        bool busy = errno == EWOULDBLOCK || errno == EINTR;
        if (!busy)
            return errno;
        if (clock_now_ns() >= deadline || (stop && *stop))
            return EWOULDBLOCK;
        usleep(PAUSE_US);
    }
    return 0;
}

int devices_lock(const char *name, double seconds, const volatile int *stop, int *fd, struct error *err)
{
    char path[PATH_BYTES];
    *fd = -1;
    if (lock_path(name, path, err) || lock_open(path, fd, err))
        return err->code;
    int failure = wait_for(*fd, seconds, stop), code = 0;
    if (failure == EWOULDBLOCK)
        code = refuse_busy(name, seconds, err);
    else if (failure)
        code = refuse_without_locks(name, strerror(failure), err);
    else if (!file_lock_holds(path))
        code = refuse_without_locks(name, "granted to two at once", err);
    if (!code) {
        sign(*fd);
        return 0;
    }
    close(*fd);
    *fd = -1;
    return code;
}
