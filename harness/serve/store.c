/*
 * store.c - the directory of jobs: written by whole files, read back after a restart. Relies on base/file.h. Called by
 * server.c, evaluate.c and compiling.c.
 */
#include "serve/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

int store_open(const char *directory, struct store *out, struct error *err)
{
    char path[PATH_MAX];
    out->lock_fd = -1;
    if (strlen(directory) >= sizeof out->directory)
        return error_set(err, EXIT_CODE_USAGE, "serve: the directory's path is too long");
    snprintf(path, sizeof path, "%s/jobs", directory);
    if (file_make_directories(path, err) || !realpath(directory, path))
        return error_wrap(err, "serve");
    if (strlen(path) >= sizeof out->directory)
        return error_set(err, EXIT_CODE_USAGE, "serve: the directory's path is too long");
    snprintf(out->directory, sizeof out->directory, "%.*s", (int)sizeof out->directory - 1, path);
    snprintf(path, sizeof path, "%s/lock", out->directory);
    out->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (out->lock_fd < 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "serve: %s: %s", path, strerror(errno));
    if (flock(out->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    store_close(out);
    return error_set(err, EXIT_CODE_TEMPORARY, "serve: another server keeps its jobs in %s (--output names another)",
                     out->directory);
}

void store_close(struct store *s)
{
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_fd = -1;
}

int store_path(const struct store *s, const char *id, const char *leaf, char out[PATH_MAX], struct error *err)
{
    int length = snprintf(out, PATH_MAX, "%s/jobs/%.2s/%s%s%s", s->directory, id, id, leaf[0] ? "/" : "", leaf);
    return length < PATH_MAX ? 0 : error_set(err, EXIT_CODE_DATA, "the path of job %s is too long", id);
}

/* A new directory is an entry of its parent: that must reach the disk as well. */
static void sync_parent(const char *path)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s/..", path);
    int fd = strlen(path) + 4 < sizeof parent ? open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static int make_directory(const struct store *s, const char *id, struct error *err)
{
    char path[PATH_MAX], shelf[PATH_MAX];
    if (store_path(s, id, "", path, err))
        return err->code;
    if (access(path, F_OK) == 0)
        return 0;
    int code = file_make_directories(path, err);
    snprintf(shelf, sizeof shelf, "%.*s", (int)(strrchr(path, '/') - path), path);
    sync_parent(path);
    sync_parent(shelf);
    return code;
}

int store_put(const struct store *s, const char *id, const char *leaf, const cJSON *tree, struct error *err)
{
    char path[PATH_MAX];
    char *text = json_print(tree, false);
    int code = text ? make_directory(s, id, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a job");
    if (!code)
        code = store_path(s, id, leaf, path, err);
    if (!code)
        code = file_write_atomic(path, text, strlen(text), err);
    free(text);
    return code;
}

int store_get(const struct store *s, const char *id, const char *leaf, char **text, struct error *err)
{
    char path[PATH_MAX];
    size_t length;
    int code = store_path(s, id, leaf, path, err);
    return code ? code : file_read(path, STORE_FILE_BYTES, text, &length, err);
}

void store_sync(const struct store *s, const char *id, const char *leaf)
{
    char path[PATH_MAX];
    struct error ignored;
    int fd = store_path(s, id, leaf, path, &ignored) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    fdatasync(fd);
    close(fd);
}

void store_attempt(const struct store *s, const char *id, unsigned *count)
{
    char path[PATH_MAX], number[16];
    char *text = NULL;
    struct error ignored;
    *count = 1;
    if (store_get(s, id, STORE_ATTEMPTS, &text, &ignored) == 0)
        *count = (unsigned)strtoul(text, NULL, 10) + 1;
    free(text);
    snprintf(number, sizeof number, "%u", *count);
    if (store_path(s, id, STORE_ATTEMPTS, path, &ignored) == 0)
        file_write_passing(path, number, strlen(number), &ignored);
}

void store_remove(const struct store *s, const char *id, const char *leaf)
{
    char path[PATH_MAX];
    struct error ignored;
    if (store_path(s, id, leaf, path, &ignored) == 0)
        unlink(path);
}

/* ---- after a restart ---- */

struct scan {
    const struct store *store;
    store_visitor visit;
    void *context;
    size_t *damaged;
};

bool store_is_id(const char *name)
{
    return strlen(name) == DIGEST_HEX - 1 && strspn(name, "0123456789abcdef") == DIGEST_HEX - 1;
}

static int scan_job(const struct scan *scan, const char *id, struct error *err)
{
    char path[PATH_MAX];
    cJSON *tree = NULL;
    struct error ignored;
    if (store_path(scan->store, id, STORE_OUTCOME, path, err))
        return err->code;
    bool done = access(path, F_OK) == 0;
    if (store_path(scan->store, id, STORE_SUBMISSION, path, err))
        return err->code;
    if (json_read_file(path, STORE_FILE_BYTES, &tree, &ignored)) {
        (*scan->damaged)++; /* its client was never told that it was taken */
        return 0;
    }
    int code = scan->visit(scan->context, id, json_root(tree, path), done, err);
    cJSON_Delete(tree);
    return code;
}

static int scan_shelf(const struct scan *scan, const char *path, struct error *err)
{
    DIR *shelf = opendir(path);
    int code = 0;
    for (struct dirent *entry; shelf && !code && (entry = readdir(shelf)) != NULL;)
        if (store_is_id(entry->d_name))
            code = scan_job(scan, entry->d_name, err);
    if (shelf)
        closedir(shelf);
    return code;
}

int store_scan(const struct store *s, store_visitor visit, void *context, size_t *damaged, struct error *err)
{
    const struct scan scan = {s, visit, context, damaged};
    char path[PATH_MAX];
    int code = 0;
    *damaged = 0;
    for (int i = 0; i < 256 && !code; i++) {
        snprintf(path, sizeof path, "%s/jobs/%02x", s->directory, (unsigned)i);
        code = scan_shelf(&scan, path, err);
    }
    return code;
}
