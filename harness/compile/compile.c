/*
 * compile.c - source and parameters to a cubin: asks the disk cache by content, else NVRTC, and keeps what
 * instructions.c saw. Relies on kernels.c, nvrtc.c and, for what is compiled already, binary.c. Called by contender/
 * through device/cuda_kernels.c, from several threads.
 */
#include "compile/compile.h"
#include "compile/binary.h"
#include "compile/kept.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTION_BYTES 96
#define FIXED_OPTIONS 5

struct options {
    char text[FIXED_OPTIONS + COMPILE_MAX_DEFINES][OPTION_BYTES];
    const char *list[FIXED_OPTIONS + COMPILE_MAX_DEFINES];
    int count;
};

static void add_option(struct options *o, const char *text)
{
    snprintf(o->text[o->count], OPTION_BYTES, "%s", text);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

static int build_options(const struct compile_request *request, struct options *o, struct error *err)
{
    char text[OPTION_BYTES];
    o->count = 0;
    snprintf(text, sizeof text, "--gpu-architecture=sm_%d%s", request->cc, request->cc >= 90 ? "a" : "");
    add_option(o, text);
    add_option(o, "--std=c++17");
    add_option(o, "--pre-include=" KERNEL_PRELUDE);
    add_option(o, "--ptxas-options=-v");
    if (request->n_defines > COMPILE_MAX_DEFINES)
        return error_set(err, EXIT_CODE_DATA, "%s: more than %d parameters", request->path, COMPILE_MAX_DEFINES);
    for (size_t i = 0; i < request->n_defines; i++) {
        int n = snprintf(text, sizeof text, "-D%s=%" PRId64, request->defines[i].name, request->defines[i].value);
        if (n < 0 || (size_t)n >= sizeof text)
            return error_set(err, EXIT_CODE_DATA, "%s: the parameter name \"%.40s...\" is too long", request->path,
                             request->defines[i].name);
        add_option(o, text);
    }
    return 0;
}

static void hash_request(const struct kernel_source *source, const struct options *o, const int version[2],
                         char key[DIGEST_HEX])
{
    struct digest d;
    digest_start(&d);
    digest_add_string(&d, KEPT_FORM);
    digest_add(&d, version, 2 * sizeof *version);
    for (int i = 0; i < o->count; i++)
        digest_add_string(&d, o->list[i]);
    kernel_source_digest(source, &d);
    digest_finish(&d, key);
}

static int compile_now(const struct kernel_source *source, const struct options *o, struct compile_result *out,
                       struct error *err)
{
    struct nvrtc_output made;
    int rc = nvrtc_compile(source, o->list, o->count, &made, err);
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

static int compile_source(const struct compile_request *request, struct compile_result *out, struct error *err)
{
    struct kernel_source source = {0};
    struct options options;
    int version[2];
    int rc = nvrtc_version(&version[0], &version[1], err);
    if (rc == 0)
        rc = build_options(request, &options, err);
    if (rc == 0 && !nvrtc_supports(request->cc))
        rc = error_set(err, EXIT_CODE_UNAVAILABLE, "NVRTC %d.%d cannot compile for sm_%d", version[0], version[1],
                       request->cc);
    if (rc == 0)
        rc = kernel_source_read(request->path, request->kernel_directory, &source, err);
    if (rc == 0) {
        hash_request(&source, &options, version, out->key);
        out->cached = kept_get(out);
        rc = out->cached ? 0 : compile_now(&source, &options, out, err);
    }
    kernel_source_free(&source);
    return rc;
}

int compile_cubin(const struct compile_request *request, struct compile_result *out, struct error *err)
{
    *out = (struct compile_result){0};
    int rc = binary_is(request->path) ? binary_load(request, out, err) : compile_source(request, out, err);
    if (rc == 0)
        kept_hash(out);
    return rc;
}

void compile_result_free(struct compile_result *result)
{
    free(result->cubin);
    free(result->log);
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
