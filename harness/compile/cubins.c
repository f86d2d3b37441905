/*
 * cubins.c - three files for each kernel that was compiled ahead, cubin/KEY, cubin-log/KEY and cubin-of/KEY (asked.h),
 * and nvrtc/version, each with a checksum. Relies on base/file.h. Called by compile.c, `compile` and `doctor`.
 */
#include "compile/cubins.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "compile/asked.h"
#include "compile/nvrtc.h"

#define KIND_CODE "cubin"
#define KIND_LOG "cubin-log"
#define KIND_ASKED "cubin-of"
#define KIND_MAKER "nvrtc" /* one entry */
#define MAKER_KEY "version"

/* ---- where ---- */

/* Workers write into the cache, and into what lies in it. */
static bool is_in_cache(const char *directory)
{
    char cache[PATH_MAX], mine[PATH_MAX], its[PATH_MAX];
    struct error ignored;
    if (file_cache_directory(cache, sizeof cache, &ignored) || !realpath(cache, its) || !realpath(directory, mine))
        return false;
    size_t length = strlen(its);
    return strncmp(mine, its, length) == 0 && (mine[length] == '/' || mine[length] == '\0');
}

bool cubins_find(const char *kernel_directory, char *out, size_t capacity)
{
    const char *own = getenv(CUBINS_VARIABLE);
    struct stat st;
    int n = 0;
    out[0] = '\0';
    if (own && strcmp(own, CUBINS_NONE) == 0)
        return false;
    if (own && own[0])
        n = snprintf(out, capacity, "%s", own);
    else if (kernel_directory)
        n = snprintf(out, capacity, "%s/../cubins", kernel_directory);
    if (n < 0 || (size_t)n >= capacity)
        out[0] = '\0';
    return out[0] && stat(out, &st) == 0 && S_ISDIR(st.st_mode) && !is_in_cache(out);
}

static bool path_of(const char *directory, const char *kind, const char *key, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/%s/%s", directory, kind, key);
    return n > 0 && n < PATH_MAX;
}

/* ---- one ---- */

static enum file_entry get(const char *directory, const char *kind, const char *key, char **bytes, size_t *length)
{
    char path[PATH_MAX];
    return path_of(directory, kind, key, path) ? file_entry_get(path, bytes, length) : FILE_ENTRY_NONE;
}

bool cubins_get(const char *kernel_directory, struct compile_result *out)
{
    char directory[PATH_MAX];
    size_t log_length;
    if (!cubins_find(kernel_directory, directory, sizeof directory))
        return false;
    enum file_entry code = get(directory, KIND_CODE, out->key, &out->cubin, &out->length);
    enum file_entry log =
        code == FILE_ENTRY_GOOD ? get(directory, KIND_LOG, out->key, &out->log, &log_length) : FILE_ENTRY_NONE;
    out->ahead = log == FILE_ENTRY_GOOD;
    out->damaged = !out->ahead && code != FILE_ENTRY_NONE;
    if (code == FILE_ENTRY_GOOD && !out->ahead) {
        free(out->cubin);
        out->cubin = NULL;
    }
    return out->ahead;
}

static int put(const char *directory, const char *kind, const char *key, const char *bytes, size_t length,
               struct error *err)
{
    char path[PATH_MAX];
    if (!path_of(directory, kind, key, path))
        return error_set(err, EXIT_CODE_CANTCREATE, "%.200s...: the path is too long", directory);
    return file_entry_put(path, bytes, length, err);
}

/* "NVRTC 13.0", the first line of what was asked. */
static int put_maker(const char *directory, const char *asked, struct error *err)
{
    char *there = NULL;
    size_t length = strcspn(asked, "\n"), known;
    bool same = get(directory, KIND_MAKER, MAKER_KEY, &there, &known) == FILE_ENTRY_GOOD && known == length &&
                memcmp(there, asked, length) == 0;
    free(there);
    return same ? 0 : put(directory, KIND_MAKER, MAKER_KEY, asked, length, err);
}

/* The cubin last: where it is, the others are. */
int cubins_put(const char *directory, const struct compile_result *result, struct error *err)
{
    int code = put_maker(directory, result->asked, err);
    if (!code)
        code = put(directory, KIND_LOG, result->key, result->log, strlen(result->log), err);
    if (!code)
        code = put(directory, KIND_ASKED, result->key, result->asked, strlen(result->asked), err);
    return code ? code : put(directory, KIND_CODE, result->key, result->cubin, result->length, err);
}

static bool maker_of(const char *directory, int nvrtc[2])
{
    char *text = NULL;
    size_t length;
    bool good = get(directory, KIND_MAKER, MAKER_KEY, &text, &length) == FILE_ENTRY_GOOD &&
                sscanf(text, "NVRTC %d.%d", &nvrtc[0], &nvrtc[1]) == 2;
    free(text);
    return good;
}

bool cubins_nvrtc(const char *kernel_directory, int nvrtc[2])
{
    char directory[PATH_MAX];
    return cubins_find(kernel_directory, directory, sizeof directory) && maker_of(directory, nvrtc);
}

/* ---- all ---- */

struct looking {
    const char *directory, *kernel_directory;
    int nvrtc[2]; /* this machine's */
    struct cubins_count *out;
};

/* Whether the key is what this kernel directory and this NVRTC would ask for. */
static bool is_usable(const struct looking *l, const char *text, const char *key)
{
    struct asked *asked = malloc(sizeof *asked);
    char now[DIGEST_HEX] = "";
    struct error ignored;
    bool usable = false;
    if (!asked || asked_read(text, asked, &ignored)) {
        l->out->damaged++;
    } else if (asked->nvrtc[0] != l->nvrtc[0] || asked->nvrtc[1] != l->nvrtc[1]) {
        l->out->other_nvrtc++;
        memcpy(l->out->nvrtc, asked->nvrtc, sizeof l->out->nvrtc);
    } else if (asked_key_now(asked, l->kernel_directory, now, &ignored) || strcmp(now, key) != 0) {
        l->out->stale++;
    } else {
        usable = true;
    }
    free(asked);
    return usable;
}

static void look_at(const struct looking *l, const char *key)
{
    char *code = NULL, *log = NULL, *asked = NULL;
    size_t length = 0, ignored;
    bool usable = false;
    l->out->all++;
    if (get(l->directory, KIND_CODE, key, &code, &length) != FILE_ENTRY_GOOD ||
        get(l->directory, KIND_LOG, key, &log, &ignored) != FILE_ENTRY_GOOD ||
        get(l->directory, KIND_ASKED, key, &asked, &ignored) != FILE_ENTRY_GOOD)
        l->out->damaged++;
    else
        usable = is_usable(l, asked, key);
    l->out->usable += usable;
    l->out->bytes += usable ? length : 0;
    free(code);
    free(log);
    free(asked);
}

int cubins_look(const char *directory, const char *kernel_directory, struct cubins_count *out, struct error *err)
{
    char path[PATH_MAX];
    struct looking l = {.directory = directory, .kernel_directory = kernel_directory, .out = out};
    *out = (struct cubins_count){0};
    if (nvrtc_version(&l.nvrtc[0], &l.nvrtc[1], err) && !maker_of(directory, l.nvrtc))
        return err->code;
    DIR *d = path_of(directory, KIND_CODE, "", path) ? opendir(path) : NULL;
    if (!d)
        return error_set(err, EXIT_CODE_DATA, "%s: cannot be read: %s", directory, strerror(errno));
    for (const struct dirent *entry = readdir(d); entry; entry = readdir(d))
        if (!strchr(entry->d_name, '.')) /* nor what a writer that was killed has left */
            look_at(&l, entry->d_name);
    closedir(d);
    return 0;
}
