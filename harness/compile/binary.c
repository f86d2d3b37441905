/*
 * binary.c - from a file that another compiler made to a cubin for the GPU at hand: checks its architecture, takes its
 * part of a fat binary, assembles PTX (cached). Relies on cubin.c, fatbin.c and jitlink.c. Called by compile.c.
 */
#include "compile/binary.h"

#include "base/file.h"
#include "compile/cubin.h"
#include "compile/fatbin.h"
#include "compile/jitlink.h"
#include "compile/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_NONE, KIND_CUBIN, KIND_FATBIN, KIND_PTX };

static enum kind kind_of(const char *path)
{
    static const char *const ends[] = {[KIND_CUBIN] = ".cubin", [KIND_FATBIN] = ".fatbin", [KIND_PTX] = ".ptx"};
    size_t length = strlen(path);
    for (int i = KIND_CUBIN; i <= KIND_PTX; i++)
        if (length > strlen(ends[i]) && strcmp(path + length - strlen(ends[i]), ends[i]) == 0)
            return (enum kind)i;
    return KIND_NONE;
}

bool binary_is(const char *path)
{
    return kind_of(path) != KIND_NONE;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Takes the bytes over. */
static int take_cubin(char *bytes, size_t length, int cc, struct compile_result *out, struct error *err)
{
    struct cubin_arch arch;
    out->cubin = bytes;
    out->length = length;
    if (cubin_arch_of(bytes, length, &arch, err))
        return err->code;
    if (!cubin_runs_on(&arch, cc))
        return error_set(err, EXIT_CODE_INCOMPARABLE, "it is for sm_%d%s, and this is sm_%d", arch.cc,
                         cubin_arch_suffix(&arch), cc);
    out->log = calloc(1, 1);
    return out->log ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory for a log");
}

/* ".target sm_90a" */
static int check_target(const char *ptx, int cc, struct error *err)
{
    char suffix = '\0';
    int target = 0;
    const char *at = strstr(ptx, ".target");
    int n = at ? sscanf(at, ".target sm_%d%c", &target, &suffix) : 0;
    if (n < 1)
        return error_set(err, EXIT_CODE_DATA, "this is no PTX, or it is cut off: it has no line \".target sm_...\"");
    bool alone = suffix == 'a', family = suffix == 'f';
    bool good = alone ? target == cc : family ? target / 10 == cc / 10 && target <= cc : target <= cc;
    return good ? 0
                : error_set(err, EXIT_CODE_INCOMPARABLE, "it is for sm_%d%s, and this is sm_%d", target,
                            alone    ? "a"
                            : family ? "f"
                                     : "",
                            cc);
}

static int assemble_now(const char *ptx, const char *arch, struct compile_result *out, struct error *err)
{
    struct jitlink_output made;
    int rc = jitlink_assemble(ptx, arch, &made, err);
    out->cubin = made.cubin;
    out->length = made.length;
    out->log = made.log;
    if (rc == 0)
        rc = kept_note(&out->log, ptx, err);
    if (rc == 0)
        kept_put(out);
    return rc;
}

static int assemble(const char *ptx, size_t length, int cc, struct compile_result *out, struct error *err)
{
    char arch[16], assembler[64];
    struct digest d;
    if (strlen(ptx) != length)
        return error_set(err, EXIT_CODE_DATA, "this is no PTX: it has a NUL byte");
    if (check_target(ptx, cc, err) || jitlink_name(assembler, sizeof assembler, err))
        return err->code;
    snprintf(arch, sizeof arch, "sm_%d%s", cc, cc >= 90 ? "a" : "");
    digest_start(&d);
    digest_add_string(&d, KEPT_FORM);
    digest_add_string(&d, assembler);
    digest_add_string(&d, arch);
    digest_add_string(&d, ptx);
    digest_finish(&d, out->key);
    out->cached = kept_get(out);
    return out->cached ? 0 : assemble_now(ptx, arch, out, err);
}

/* Packed PTX ends with a NUL of its own. */
static int take_part(struct fatbin_part *part, int cc, struct compile_result *out, struct error *err)
{
    if (!part->ptx)
        return take_cubin(part->bytes, part->length, cc, out, err);
    int rc = assemble(part->bytes, strlen(part->bytes), cc, out, err);
    free(part->bytes);
    return rc;
}

static int read_whole(const char *path, char **bytes, size_t *length, struct digest *digest, struct error *err)
{
    if (file_read(path, BINARY_MOST_BYTES, bytes, length, err))
        return err->code;
    digest_add_string(digest, name_of(path));
    digest_add(digest, *bytes, *length);
    return 0;
}

int binary_load(const struct compile_request *request, struct compile_result *out, struct error *err)
{
    struct fatbin_part part;
    struct digest digest;
    char *bytes = NULL;
    size_t length = 0;
    digest_start(&digest);
    if (read_whole(request->path, &bytes, &length, &digest, err))
        return err->code;
    digest_finish(&digest, out->key);
    enum kind kind = kind_of(request->path);
    int rc;
    if (kind == KIND_CUBIN) {
        rc = take_cubin(bytes, length, request->cc, out, err);
        bytes = NULL;
    } else if (kind == KIND_PTX) {
        rc = assemble(bytes, length, request->cc, out, err);
    } else {
        rc = fatbin_choose(bytes, length, request->cc, &part, err);
        if (rc == 0)
            rc = take_part(&part, request->cc, out, err);
    }
    free(bytes);
    return rc == 0 ? 0 : error_wrap(err, "%s", name_of(request->path));
}

int binary_digest(const char *path, struct digest *digest, struct error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    int rc = read_whole(path, &bytes, &length, digest, err);
    free(bytes);
    return rc;
}
