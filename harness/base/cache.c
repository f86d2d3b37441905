/*
 * cache.c - the on-disk cache of file.h: one file an entry, <cache>/<kind>/<key>, headed by the CRC and length of its
 * content. Relies on digest.c. Called by whoever keeps what took long: compile/, measure/variants.c and verify/.
 */
#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_MAX_BYTES ((size_t)256 << 20)
#define CACHE_HEADER "cudal2-cache 1 %08x %020zu\n"
#define CACHE_HEADER_LENGTH 45u
#define CACHE_PATH_MAX 4096

struct cache_path {
    char text[CACHE_PATH_MAX];
};

/* A name that is one path component and nothing else, whatever a plugin or manifest put into a key. */
static bool plain_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length <= 200 && name[0] != '.' && strspn(name, allowed) == length;
}

/* Everybody may write to /tmp: a directory that someone else put there first must not feed us cubins. */
static int check_owner(const char *directory, struct error *err)
{
    struct stat st;
    if (lstat(directory, &st) != 0)
        return errno == ENOENT
                   ? 0
                   : error_set(err, EXIT_CODE_CANTCREATE, "%s: cannot be read: %s", directory, strerror(errno));
    if (!S_ISDIR(st.st_mode) || st.st_uid != getuid())
        return error_set(err, EXIT_CODE_CANTCREATE, "%s: not a directory of this user; set CUDAL2_CACHE", directory);
    return 0;
}

static int too_long(struct error *err)
{
    return error_set(err, EXIT_CODE_CANTCREATE,
                     "a path of the cache has over %d bytes: set CUDAL2_CACHE to a shorter directory",
                     CACHE_PATH_MAX - 1);
}

int file_cache_directory(char *out, size_t capacity, struct error *err)
{
    const char *own = getenv("CUDAL2_CACHE");
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool shared_tmp = false;
    int used;
    if (own && own[0]) {
        used = snprintf(out, capacity, "%s", own);
    } else if (xdg && xdg[0] == '/') { /* the XDG specification: relative paths are ignored */
        used = snprintf(out, capacity, "%s/cudal2-bench", xdg);
    } else if (home && home[0] == '/') {
        used = snprintf(out, capacity, "%s/.cache/cudal2-bench", home);
    } else {
        used = snprintf(out, capacity, "/tmp/cudal2-bench-cache-%lu", (unsigned long)getuid());
        shared_tmp = true;
    }
    if (used < 0 || (size_t)used >= capacity)
        return too_long(err);
    return shared_tmp ? check_owner(out, err) : 0;
}

static int path_in(const char *directory, const char *kind, const char *key, struct cache_path *out, struct error *err)
{
    if (!plain_name(kind) || !plain_name(key))
        return error_set(err, EXIT_CODE_INTERNAL, "cache entry \"%.40s\"/\"%.40s\": not plain names", kind, key);
    int used = snprintf(out->text, sizeof out->text, "%s/%s/%s", directory, kind, key);
    if (used < 0 || (size_t)used >= sizeof out->text)
        return too_long(err);
    return 0;
}

int file_cache_path(const char *kind, const char *key, char *out, size_t capacity, struct error *err)
{
    char directory[CACHE_PATH_MAX];
    struct cache_path path;
    if (file_cache_directory(directory, sizeof directory, err) || path_in(directory, kind, key, &path, err))
        return err->code;
    if ((size_t)snprintf(out, capacity, "%s", path.text) >= capacity)
        return too_long(err);
    return 0;
}

/* ---- where plugins could write ---- */

/* NULL: there is none. */
static const char *own_directory(void)
{
    const char *own = getenv(FILE_CACHE_OWN);
    return own && own[0] ? own : NULL;
}

static bool is_used(const char *kind)
{
    const char *only = getenv(FILE_CACHE_ONLY);
    return !only || strncmp(kind, only, strlen(only)) == 0;
}

/* True when the file is exactly a header and the content that it announces. */
static bool entry_valid(const char *file, size_t file_length)
{
    char expected[CACHE_HEADER_LENGTH + 1];
    if (file_length < CACHE_HEADER_LENGTH)
        return false;
    size_t length = file_length - CACHE_HEADER_LENGTH;
    snprintf(expected, sizeof expected, CACHE_HEADER, digest_crc32(file + CACHE_HEADER_LENGTH, length), length);
    return memcmp(file, expected, CACHE_HEADER_LENGTH) == 0;
}

enum file_entry file_entry_get(const char *path, char **bytes, size_t *length)
{
    char *file = NULL;
    size_t file_length = 0;
    struct error ignored = {0};
    if (access(path, F_OK) != 0)
        return FILE_ENTRY_NONE;
    if (file_read(path, CACHE_MAX_BYTES, &file, &file_length, &ignored))
        return FILE_ENTRY_DAMAGED;
    if (!entry_valid(file, file_length)) {
        free(file);
        return FILE_ENTRY_DAMAGED;
    }
    *length = file_length - CACHE_HEADER_LENGTH;
    memmove(file, file + CACHE_HEADER_LENGTH, *length + 1); /* with the NUL of file_read */
    *bytes = file;
    return FILE_ENTRY_GOOD;
}

int file_entry_put(const char *path, const void *bytes, size_t length, struct error *err)
{
    char directory[CACHE_PATH_MAX];
    struct text entry = {0};
    const char *slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (file_make_directories(directory, err))
        return err->code;
    text_add(&entry, CACHE_HEADER, digest_crc32(bytes, length), length);
    text_add_bytes(&entry, bytes, length);
    int code = entry.failed ? error_set(err, EXIT_CODE_INTERNAL, "no memory for a cache entry of %zu bytes", length)
                            : file_write_passing(path, entry.bytes, entry.length, err);
    text_free(&entry);
    return code;
}

int file_cache_get(const char *kind, const char *key, char **bytes, size_t *length, bool *found, struct error *err)
{
    struct cache_path path;
    const char *own = own_directory();
    *found = false;
    if (!is_used(kind))
        return 0;
    if (own && path_in(own, kind, key, &path, err))
        return err->code;
    *found = own && file_entry_get(path.text, bytes, length) == FILE_ENTRY_GOOD;
    if (*found)
        return 0;
    if (file_cache_path(kind, key, path.text, sizeof path.text, err))
        return err->code;
    *found = file_entry_get(path.text, bytes, length) == FILE_ENTRY_GOOD;
    return 0;
}

int file_cache_put(const char *kind, const char *key, const void *bytes, size_t length, struct error *err)
{
    struct cache_path path;
    const char *own = own_directory();
    if (!is_used(kind))
        return 0;
    int code = own ? path_in(own, kind, key, &path, err) : file_cache_path(kind, key, path.text, sizeof path.text, err);
    return code ? code : file_entry_put(path.text, bytes, length, err);
}
