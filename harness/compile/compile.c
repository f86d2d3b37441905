/*
 * compile.c - source and parameters to a cubin: asks cubins.c and the disk cache by content, else NVRTC, and keeps what
 * instructions.c saw. Relies on asked.c, kernels.c, nvrtc.c and, for what is compiled already, binary.c. Called by
 * contender/ through device/cuda_kernels.c, from several threads.
 */
#include "compile/compile.h"
#include "compile/asked.h"
#include "compile/binary.h"
#include "compile/cubins.h"
#include "compile/kept.h"
#include "compile/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compile_now(const struct kernel_source *source, const struct asked *o, struct compile_result *out,
                       struct error *err)
{
    struct nvrtc_output made;
    int rc = nvrtc_compile(source, o->options, o->n_options, &made, err);
    if (rc == 0)
        rc = kept_note(&made.log, made.ptx, err);
    free(made.ptx);
    out->cubin = made.cubin;
    out->length = made.length;
    out->log = made.log;
    if (rc == 0)
        kept_put(out);
    return rc;
}

/* From where it is quickest to have. */
static int obtain(const struct compile_request *request, const struct asked *asked, bool kept_only,
                  struct compile_result *out, struct error *err)
{
    struct kernel_source source;
    int rc = kernel_source_read(request->path, request->kernel_directory, &source, err);
    if (rc != 0)
        return rc;
    asked_key(asked, &source, out->key);
    out->asked = asked_text(asked);
    if (!cubins_get(request->kernel_directory, out)) {
        out->cached = kept_get(out);
        if (!out->cached && kept_only)
            rc = error_set(err, EXIT_CODE_UNAVAILABLE, "not compiled yet");
        else if (!out->cached)
            rc = compile_now(&source, asked, out, err);
    }
    kernel_source_free(&source);
    return rc;
}

/* Without NVRTC, what the one that compiled ahead has made can be used all the same. */
static int find_version(const struct compile_request *request, int version[2], bool *without, struct error *err)
{
    int rc = nvrtc_version(&version[0], &version[1], err);
    *without = rc != 0 && cubins_nvrtc(request->kernel_directory, version);
    return *without ? 0 : rc;
}

static int compile_source(const struct compile_request *request, bool kept_only, struct compile_result *out,
                          struct error *err)
{
    struct asked *asked = malloc(sizeof *asked);
    bool without = false;
    int version[2];
    int rc = asked ? find_version(request, version, &without, err)
                   : error_set(err, EXIT_CODE_INTERNAL, "no memory for a compiler's options");
    if (rc == 0)
        rc = asked_fill(request, version, asked, err);
    if (rc == 0 && !without && !nvrtc_supports(request->cc))
        rc = error_set(err, EXIT_CODE_UNAVAILABLE, "NVRTC %d.%d cannot compile for sm_%d", version[0], version[1],
                       request->cc);
    if (rc == 0)
        rc = obtain(request, asked, kept_only, out, err);
    free(asked);
    return rc;
}

static int find(const struct compile_request *request, bool kept_only, struct compile_result *out, struct error *err)
{
    *out = (struct compile_result){0};
    int rc = binary_is(request->path) ? binary_load(request, out, err) : compile_source(request, kept_only, out, err);
    if (rc == 0)
        kept_hash(out);
    return rc;
}

int compile_cubin(const struct compile_request *request, struct compile_result *out, struct error *err)
{
    return find(request, false, out, err);
}

bool compile_is_kept(const struct compile_request *request)
{
    struct compile_result result;
    struct error ignored;
    bool kept = find(request, true, &result, &ignored) == 0;
    compile_result_free(&result);
    return kept;
}

void compile_result_free(struct compile_result *result)
{
    free(result->cubin);
    free(result->log);
    free(result->asked);
    *result = (struct compile_result){0};
}

/* ptxas writes "Function properties for <name>" with stack and spills, then "Used N registers, ...", for each function.
 */
struct compile_usage compile_usage_of(const char *log, const char *entry)
{
    struct compile_usage usage = {0};
    char mark[192];
    snprintf(mark, sizeof mark, "Compiling entry function '%s'", entry);
    const char *at = log ? strstr(log, mark) : NULL;
    if (!at)
        return usage;
    const char *end = strstr(at + strlen(mark), "Compiling entry function '");
    const char *stack = strstr(at, "bytes stack frame");
    /* The number before it: what stands in front of that differs between releases of ptxas. */
    while (stack && stack > at && (stack[-1] == ' ' || (stack[-1] >= '0' && stack[-1] <= '9')))
        stack--;
    if (stack && (!end || stack < end))
        (void)sscanf(stack, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &usage.stack_bytes,
                     &usage.spill_store_bytes, &usage.spill_load_bytes);
    const char *used = strstr(at, "Used ");
    if (used && (!end || used < end)) {
        (void)sscanf(used, "Used %d registers", &usage.registers);
        const char *line_end = strchr(used, '\n');
        const char *smem = strstr(used, " bytes smem");
        while (smem && smem > used && (smem[-1] >= '0' && smem[-1] <= '9'))
            smem--;
        if (smem && (!line_end || smem < line_end))
            (void)sscanf(smem, "%d bytes smem", &usage.shared_bytes);
    }
    return usage;
}
