/*
 * file.c - reads and writes whole files. A write goes to a temporary file of the same directory, is synced and
 * renamed, so that a reader sees the old file or the new one. Called wherever a file is read or left behind.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"

#define PATH_CAPACITY 4096

/* Reads to the end of file or max_bytes + 1, whichever comes first: a file may grow, or (under /proc) state no size. */
static int read_all(int fd, size_t max_bytes, size_t expected, char **bytes, size_t *length)
{
    size_t capacity = expected + 2;
    char *buffer = malloc(capacity);
    size_t used = 0;
    while (buffer && used <= max_bytes) {
        if (used + 1 == capacity) {
            capacity *= 2;
            char *larger = realloc(buffer, capacity);
            if (!larger)
                break;
            buffer = larger;
        }
        ssize_t got = read(fd, buffer + used, capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            if (got < 0)
                break;
            buffer[used] = '\0';
            *bytes = buffer;
            *length = used;
            return 0;
        }
        used += (size_t)got;
    }
    int failure = !buffer ? ENOMEM : used > max_bytes ? EFBIG : errno;
    free(buffer);
    return failure;
}

static int tell_failure(int failure, const char *name, size_t max_bytes, struct error *err)
{
    if (failure == EFBIG)
        return error_set(err, EXIT_CODE_DATA, "%s: more than %zu bytes", name, max_bytes);
    return error_set(err, EXIT_CODE_DATA, "%s: cannot be read: %s", name, strerror(failure));
}

int file_read_input(const char *name, size_t max_bytes, char **bytes, size_t *length, struct error *err)
{
    int failure = read_all(STDIN_FILENO, max_bytes, 0, bytes, length);
    return failure ? tell_failure(failure, name, max_bytes, err) : 0;
}

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

static int check_kind(const char *path, const struct stat *st, size_t max_bytes, struct error *err)
{
    if (!S_ISREG(st->st_mode))
        return error_set(err, EXIT_CODE_DATA, "%s: not a regular file but %s", path, kind_of(st->st_mode));
    if (st->st_size > 0 && (uintmax_t)st->st_size > max_bytes)
        return error_set(err, EXIT_CODE_DATA, "%s: %jd bytes, the limit is %zu", path, (intmax_t)st->st_size,
                         max_bytes);
    return 0;
}

/* Asked before opening, which alone may act on a device, and again of what was opened. */
int file_open(const char *path, size_t max_bytes, int *fd, size_t *bytes, struct error *err)
{
    struct stat st;
    *fd = -1;
    if (stat(path, &st) == 0 && check_kind(path, &st, max_bytes, err))
        return err->code;
    int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), code = 0;
    if (opened < 0 || fstat(opened, &st) != 0)
        code = error_set(err, EXIT_CODE_DATA, "%s: cannot be read: %s", path, strerror(errno));
    else
        code = check_kind(path, &st, max_bytes, err);
    if (code && opened >= 0)
        close(opened);
    if (!code) {
        *fd = opened;
        *bytes = (size_t)st.st_size;
    }
    return code;
}

int file_read(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err)
{
    int fd;
    size_t expected = 0;
    if (file_open(path, max_bytes, &fd, &expected, err))
        return err->code;
    int failure = read_all(fd, max_bytes, expected, bytes, length);
    close(fd);
    return failure ? tell_failure(failure, path, max_bytes, err) : 0;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            if (put == 0)
                errno = ENOSPC;
            return false;
        }
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

/* Directory part of path ("." or "/" where there is none); false when it does not fit. */
static bool parent_of(const char *path, char *out, size_t capacity)
{
    size_t length = strlen(path);
    if (length >= capacity || capacity < 2)
        return false;
    memcpy(out, path, length + 1);
    char *slash = strrchr(out, '/');
    if (!slash)
        memcpy(out, ".", 2);
    else if (slash == out)
        out[1] = '\0';
    else
        *slash = '\0';
    return true;
}

/* Makes the rename itself durable. Some file systems cannot sync a directory and say EINVAL: nothing more to do. */
static bool sync_parent(const char *path)
{
    char directory[PATH_CAPACITY];
    if (!parent_of(path, directory, sizeof directory))
        return false;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0 || errno == EINVAL;
    int saved = errno;
    close(fd);
    errno = saved;
    return ok;
}

/* Renaming over a device or FIFO would replace it (as root, /dev/null): only regular files are ever replaced. */
static int check_target(const char *path, struct error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return error_set(err, EXIT_CODE_CANTCREATE, "%s: exists and is not a regular file", path);
    return 0;
}

/* What is written whole or not at all. */
struct content {
    const void *bytes;
    size_t length;
    bool lasting; /* on disk before it takes its name, and the name too */
};

static int fill_and_close(int fd, const struct content *content, const char *path, struct error *err)
{
    const char *step = NULL;
    int failure = 0;
    if (!write_all(fd, content->bytes, content->length))
        step = "write";
    else if (content->lasting && fsync(fd) != 0)
        step = "sync";
    if (step)
        failure = errno;
    if (close(fd) != 0 && !step) {
        step = "close";
        failure = errno;
    }
    return step ? error_set(err, EXIT_CODE_IO, "%s: %s failed: %s", path, step, strerror(failure)) : 0;
}

static int replace(const char *path, const struct content *content, struct error *err)
{
    char temporary[PATH_CAPACITY];
    /* A number of the process would not do: each worker is the same one in a namespace of its own. */
    int used = snprintf(temporary, sizeof temporary, "%s.tmp.%08" PRIx32, path, (uint32_t)random_entropy());
    if (used < 0 || (size_t)used >= sizeof temporary)
        return error_set(err, EXIT_CODE_CANTCREATE, "path of %zu bytes is too long", strlen(path));
    if (check_target(path, err))
        return err->code;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "%s: cannot be created: %s", path, strerror(errno));
    int code = fill_and_close(fd, content, path, err);
    if (!code && rename(temporary, path) != 0)
        code = error_set(err, EXIT_CODE_IO, "%s: rename failed: %s", path, strerror(errno));
    if (code) {
        unlink(temporary);
        return code;
    }
    if (content->lasting && !sync_parent(path))
        code = error_set(err, EXIT_CODE_IO, "%s: sync of its directory failed: %s", path, strerror(errno));
    return code;
}

int file_write_atomic(const char *path, const void *bytes, size_t length, struct error *err)
{
    const struct content content = {bytes, length, true};
    return replace(path, &content, err);
}

int file_write_passing(const char *path, const void *bytes, size_t length, struct error *err)
{
    const struct content content = {bytes, length, false};
    return replace(path, &content, err);
}

static bool make_directory(const char *path, mode_t mode)
{
    struct stat st;
    if (mkdir(path, mode) == 0)
        return true;
    if (errno != EEXIST || stat(path, &st) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode);
}

bool file_lock_holds(const char *path)
{
    int second = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool granted = second >= 0 && flock(second, LOCK_EX | LOCK_NB) == 0;
    if (second >= 0)
        close(second);
    return !granted;
}

int file_make_directories(const char *path, struct error *err)
{
    char part[PATH_CAPACITY];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return error_set(err, EXIT_CODE_CANTCREATE, "directory name of %zu bytes is not usable", length);
    memcpy(part, path, length + 1);
    for (char *c = part + 1;; c++) {
        if (*c != '/' && *c != '\0')
            continue;
        char saved = *c;
        *c = '\0';
        if (!make_directory(part, 0777))
            return error_set(err, EXIT_CODE_CANTCREATE, "%s: cannot be created: %s", part, strerror(errno));
        *c = saved;
        if (!saved)
            return 0;
    }
}

int file_executable_directory(char *out, size_t capacity, struct error *err)
{
    char path[PATH_CAPACITY];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || (size_t)length >= sizeof path)
        return error_set(err, EXIT_CODE_INTERNAL, "/proc/self/exe: cannot be read");
    path[length] = '\0';
    if (!parent_of(path, out, capacity))
        return error_set(err, EXIT_CODE_INTERNAL, "%s: path too long", path);
    return 0;
}
