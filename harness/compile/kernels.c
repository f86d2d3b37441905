/*
 * kernels.c - finds the kernel directory and reads a source with every header that it includes by name, in one text,
 * whose digest is the cache's key. Called by compile.c's callers, tune and `list`.
 */
#include "compile/kernels.h"
#include "base/file.h"
#include "compile/includes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_MAX_BYTES 1024

/* ---- the directory ---- */

static bool holds_prelude(const char *directory)
{
    char path[PATH_MAX_BYTES];
    int n = snprintf(path, sizeof path, "%s/" KERNEL_PRELUDE, directory);
    return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

/* Takes `candidate` if it is a kernel directory; else notes it in `tried`. */
static bool take(const char *candidate, char *out, size_t capacity, char tried[512])
{
    size_t used = strlen(tried);
    if (holds_prelude(candidate) && strlen(candidate) < capacity) {
        memcpy(out, candidate, strlen(candidate) + 1);
        return true;
    }
    snprintf(tried + used, 512 - used, "%s%s", used ? ", " : "", candidate);
    return false;
}

int kernel_directory_find(const char *given, char *out, size_t capacity, struct error *err)
{
    static const char *const beside[] = {"/../kernels", "/kernels"};
    char tried[512] = "", directory[PATH_MAX_BYTES - 16], candidate[PATH_MAX_BYTES];
    const char *fixed = given ? given : getenv("CUDAL2_KERNELS");
    if (fixed && *fixed) {
        if (take(fixed, out, capacity, tried))
            return 0;
    } else {
        if (file_executable_directory(directory, sizeof directory, err) != 0)
            return err->code;
        for (size_t i = 0; i < 2; i++) {
            snprintf(candidate, sizeof candidate, "%s%s", directory, beside[i]);
            if (take(candidate, out, capacity, tried))
                return 0;
        }
    }
    return error_set(err, EXIT_CODE_UNAVAILABLE, "no kernel directory (one with " KERNEL_PRELUDE "): tried %s", tried);
}

/* ---- a source with its headers ---- */

struct reader {
    struct kernel_source *source;
    char beside[PATH_MAX_BYTES]; /* directory of the source */
    const char *kernel_directory;
};

static int read_text(const char *path, char **text, struct error *err)
{
    size_t length;
    if (file_read(path, KERNEL_MAX_SOURCE, text, &length, err) != 0)
        return err->code;
    if (strlen(*text) == length)
        return 0;
    free(*text);
    *text = NULL;
    return error_set(err, EXIT_CODE_DATA, "%s: has a NUL byte: not a text", path);
}

static bool known(const struct kernel_source *s, const char *name)
{
    for (size_t i = 0; i < s->n_headers; i++)
        if (strcmp(s->header_names[i], name) == 0)
            return true;
    return false;
}

static int find_header(const struct reader *r, const char *name, char path[PATH_MAX_BYTES], struct error *err)
{
    const char *directories[] = {r->beside, r->kernel_directory};
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(path, PATH_MAX_BYTES, "%s/%s", directories[i], name);
        if (n > 0 && n < PATH_MAX_BYTES && access(path, R_OK) == 0)
            return 0;
    }
    return error_set(err, EXIT_CODE_DATA, "\"%s\" is neither in %s nor in %s", name, r->beside, r->kernel_directory);
}

static int add_header(const struct reader *r, const char *name, struct error *err)
{
    struct kernel_source *s = r->source;
    char path[PATH_MAX_BYTES];
    if (known(s, name))
        return 0;
    if (s->n_headers == KERNEL_MAX_HEADERS)
        return error_set(err, EXIT_CODE_DATA, "more than %d headers", KERNEL_MAX_HEADERS);
    char *copy = strdup(name), *text = NULL;
    if (!copy)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a header's name");
    if (find_header(r, name, path, err) != 0 || read_text(path, &text, err) != 0) {
        free(copy);
        return err->code;
    }
    s->header_names[s->n_headers] = copy;
    s->header_texts[s->n_headers++] = text;
    return 0;
}

/* Where an include stands: its source, for messages. */
struct place {
    const struct reader *reader;
    const char *source;
};

static int visit_include(void *context, const char *name, int line, struct error *err)
{
    const struct place *place = context;
    if (add_header(place->reader, name, err) != 0)
        return error_wrap(err, "%s(%d)", place->source, line);
    return 0;
}

static int scan(const struct reader *r, const char *name, const char *text, struct error *err)
{
    struct place place = {r, name};
    const struct include_visitor visitor = {visit_include, &place};
    return includes_walk(name, text, &visitor, err);
}

/* `__has_##include` is no word that a scan finds. */
static int check_pasting(const struct kernel_source *s, struct error *err)
{
    bool pastes = includes_paste(s->text);
    for (size_t i = 0; i < s->n_headers; i++)
        pastes = pastes || includes_paste(s->header_texts[i]);
    int code = pastes ? includes_no_pieces(s->name, s->text, err) : 0;
    for (size_t i = 0; pastes && code == 0 && i < s->n_headers; i++)
        code = includes_no_pieces(s->header_names[i], s->header_texts[i], err);
    return code;
}

static void split_path(const char *path, char directory[PATH_MAX_BYTES], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (slash)
        snprintf(directory, PATH_MAX_BYTES, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else
        snprintf(directory, PATH_MAX_BYTES, ".");
}

int kernel_source_read(const char *path, const char *kernel_directory, struct kernel_source *out, struct error *err)
{
    struct reader r = {.source = out, .kernel_directory = kernel_directory};
    const char *name;
    int rc;
    *out = (struct kernel_source){0};
    split_path(path, r.beside, &name);
    out->name = strdup(name);
    if (!out->name)
        rc = error_set(err, EXIT_CODE_INTERNAL, "no memory for a source's name");
    else
        rc = read_text(path, &out->text, err);
    if (rc == 0)
        rc = add_header(&r, KERNEL_PRELUDE, err);
    if (rc == 0)
        rc = scan(&r, out->name, out->text, err);
    /* The list grows while it is walked: headers of headers. */
    for (size_t i = 0; rc == 0 && i < out->n_headers; i++)
        rc = scan(&r, out->header_names[i], out->header_texts[i], err);
    if (rc == 0)
        rc = check_pasting(out, err);
    if (rc != 0)
        kernel_source_free(out);
    return rc;
}

void kernel_source_free(struct kernel_source *s)
{
    for (size_t i = 0; i < s->n_headers; i++) {
        free(s->header_names[i]);
        free(s->header_texts[i]);
    }
    free(s->name);
    free(s->text);
    *s = (struct kernel_source){0};
}

void kernel_source_digest(const struct kernel_source *s, struct digest *digest)
{
    digest_add_string(digest, s->name);
    digest_add_string(digest, s->text);
    for (size_t i = 0; i < s->n_headers; i++) {
        digest_add_string(digest, s->header_names[i]);
        digest_add_string(digest, s->header_texts[i]);
    }
}
