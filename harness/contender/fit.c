/*
 * fit.c - what fit.h says. Relies on what cubin.c read, on a launch that manifest_plan.c worked out, and on the limits
 * in chips.h. Called by inspect.c and module_load.c.
 */
#include "contender/fit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAP_ALIGNMENT 64u
#define REGISTERS 65536u /* of a multiprocessor, since sm_50 */
#define WARP 32u
#define REGISTER_UNIT 8u

void fit_fail(struct fit *fit, enum verdict verdict, const char *format, ...)
{
    va_list args;
    if (fit->verdict != VERDICT_OK)
        return;
    fit->verdict = verdict;
    va_start(args, format);
    vsnprintf(fit->why, sizeof fit->why, format, args);
    va_end(args);
}

struct compile_usage fit_usage(const char *log, const char *entry, const struct cubin_entry *code)
{
    struct compile_usage usage = compile_usage_of(log, entry);
    if (usage.registers > 0)
        return usage;
    usage.registers = code->registers;
    usage.shared_bytes = (int)code->static_shared_bytes;
    usage.stack_bytes = (int)code->stack_bytes;
    return usage;
}

/* ---- arguments ---- */

static const char *kind_of(const struct manifest_argument *a)
{
    static const char *const kinds[] = {"an operand", "a size",  "the workspace", "null",
                                        "an integer", "a float", "a tensor map",  "a struct"};
    return kinds[a->kind];
}

static unsigned alignment_of(const struct manifest_argument *a)
{
    size_t most = a->kind == ARGUMENT_TENSOR_MAP ? MAP_ALIGNMENT : a->kind == ARGUMENT_STRUCT ? 1 : a->bytes;
    for (size_t i = 0; i < a->n_fields; i++)
        most = a->fields[i].bytes > most ? a->fields[i].bytes : most;
    return (unsigned)most;
}

/* Of all arguments, each where its alignment puts it. */
static unsigned bytes_of(const struct manifest *m)
{
    unsigned at = 0;
    for (size_t i = 0; i < m->n_arguments; i++) {
        unsigned size = (unsigned)m->arguments[i].bytes;
        unsigned aligned = alignment_of(&m->arguments[i]);
        at = (at + aligned - 1) / aligned * aligned + size;
    }
    return at;
}

void fit_arguments(const struct manifest *m, const struct cubin_entry *code, struct fit *fit)
{
    if (code->n_parameters == 0 && code->parameter_bytes > 0 && code->parameter_bytes != bytes_of(m))
        fit_fail(fit, VERDICT_WRONG_ARGUMENTS, "the kernel takes %u bytes of arguments, the manifest gives %u",
                 code->parameter_bytes, bytes_of(m));
    bool told = code->n_parameters > 0 || code->parameter_bytes == 0;
    if (told && code->n_parameters != m->n_arguments)
        fit_fail(fit, VERDICT_WRONG_ARGUMENTS, "the kernel takes %u arguments, the manifest gives %zu",
                 code->n_parameters, m->n_arguments);
    for (size_t i = 0; told && i < m->n_arguments && i < code->n_parameters; i++)
        if (code->sizes[i] != (unsigned)m->arguments[i].bytes)
            fit_fail(fit, VERDICT_WRONG_ARGUMENTS,
                     "argument %zu is of %u bytes in the kernel, and the manifest gives %s, which has %u", i + 1,
                     code->sizes[i], kind_of(&m->arguments[i]), (unsigned)m->arguments[i].bytes);
}

/* ---- launches ---- */

static unsigned product(const unsigned three[3])
{
    return three[0] * three[1] * three[2];
}

static void check_block(const struct manifest_plan *plan, const struct cubin_entry *code,
                        const struct compile_usage *usage, struct fit *fit)
{
    const unsigned *block = plan->block, *own = code->required_block;
    unsigned threads = product(block), warps = (threads + WARP - 1) / WARP;
    unsigned registers = ((unsigned)usage->registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
    if (own[0] > 0 && memcmp(own, block, sizeof code->required_block) != 0)
        fit_fail(fit, VERDICT_OVER_LIMIT, "a block of %ux%ux%u, and the kernel was compiled for %ux%ux%u alone",
                 block[0], block[1], block[2], own[0], own[1], own[2]);
    if (code->max_threads > 0 && threads > code->max_threads)
        fit_fail(fit, VERDICT_OVER_LIMIT,
                 "%u threads in a block, and the kernel was compiled for %u at most (__launch_bounds__)", threads,
                 code->max_threads);
    if (registers * warps * WARP > REGISTERS)
        fit_fail(fit, VERDICT_OVER_LIMIT,
                 "%u threads of %d registers, and a multiprocessor has %u (__launch_bounds__ limits them)", threads,
                 usage->registers, REGISTERS);
}

void fit_launch(const struct chip *chip, const struct manifest_plan *plan, const struct cubin_entry *code,
                const struct compile_usage *usage, struct fit *fit)
{
    const unsigned *own = code->cluster;
    unsigned shared = plan->shared_bytes + (unsigned)usage->shared_bytes;
    check_block(plan, code, usage, fit);
    if (shared > chip->shared_bytes)
        fit_fail(fit, VERDICT_OVER_LIMIT,
                 "%u bytes of shared memory (%d static, %u dynamic), and sm_%d has %u for a block", shared,
                 usage->shared_bytes, plan->shared_bytes, chip->cc, chip->shared_bytes);
    if (product(plan->cluster) > chip->cluster_blocks)
        fit_fail(fit, VERDICT_OVER_LIMIT, "%u blocks in a cluster, and sm_%d takes %u", product(plan->cluster),
                 chip->cc, chip->cluster_blocks);
    if (own[0] > 0 && memcmp(own, plan->cluster, sizeof code->cluster) != 0)
        fit_fail(fit, VERDICT_OVER_LIMIT,
                 "a cluster of %ux%ux%u, and the kernel was compiled for %ux%ux%u (__cluster_dims__)", plan->cluster[0],
                 plan->cluster[1], plan->cluster[2], own[0], own[1], own[2]);
}
