/*
 * asked.c - NVRTC's options from a request, the key of a compilation, and both as a text and back. Relies on kernels.c
 * for sources. Called by compile.c and cubins.c.
 */
#include "compile/asked.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compile/kept.h"

#define FIRST_LINE "NVRTC %d.%d\n"

static void add_option(struct asked *a, const char *text)
{
    snprintf(a->text[a->n_options], ASKED_OPTION_BYTES, "%s", text);
    a->options[a->n_options] = a->text[a->n_options];
    a->n_options++;
}

/* A directory that is carried elsewhere with its kernels still says which of them it has. */
static void note_source(const struct compile_request *request, struct asked *a)
{
    char source[PATH_MAX], directory[PATH_MAX];
    bool known = realpath(request->path, source) != NULL;
    const char *given = request->kernel_directory;
    size_t length = known && given && realpath(given, directory) ? strlen(directory) : 0;
    bool within = length > 0 && strncmp(source, directory, length) == 0 && source[length] == '/';
    snprintf(a->source, sizeof a->source, "%s", within ? source + length + 1 : known ? source : request->path);
}

int asked_fill(const struct compile_request *request, const int nvrtc[2], struct asked *out, struct error *err)
{
    char text[ASKED_OPTION_BYTES];
    *out = (struct asked){.nvrtc = {nvrtc[0], nvrtc[1]}};
    note_source(request, out);
    snprintf(text, sizeof text, "--gpu-architecture=sm_%d%s", request->cc, request->cc >= 90 ? "a" : "");
    add_option(out, text);
    add_option(out, "--std=c++17");
    add_option(out, "--pre-include=" KERNEL_PRELUDE);
    add_option(out, "--ptxas-options=-v");
    if (request->n_defines > COMPILE_MAX_DEFINES)
        return error_set(err, EXIT_CODE_DATA, "%s: more than %d parameters", request->path, COMPILE_MAX_DEFINES);
    for (size_t i = 0; i < request->n_defines; i++) {
        int n = snprintf(text, sizeof text, "-D%s=%" PRId64, request->defines[i].name, request->defines[i].value);
        if (n < 0 || (size_t)n >= sizeof text)
            return error_set(err, EXIT_CODE_DATA, "%s: the parameter name \"%.40s...\" is too long", request->path,
                             request->defines[i].name);
        add_option(out, text);
    }
    return 0;
}

void asked_key(const struct asked *a, const struct kernel_source *source, char key[DIGEST_HEX])
{
    struct digest d;
    digest_start(&d);
    digest_add_string(&d, KEPT_FORM);
    digest_add(&d, a->nvrtc, sizeof a->nvrtc);
    for (int i = 0; i < a->n_options; i++)
        digest_add_string(&d, a->options[i]);
    kernel_source_digest(source, &d);
    digest_finish(&d, key);
}

char *asked_text(const struct asked *a)
{
    struct text out = {0};
    text_add(&out, FIRST_LINE "%s\n", a->nvrtc[0], a->nvrtc[1], a->source);
    for (int i = 0; i < a->n_options; i++)
        text_add(&out, "%s\n", a->options[i]);
    if (out.failed)
        text_free(&out);
    return out.bytes;
}

int asked_read(const char *text, struct asked *out, struct error *err)
{
    const char *at = strchr(text, '\n');
    *out = (struct asked){.n_options = 0};
    if (!at || sscanf(text, "NVRTC %d.%d", &out->nvrtc[0], &out->nvrtc[1]) != 2)
        return error_set(err, EXIT_CODE_DATA, "expected a first line \"NVRTC MAJOR.MINOR\"");
    for (int line = 0; *++at; line++) {
        size_t length = strcspn(at, "\n"), most = line == 0 ? sizeof out->source : ASKED_OPTION_BYTES;
        if (length >= most || at[length] == '\0' || line > ASKED_OPTIONS_MAX)
            return error_set(err, EXIT_CODE_DATA, "line %d is cut off, too long or one too many", line + 2);
        char *to = line == 0 ? out->source : out->text[out->n_options];
        memcpy(to, at, length);
        to[length] = '\0';
        if (line > 0) {
            out->options[out->n_options] = to;
            out->n_options++;
        }
        at += length;
    }
    return out->n_options > 0 ? 0 : error_set(err, EXIT_CODE_DATA, "expected a source and options");
}

int asked_key_now(const struct asked *a, const char *kernel_directory, char key[DIGEST_HEX], struct error *err)
{
    struct kernel_source source;
    char path[2 * sizeof a->source];
    bool whole = a->source[0] == '/';
    int n = snprintf(path, sizeof path, "%s%s%s", whole ? "" : kernel_directory, whole ? "" : "/", a->source);
    if (n < 0 || (size_t)n >= sizeof path)
        return error_set(err, EXIT_CODE_DATA, "the path of a source is too long");
    int code = kernel_source_read(path, kernel_directory, &source, err);
    if (code == 0) {
        asked_key(a, &source, key);
        kernel_source_free(&source);
    }
    return code;
}
