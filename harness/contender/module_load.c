/*
 * module_load.c - from a kernel with its parameters to a function on the device, once per process; what does not fit
 * its manifest is refused before the device sees it. Relies on compile/, fit.h and the device's modules. Called by
 * module.c in setup.
 */
#include "compile/sass.h"
#include "contender/fit.h"
#include "contender/module_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PARAMETER MANIFEST_FIXED_NAMES

bool set_same_identity(const struct module_set *set, const struct module_identity *a, const struct module_identity *b)
{
    if (a->kernel != b->kernel || a->dtype != b->dtype || a->accumulate != b->accumulate || a->layout != b->layout)
        return false;
    const struct manifest *m = set->kernels[a->kernel];
    for (size_t i = 0; i < m->n_parameters; i++)
        if (!m->parameters[i].launch && a->values[i] != b->values[i])
            return false;
    return true;
}

static struct loaded_module *find_loaded(const struct module_set *set, const struct module_identity *identity)
{
    for (struct loaded_module *l = set->loaded; l; l = l->next)
        if (set_same_identity(set, &l->identity, identity))
            return l;
    return NULL;
}

/* M, N, K, the GPU's figures and the terms of a plan are run-time values: they never become part of the code, so that
 * one module serves all problems, and what is compiled ahead of them is found.
 */
static size_t collect_defines(const struct manifest *m, const struct expr_scope *names, struct compile_define *out)
{
    const size_t terms = FIRST_PARAMETER + m->n_parameters + m->n_defines;
    size_t n = 0;
    static const char *const compiled[] = {"DTYPE", "ACC_F32", "LAYOUT_TN"};
    for (size_t i = 0; i < names->count && i < terms; i++) {
        bool is_parameter = i >= FIRST_PARAMETER && i - FIRST_PARAMETER < m->n_parameters;
        bool wanted = i >= FIRST_PARAMETER && !(is_parameter && m->parameters[i - FIRST_PARAMETER].launch);
        for (size_t j = 0; j < 3 && !wanted; j++)
            wanted = strcmp(names->variables[i].name, compiled[j]) == 0;
        if (wanted)
            out[n++] = (struct compile_define){names->variables[i].name, names->variables[i].value};
    }
    return n;
}

struct compile_request set_compile_request(const struct module_set *set, const struct module_identity *identity,
                                           const struct expr_scope *names, struct compile_define *defines)
{
    const struct manifest *m = set->kernels[identity->kernel];
    return (struct compile_request){.path = m->source_path,
                                    .kernel_directory = set->kernel_directory,
                                    .cc = set->device->info.cc,
                                    .defines = defines,
                                    .n_defines = collect_defines(m, names, defines)};
}

int set_compile(const struct module_set *set, const struct module_identity *identity, const struct expr_scope *names,
                struct compile_result *out, char *why)
{
    struct compile_define defines[MANIFEST_MAX_NAMES];
    const struct manifest *m = set->kernels[identity->kernel];
    struct error err;
    const struct compile_request request = set_compile_request(set, identity, names, defines);
    int rc = compile_cubin(&request, out, &err);
    if (rc == 0)
        return CUDAL2_OK;
    enum verdict of_code = m->is_binary ? VERDICT_LOAD_ERROR : VERDICT_COMPILE_ERROR;
    const char *fault = rc == EXIT_CODE_INCOMPARABLE ? verdict_name(VERDICT_WRONG_ARCH)
                        : rc == EXIT_CODE_DATA       ? verdict_name(of_code)
                                                     : "compiler unavailable";
    snprintf(why, CUDAL2_WHY, "%s: %.220s", fault, err.text);
    return rc == EXIT_CODE_INCOMPARABLE ? CUDAL2_UNSUPPORTED : CUDAL2_LIBRARY_ERROR;
}

/* What the driver would find later, or not at all: a kernel that takes more than it is given reads what lies behind. */
static int check(const struct module_set *set, const struct loaded_module *l, const struct compile_result *compiled,
                 const struct manifest_plan *plan, char *why)
{
    const struct manifest *m = set->kernels[l->identity.kernel];
    const struct chip *chip;
    struct cubin_entry code;
    struct fit fit = {0};
    struct error err;
    char arch[16];
    if (cubin_read(compiled->cubin, compiled->length, m->entry, &code, &err) != 0)
        fit_fail(&fit, VERDICT_LOAD_ERROR, "%.230s", err.text);
    else
        fit_arguments(m, &code, &fit);
    const struct compile_usage usage = fit_usage(compiled->log, m->entry, &code);
    snprintf(arch, sizeof arch, "sm_%d", set->device->info.cc);
    if (fit.verdict == VERDICT_OK && chip_find(arch, &chip, &err) == 0)
        fit_launch(chip, plan, &code, &usage, &fit);
    if (fit.verdict == VERDICT_OK)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s%s: %.220s",
             fit.verdict == VERDICT_LOAD_ERROR ? "" : "load_error: ", verdict_name(fit.verdict), fit.why);
    return CUDAL2_LIBRARY_ERROR;
}

static void note_instructions(const struct manifest *m, const struct compile_result *compiled, struct loaded_module *l)
{
    struct cubin_entry code;
    struct cubin_arch arch;
    struct error ignored;
    compile_instructions_of(compiled->log, l->instructions, sizeof l->instructions);
    if (l->instructions[0] == '\0' && cubin_read(compiled->cubin, compiled->length, m->entry, &code, &ignored) == 0 &&
        cubin_arch_of(compiled->cubin, compiled->length, &arch, &ignored) == 0)
        sass_instructions(code.code, code.code_bytes, arch.cc, l->instructions, sizeof l->instructions);
}

static const char *origin_of(const struct compile_result *compiled)
{
    if (compiled->damaged)
        return compiled->cached ? "cached, the one ahead is damaged" : "compiled, the one ahead is damaged";
    return !compiled->asked ? "given" : compiled->ahead ? "ahead" : compiled->cached ? "cached" : "compiled";
}

static int load(struct module_set *set, struct loaded_module *l, const struct compile_result *compiled,
                unsigned shared_bytes, char *why)
{
    struct error err;
    const char *entry = set->kernels[l->identity.kernel]->entry;
    struct compile_usage usage = compile_usage_of(compiled->log, entry);
    int rc = cuda_module_load(set->device, compiled->cubin, &l->module, &err);
    if (rc == 0)
        rc = cuda_module_function(l->module, entry, shared_bytes, &l->function, &err);
    if (rc != 0) {
        snprintf(why, CUDAL2_WHY, "load_error: %.230s", err.text);
        return CUDAL2_LIBRARY_ERROR;
    }
    note_instructions(set->kernels[l->identity.kernel], compiled, l);
    l->shared_bytes = shared_bytes;
    l->spill_bytes = usage.spill_store_bytes + usage.spill_load_bytes;
    memcpy(l->cubin_hash, compiled->hash, sizeof l->cubin_hash);
    l->cubin_from = origin_of(compiled);
    return CUDAL2_OK;
}

static int make(struct module_set *set, const struct module_identity *identity, const struct manifest_plan *plan,
                struct loaded_module **out, char *why)
{
    struct compile_result compiled;
    struct loaded_module *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(why, CUDAL2_WHY, "no memory for a module");
        return CUDAL2_NO_MEMORY;
    }
    l->identity = *identity;
    const struct expr_scope names = {plan->names, plan->n_names};
    int status = set_compile(set, identity, &names, &compiled, why);
    if (status == CUDAL2_OK)
        status = check(set, l, &compiled, plan, why);
    if (status == CUDAL2_OK)
        status = load(set, l, &compiled, plan->shared_bytes, why);
    compile_result_free(&compiled);
    if (status != CUDAL2_OK) {
        cuda_module_unload(l->module);
        free(l);
        return status;
    }
    l->next = set->loaded;
    set->loaded = l;
    *out = l;
    return CUDAL2_OK;
}

/* The limit on dynamic shared memory belongs to the function, which several problems share: it only grows. */
static int allow_shared(struct loaded_module *l, const char *entry, unsigned bytes, char *why)
{
    struct error err;
    if (bytes <= l->shared_bytes)
        return CUDAL2_OK;
    if (cuda_module_function(l->module, entry, bytes, &l->function, &err) != 0) {
        snprintf(why, CUDAL2_WHY, "load_error: %.230s", err.text);
        return CUDAL2_LIBRARY_ERROR;
    }
    l->shared_bytes = bytes;
    return CUDAL2_OK;
}

int set_load(struct module_set *set, const struct module_identity *identity, const struct manifest_plan *plan,
             struct loaded_module **out, char *why)
{
    *out = find_loaded(set, identity);
    if (!*out)
        return make(set, identity, plan, out, why);
    return allow_shared(*out, set->kernels[identity->kernel]->entry, plan->shared_bytes, why);
}

void set_unload_all(struct module_set *set)
{
    while (set->loaded) {
        struct loaded_module *l = set->loaded;
        set->loaded = l->next;
        cuda_module_unload(l->module);
        free(l);
    }
}
