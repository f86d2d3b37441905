/*
 * kept.c - the two entries of the disk cache for each compiled kernel, and the line that instructions.c adds to its
 * log. Relies on base/file.h. Called by compile.c and binary.c, from several threads.
 */
#include "compile/kept.h"

#include "base/file.h"
#include "compile/instructions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTRUCTIONS_MARK "cudal2-bench: instructions: "
#define INSTRUCTIONS_MAX 256

/* Cubin and log are two entries; both must be there. */
bool kept_get(struct compile_result *out)
{
    struct error ignored;
    size_t log_length;
    bool found = false, log_found = false;
    if (file_cache_get("cubin", out->key, &out->cubin, &out->length, &found, &ignored) != 0 || !found)
        return false;
    if (file_cache_get("cubin-log", out->key, &out->log, &log_length, &log_found, &ignored) == 0 && log_found)
        return true;
    free(out->cubin);
    out->cubin = NULL;
    return false;
}

void kept_put(const struct compile_result *out)
{
    struct error ignored;
    if (file_cache_put("cubin-log", out->key, out->log, strlen(out->log), &ignored) == 0)
        (void)file_cache_put("cubin", out->key, out->cubin, out->length, &ignored);
}

void kept_hash(struct compile_result *out)
{
    struct digest d;
    digest_start(&d);
    digest_add(&d, out->cubin, out->length);
    digest_finish(&d, out->hash);
}

/* The PTX is not kept; what it is read for goes into the log, which is cached with the cubin. */
int kept_note(char **log, const char *ptx, struct error *err)
{
    char found[INSTRUCTIONS_MAX];
    instructions_of(ptx, found, sizeof found);
    size_t length = *log ? strlen(*log) : 0, more = sizeof INSTRUCTIONS_MARK + strlen(found) + 2;
    char *grown = realloc(*log, length + more);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a compiler log");
    *log = grown;
    bool open_line = length > 0 && grown[length - 1] != '\n';
    snprintf(grown + length, more, "%s" INSTRUCTIONS_MARK "%s\n", open_line ? "\n" : "", found);
    return 0;
}

void compile_instructions_of(const char *log, char *out, size_t capacity)
{
    const char *at = log ? strstr(log, INSTRUCTIONS_MARK) : NULL;
    at = at ? at + strlen(INSTRUCTIONS_MARK) : "";
    snprintf(out, capacity, "%.*s", (int)strcspn(at, "\n"), at);
}
