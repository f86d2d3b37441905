/*
 * journal.c - appends, reads, locks, cuts and resumes a journal; each line is on disk before the next. Relies on
 * journal_line.c and journal_copy.c. Called by run/ledger.c to write, by every reader of runs to read.
 */
#include "record/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/gzip_read.h"
#include "record/journal_copy.h"
#include "record/journal_line.h"

struct journal {
    int fd;
    off_t length; /* of good lines; the file is never left longer than this */
    bool broken;  /* a failed append could not be undone */
    bool lost;    /* the file is not what we wrote any more */
    int (*sync)(int fd);
    struct journal_copy copy;
    char path[512];
};

/* Where a reading of the file stands. */
struct scan {
    const char *path;
    const char *bytes;
    size_t length;
    size_t good; /* bytes of good lines so far */
    unsigned line;
    bool torn;
    journal_visitor visit;
    void *context;
    const char *only; /* a kind; NULL: all */
};

static int scan_line(struct scan *s, const char *line, size_t length, struct error *err)
{
    char source[600];
    struct journal_line parsed;
    if (s->only && !journal_line_is_kind(line, length, s->only))
        return 0;
    snprintf(source, sizeof source, "%.500s: line %u", s->path, s->line);
    if (journal_line_parse(line, length, source, &parsed, err))
        return err->code;
    int code = s->visit ? s->visit(s->context, parsed.kind, parsed.data, err) : 0;
    cJSON_Delete(parsed.tree);
    return code;
}

/* Only the end of the file can be torn: an append that was cut short, possibly filled up with zeros by the file
 * system. A lost newline between two lines looks alike but is damage. */
static bool is_torn(const struct scan *s, const char *line, size_t length, const char *newline)
{
    bool last = !newline || (size_t)(newline + 1 - s->bytes) == s->length;
    struct journal_line parsed;
    struct error ignored;
    if (!last || journal_line_is_merged(line, length))
        return false;
    if (!newline)
        return true;
    if (journal_line_parse(line, length, s->path, &parsed, &ignored))
        return ignored.code == EXIT_CODE_DATA;
    cJSON_Delete(parsed.tree);
    return false;
}

static int scan_all(struct scan *s, struct error *err)
{
    while (s->good < s->length) {
        const char *line = s->bytes + s->good;
        const char *newline = memchr(line, '\n', s->length - s->good);
        size_t length = newline ? (size_t)(newline - line) : s->length - s->good;
        s->line++;
        s->torn = is_torn(s, line, length, newline);
        if (s->torn)
            return 0;
        if (!newline)
            return error_set(err, EXIT_CODE_DATA, "%s: line %u: two lines run into each other", s->path, s->line);
        if (scan_line(s, line, length, err))
            return err->code;
        s->good += length + 1;
    }
    return 0;
}

typedef int (*file_reader)(const char *path, size_t max_bytes, char **bytes, size_t *length, struct error *err);

/* The good lines are left in `copy`, where there is one. */
static int scan_file(struct scan *s, file_reader read_file, struct text *copy, struct error *err)
{
    char *bytes = NULL;
    if (read_file(s->path, JOURNAL_MAX_BYTES, &bytes, &s->length, err))
        return err->code;
    s->bytes = bytes;
    int code = scan_all(s, err);
    if (copy && !code)
        text_add_bytes(copy, bytes, s->good);
    free(bytes);
    return code;
}

int journal_read(const char *path, journal_visitor visit, void *context, bool *torn, struct error *err)
{
    struct scan scan = {.path = path, .visit = visit, .context = context};
    int code = scan_file(&scan, gzip_read_file, NULL, err);
    if (torn)
        *torn = scan.torn;
    return code;
}

int journal_parse(const struct journal_text *text, journal_visitor visit, void *context, bool *torn, struct error *err)
{
    struct scan scan = {
        .path = text->source, .bytes = text->bytes, .length = text->length, .visit = visit, .context = context};
    int code = scan_all(&scan, err);
    if (torn)
        *torn = scan.torn;
    return code;
}

int journal_read_kind(const char *path, const struct journal_filter *only, struct error *err)
{
    struct scan scan = {.path = path, .visit = only->visit, .context = only->context, .only = only->kind};
    return scan_file(&scan, gzip_read_file, NULL, err);
}

int journal_parse_kind(const struct journal_text *text, const struct journal_filter *only, struct error *err)
{
    struct scan scan = {.path = text->source,
                        .bytes = text->bytes,
                        .length = text->length,
                        .visit = only->visit,
                        .context = only->context,
                        .only = only->kind};
    return scan_all(&scan, err);
}

/* The new name itself must survive a crash of the machine, not only the file's bytes. */
static int sync_directory_of(const char *path)
{
    char directory[512];
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(directory, sizeof directory, ".");
    else
        snprintf(directory, sizeof directory, "%.*s", (int)(slash == path ? 1 : slash - path), path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int failed = fsync(fd);
    close(fd);
    return failed;
}

static int take_lock(struct journal *j, struct error *err)
{
    static const char *const advice = "another task could write it too: choose an --output on a local disk, or mount "
                                      "with locks (NFS 4, Lustre -o flock)";
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return error_set(err, EXIT_CODE_TEMPORARY, "%s: another process is writing this journal", j->path);
        return error_set(err, EXIT_CODE_IO, "%s: this file system has no locks (flock: %s), so %s", j->path,
                         strerror(errno), advice);
    }
    if (file_lock_holds(j->path))
        return 0;
    return error_set(err, EXIT_CODE_IO, "%s: locks of this file system (flock) keep nobody out, so %s", j->path,
                     advice);
}

static bool is_regular(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int open_locked(const char *path, int flags, int open_code, struct journal **out, struct error *err)
{
    struct journal *j = calloc(1, sizeof *j);
    if (!j)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    j->sync = fdatasync;
    j->fd = -1;
    if (strlen(path) >= sizeof j->path)
        error_set(err, open_code, "path of the journal is longer than %zu bytes", sizeof j->path - 1);
    else {
        strcpy(j->path, path);
        j->fd = open(path, flags | O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
        if (j->fd < 0)
            error_set(err, open_code, "%s: %s", path, strerror(errno));
        else if (!is_regular(j->fd))
            error_set(err, open_code, "%s: not a regular file", path);
    }
    if (j->fd >= 0 && is_regular(j->fd) && take_lock(j, err) == 0) {
        journal_copy_note(&j->copy, j->fd);
        *out = j;
        return 0;
    }
    journal_close(j);
    return err->code;
}

static int waits_for_nothing(int fd)
{
    (void)fd;
    return 0;
}

int journal_create_passing(const char *path, struct journal **out, struct error *err)
{
    if (open_locked(path, O_CREAT | O_EXCL, EXIT_CODE_CANTCREATE, out, err))
        return err->code;
    (*out)->sync = waits_for_nothing;
    return 0;
}

int journal_create(const char *path, struct journal **out, struct error *err)
{
    struct journal *j;
    if (open_locked(path, O_CREAT | O_EXCL, EXIT_CODE_CANTCREATE, &j, err))
        return err->code;
    if (sync_directory_of(path) != 0) {
        error_set(err, EXIT_CODE_IO, "%s: cannot sync its directory: %s", path, strerror(errno));
        journal_close(j);
        return err->code;
    }
    *out = j;
    return 0;
}

static int cut_torn_end(struct journal *j, const struct scan *scan, struct error *err)
{
    j->length = (off_t)scan->good;
    if (j->copy.lines.failed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the journal");
    bool cut = !scan->torn || (ftruncate(j->fd, j->length) == 0 && j->sync(j->fd) == 0);
    journal_copy_note(&j->copy, j->fd);
    if (cut)
        return 0;
    return error_set(err, EXIT_CODE_IO, "%s: cannot cut the torn last line off: %s", j->path, strerror(errno));
}

int journal_resume(const char *path, journal_visitor visit, void *context, struct journal **out, struct error *err)
{
    struct journal *j;
    struct scan scan = {.path = path, .visit = visit, .context = context};
    if (open_locked(path, 0, EXIT_CODE_DATA, &j, err))
        return err->code;
    int code = scan_file(&scan, file_read, &j->copy.lines, err); /* only a plain file can be appended to */
    if (code == 0)
        code = cut_torn_end(j, &scan, err);
    if (code == 0)
        *out = j;
    else
        journal_close(j);
    return code;
}

/* All bytes, whatever sizes the kernel takes them in; -1 with errno otherwise. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written == 0 ? ENOSPC : errno;
            return -1;
        }
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int write_line(struct journal *j, const struct text *line, struct error *err)
{
    int code = 0;
    if (write_all(j->fd, line->bytes, line->length) == 0 && j->sync(j->fd) == 0) {
        j->length += (off_t)line->length;
    } else {
        code = error_set(err, EXIT_CODE_IO, "%s: cannot write: %s", j->path, strerror(errno));
        j->broken = ftruncate(j->fd, j->length) != 0;
        j->copy.lines.length = (size_t)j->length;
    }
    journal_copy_note(&j->copy, j->fd);
    return code;
}

static size_t count_lines(const struct text *lines)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->length; i++)
        n += lines->bytes[i] == '\n';
    return n;
}

/* The file is not what was written to it: what was is put elsewhere, once. */
static int lose(struct journal *j, const char *fault, struct error *err)
{
    char rescued[4096];
    size_t lines = count_lines(&j->copy.lines);
    if (j->lost)
        return error_set(err, EXIT_CODE_IO, "%s %s while the run wrote it", j->path, fault);
    j->lost = true;
    if (journal_copy_rescue(&j->copy, j->path, rescued, sizeof rescued) != 0)
        return error_set(err, EXIT_CODE_IO, "%s %s while the run wrote it, and its %zu lines could not be saved: %s",
                         j->path, fault, lines, strerror(errno));
    return error_set(err, EXIT_CODE_IO,
                     "%s %s while the run wrote it: all %zu lines are in %s (moved back, --resume goes on from there)",
                     j->path, fault, lines, rescued);
}

int journal_check(struct journal *j, struct error *err)
{
    const char *fault = journal_copy_fault(&j->copy, j->fd, j->path);
    return fault ? lose(j, fault, err) : 0;
}

int journal_check_all(struct journal *j, struct error *err)
{
    journal_copy_doubt(&j->copy);
    return journal_check(j, err);
}

bool journal_is_lost(const struct journal *j)
{
    return j->lost;
}

int journal_append(struct journal *j, const char *kind, const cJSON *data, struct error *err)
{
    struct text line = {0};
    if (j->broken)
        return error_set(err, EXIT_CODE_IO, "%s: an earlier write failed and could not be undone", j->path);
    int code = journal_line_print(&line, kind, data, err);
    if (code == 0 && j->length + (off_t)line.length > (off_t)JOURNAL_MAX_BYTES)
        code = error_set(err, EXIT_CODE_IO, "%s: the journal would grow over %u bytes", j->path, JOURNAL_MAX_BYTES);
    const char *fault = code ? NULL : journal_copy_fault(&j->copy, j->fd, j->path); /* before the line is in the copy */
    if (code == 0)
        text_add_bytes(&j->copy.lines, line.bytes, line.length);
    if (code == 0 && j->copy.lines.failed)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the journal");
    if (code == 0)
        code = fault ? lose(j, fault, err) : write_line(j, &line, err);
    text_free(&line);
    return code;
}

void journal_replace_sync(struct journal *j, int (*sync)(int fd))
{
    j->sync = sync;
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        close(j->fd);
    journal_copy_free(&j->copy);
    free(j);
}
