/*
 * journal_copy.c - keeps what the journal should hold, so that whoever deletes or replaces the file is noticed and
 * nothing is lost. Called by journal.c alone.
 */
#include "record/journal_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 8192
#define PART ((size_t)1 << 20) /* compared at each look, whatever the times say: 0.1 ms */
#define NAMES 9                /* .rescued, .rescued-2 and so on */
#define PLACE_MAX 4096

void journal_copy_note(struct journal_copy *copy, int fd)
{
    (void)fstat(fd, &copy->file);
}

static bool same_times(const struct stat *a, const struct stat *b)
{
    return a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* From one place to another; the file is no longer than the copy. */
static bool same_bytes(const struct journal_copy *copy, int fd, size_t from, size_t to)
{
    char bytes[CHUNK];
    while (from < to) {
        size_t room = to - from < sizeof bytes ? to - from : sizeof bytes;
        ssize_t got = pread(fd, bytes, room, (off_t)from);
        if (got <= 0 || memcmp(bytes, copy->lines.bytes + from, (size_t)got) != 0)
            return false;
        from += (size_t)got;
    }
    return true;
}

/* All of it where somebody touched the file; else the next part, for there are ways to write that leave no time behind:
 * within one tick of the file system's clock, or through a shared mapping of a file in memory. */
static bool same_lines(struct journal_copy *copy, int fd, bool touched)
{
    size_t length = copy->lines.length, from = copy->compared < length && length > PART ? copy->compared : 0;
    size_t to = length - from < PART ? length : from + PART;
    copy->compared = to;
    return touched ? same_bytes(copy, fd, 0, length) : same_bytes(copy, fd, from, to);
}

void journal_copy_doubt(struct journal_copy *copy)
{
    copy->file = (struct stat){0};
}

const char *journal_copy_fault(struct journal_copy *copy, int fd, const char *path)
{
    struct stat file, there;
    if (fstat(fd, &file) != 0)
        return "cannot be looked at any more";
    if (stat(path, &there) != 0)
        return file.st_nlink == 0 ? "was deleted" : "was moved, or its directory was";
    if (there.st_dev != file.st_dev || there.st_ino != file.st_ino)
        return "was replaced by another file";
    if ((size_t)file.st_size != copy->lines.length)
        return "was changed by somebody else";
    if (!same_lines(copy, fd, !same_times(&file, &copy->file)))
        return "was changed by somebody else";
    copy->file = file;
    return NULL;
}

/* ---- rescue ---- */

static bool write_all(int fd, const struct text *lines)
{
    for (size_t at = 0; at < lines->length;) {
        ssize_t n = write(fd, lines->bytes + at, lines->length - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return fsync(fd) == 0;
}

/* A new file of this name; a link that somebody laid there is none. */
static bool write_as(const struct text *lines, const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool written = write_all(fd, lines);
    close(fd);
    if (!written)
        unlink(name);
    return written;
}

static bool write_in(const struct text *lines, const char *directory, const char *file, char *out, size_t capacity)
{
    for (int i = 1; i <= NAMES; i++) {
        char number[16] = "";
        if (i > 1)
            snprintf(number, sizeof number, "-%d", i);
        int length = snprintf(out, capacity, "%s%s.rescued%s", directory, file, number);
        if (length > 0 && (size_t)length < capacity && write_as(lines, out))
            return true;
    }
    return false;
}

int journal_copy_rescue(const struct journal_copy *copy, const char *path, char *out, size_t capacity)
{
    char directory[PLACE_MAX];
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *temporary = getenv("TMPDIR");
    int length = snprintf(directory, sizeof directory, "%.*s", (int)(file - path), path);
    while (length >= 0 && length < (int)sizeof directory) {
        if (write_in(&copy->lines, directory, file, out, capacity))
            return 0;
        if (!directory[0] || strcmp(directory, "/") == 0)
            break;
        directory[strlen(directory) - 1] = '\0'; /* the slash, then the name in front of it */
        char *above = strrchr(directory, '/');
        *(above ? above + 1 : directory) = '\0';
    }
    snprintf(directory, sizeof directory, "%s/", temporary && temporary[0] == '/' ? temporary : "/tmp");
    return write_in(&copy->lines, directory, file, out, capacity) ? 0 : -1;
}

void journal_copy_free(struct journal_copy *copy)
{
    text_free(&copy->lines);
}
