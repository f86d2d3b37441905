/*
 * module_load.c - from a kernel with its parameters to a function on the device, once per process. Relies on compile/
 * and the device's modules. Called by module.c in setup.
 */
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

/* M, N, K and the GPU's figures are run-time values: they never become part of the code, so that one module serves all.
 */
static size_t collect_defines(const struct manifest *m, const struct expr_scope *names, struct compile_define *out)
{
    size_t n = 0;
    static const char *const compiled[] = {"DTYPE", "ACC_F32", "LAYOUT_TN"};
    for (size_t i = 0; i < names->count; i++) {
        bool is_parameter = i >= FIRST_PARAMETER && i - FIRST_PARAMETER < m->n_parameters;
        bool wanted = i >= FIRST_PARAMETER && !(is_parameter && m->parameters[i - FIRST_PARAMETER].launch);
        for (size_t j = 0; j < 3 && !wanted; j++)
            wanted = strcmp(names->variables[i].name, compiled[j]) == 0;
        if (wanted)
            out[n++] = (struct compile_define){names->variables[i].name, names->variables[i].value};
    }
    return n;
}

int set_compile(const struct module_set *set, const struct module_identity *identity, const struct expr_scope *names,
                struct compile_result *out, char *why)
{
    struct compile_define defines[MANIFEST_MAX_NAMES];
    const struct manifest *m = set->kernels[identity->kernel];
    struct error err;
    struct compile_request request = {.path = m->source_path,
                                      .kernel_directory = set->kernel_directory,
                                      .cc = set->device->info.cc,
                                      .defines = defines,
                                      .n_defines = collect_defines(m, names, defines)};
    int rc = compile_cubin(&request, out, &err);
    if (rc == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: %.220s", rc == EXIT_CODE_DATA ? "compile_error" : "compiler unavailable", err.text);
    return CUDAL2_LIBRARY_ERROR;
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
    compile_instructions_of(compiled->log, l->instructions, sizeof l->instructions);
    l->shared_bytes = shared_bytes;
    l->spill_bytes = usage.spill_store_bytes + usage.spill_load_bytes;
    memcpy(l->cubin_hash, compiled->hash, sizeof l->cubin_hash);
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
