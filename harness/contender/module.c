/*
 * module.c - the hooks of a kernel set's contenders: which entries fit, arguments and tensor maps, launch. Relies on
 * module_load.c and device.h. Called through struct contender.
 */
#include "base/half.h"
#include "contender/module_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of up to 8 bytes, read from its start in as many as the kernel takes. */
union argument_value {
    const void *address;
    int64_t integer;
    uint16_t half;
    float single;
    double wide;
};

/* The arguments of one launch on one operand set; `pointers` is what the driver wants, into the rest. A struct has the
 * room of a map. */
struct operand_arguments {
    struct cuda_tensor_map maps[MANIFEST_MAX_ARGUMENTS];
    union argument_value values[MANIFEST_MAX_ARGUMENTS];
    void *pointers[MANIFEST_MAX_ARGUMENTS];
};
_Static_assert(sizeof(struct cuda_tensor_map) >= MANIFEST_STRUCT_BYTES, "a struct has the room of a map");

struct module_state {
    struct device *device;
    const struct manifest *kernel;
    const struct loaded_module *loaded;
    int64_t values[MANIFEST_MAX_PARAMETERS];
    struct manifest_plan plan;
    struct cuda_launch launch; /* all but the arguments */
    bool wide_sums;            /* accumulates in fp32 */
    void *workspace;
    size_t n_sets;
    struct operand_arguments *sets; /* 64-byte aligned for the maps */
};

/* What the set is asked to do by this setup. */
static struct manifest_conditions conditions_of(const struct set_face *face, const struct cudal2_setup *setup)
{
    return manifest_conditions_on(&face->set->device->info, &setup->problem, face->layout);
}

/* ---- choosing ---- */

/* Whether the entry is for this problem and its kernel can do it; a reason in `why` when not. */
static int entry_fits(const struct module_set *set, const struct set_entry *entry,
                      const struct manifest_conditions *conditions, struct manifest_plan *plan, char *why)
{
    const struct manifest *m = set->kernels[entry->kernel];
    struct expr_variable names[MANIFEST_FIXED_NAMES];
    const struct expr_scope scope = {names, manifest_fixed_names(conditions, names)};
    struct error err;
    int64_t wanted = 1;
    if (entry->when && expr_eval(entry->when, &scope, &wanted, &err) != 0) {
        snprintf(why, CUDAL2_WHY, "%s: when: %.200s", m->name, err.text);
        return CUDAL2_LIBRARY_ERROR;
    }
    if (!wanted) {
        snprintf(why, CUDAL2_WHY, "%s: not when %.180s", m->name, expr_text(entry->when));
        return CUDAL2_UNSUPPORTED;
    }
    return manifest_plan(m, conditions, entry->values, plan, why);
}

static int check_workspace(const struct manifest *m, const struct manifest_plan *plan, const struct cudal2_setup *setup,
                           char *why)
{
    if (plan->workspace_bytes <= setup->workspace_bytes)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: needs a workspace of %" PRIu64 " bytes, the run gives %zu", m->name,
             plan->workspace_bytes, setup->workspace_bytes);
    return CUDAL2_UNSUPPORTED;
}

/* An entry that fits and whose workspace is there. */
static int entry_usable(const struct module_set *set, const struct set_entry *entry,
                        const struct manifest_conditions *conditions, const struct cudal2_setup *setup,
                        struct manifest_plan *plan, char *why)
{
    int status = entry_fits(set, entry, conditions, plan, why);
    return status == CUDAL2_OK ? check_workspace(set->kernels[entry->kernel], plan, setup, why) : status;
}

static bool listed(const struct cudal2_variant *variants, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(variants[i].key, key) == 0)
            return true;
    return false;
}

/* A manifest whose arithmetic fails is an error, not a variant that does not fit. */
static int module_list_variants(const struct contender *c, const struct cudal2_setup *setup, struct cudal2_variant *out,
                                size_t capacity, char *why)
{
    const struct set_face *face = c->origin;
    const struct module_set *set = face->set;
    struct manifest_conditions conditions = conditions_of(face, setup);
    struct manifest_plan plan;
    size_t n = 0;
    for (size_t i = 0; i < set->n_entries && n < capacity; i++) {
        const struct set_entry *entry = &set->entries[i];
        int status = entry_usable(set, entry, &conditions, setup, &plan, why);
        if (status == CUDAL2_UNSUPPORTED)
            continue;
        if (status != CUDAL2_OK)
            return -status;
        if (manifest_key(set->kernels[entry->kernel], entry->values, out[n].key, sizeof out[n].key) != 0) {
            snprintf(why, CUDAL2_WHY, "%s: the variant's key is too long", set->kernels[entry->kernel]->name);
            return -CUDAL2_LIBRARY_ERROR;
        }
        n += !listed(out, n, out[n].key);
    }
    if (n > 0)
        return (int)n;
    if (set->n_entries > 1) {
        char last[CUDAL2_WHY];
        memcpy(last, why, sizeof last);
        snprintf(why, CUDAL2_WHY, "no entry of the set fits; the last: %.200s", last);
    }
    return -CUDAL2_UNSUPPORTED;
}

static int choose_first(const struct module_set *set, const struct manifest_conditions *conditions,
                        const struct cudal2_setup *setup, struct module_identity *identity, struct manifest_plan *plan,
                        char *why)
{
    int status = CUDAL2_UNSUPPORTED;
    for (size_t i = 0; i < set->n_entries && status == CUDAL2_UNSUPPORTED; i++) {
        status = entry_usable(set, &set->entries[i], conditions, setup, plan, why);
        identity->kernel = set->entries[i].kernel;
        memcpy(identity->values, set->entries[i].values, sizeof identity->values);
    }
    return status;
}

static int choose_key(const struct module_set *set, const struct manifest_conditions *conditions,
                      const struct cudal2_setup *setup, struct module_identity *identity, struct manifest_plan *plan,
                      char *why)
{
    int status = set_find_key(set, setup->variant, identity, why);
    if (status == CUDAL2_OK)
        status = manifest_plan(set->kernels[identity->kernel], conditions, identity->values, plan, why);
    return status == CUDAL2_OK ? check_workspace(set->kernels[identity->kernel], plan, setup, why) : status;
}

/* ---- arguments ---- */

static int encode_map(const struct module_state *s, const struct cudal2_setup *setup, size_t argument,
                      const void *memory, struct cuda_tensor_map *out, char *why)
{
    const struct manifest_conditions conditions =
        manifest_conditions_on(&s->device->info, &setup->problem, setup->layout);
    struct cuda_tensor_request request;
    struct error err;
    int status = manifest_map_request(s->kernel, argument, &conditions, &s->plan, &request, why);
    if (status != CUDAL2_OK)
        return status;
    request.memory = memory;
    if (cuda_tensor_map_encode(s->device, &request, out, &err) == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: arguments[%zu]: %.150s", s->kernel->name, argument, err.text);
    return CUDAL2_LIBRARY_ERROR;
}

static int evaluate(const struct module_state *s, const struct expr *e, int64_t *out, char *why)
{
    const struct expr_scope scope = {s->plan.names, s->plan.n_names};
    struct error err;
    if (expr_eval(e, &scope, out, &err) == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: %.200s", s->kernel->name, err.text);
    return CUDAL2_LIBRARY_ERROR;
}

static int integer_of(const struct module_state *s, const struct manifest_argument *a, int64_t *out, char *why)
{
    int64_t high = a->bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * a->bytes - 1)) - 1;
    int status = evaluate(s, a->value, out, why);
    if (status != CUDAL2_OK || (*out <= high && *out >= -high - 1))
        return status;
    snprintf(why, CUDAL2_WHY, "%s: the argument \"%.80s\" is %lld, which is no int%zu", s->kernel->name,
             expr_text(a->value), (long long)*out, 8 * a->bytes);
    return CUDAL2_LIBRARY_ERROR;
}

static void put_float(const struct manifest_argument *a, const struct cudal2_problem *p, union argument_value *out)
{
    double number = a->which == SCALE_ALPHA ? problem_alpha(p) : a->which == SCALE_BETA ? p->beta : a->number;
    if (a->bytes == 8)
        out->wide = number;
    else if (a->bytes == 4)
        out->single = (float)number;
    else
        out->half = half_from_float((float)number);
}

static int workspace_of(const struct module_state *s, const struct manifest_argument *a, void *workspace,
                        const void **out, char *why)
{
    int64_t offset = 0;
    int status = a->value ? evaluate(s, a->value, &offset, why) : CUDAL2_OK;
    if (status == CUDAL2_OK && (offset < 0 || (uint64_t)offset > s->plan.workspace_bytes)) {
        snprintf(why, CUDAL2_WHY, "%s: \"%.80s\" is %lld, outside of the workspace of %" PRIu64 " bytes",
                 s->kernel->name, expr_text(a->value), (long long)offset, s->plan.workspace_bytes);
        status = CUDAL2_LIBRARY_ERROR;
    }
    *out = (char *)workspace + (status == CUDAL2_OK ? offset : 0);
    return status;
}

/* Whatever is neither a map nor a struct. */
static int value_of(const struct module_state *s, const struct cudal2_setup *setup, const struct cudal2_operands *o,
                    const struct manifest_argument *a, union argument_value *out, char *why)
{
    const void *operands[3] = {o->a, o->b, o->c};
    const int64_t sizes[3] = {setup->problem.m, setup->problem.n, setup->problem.k};
    *out = (union argument_value){0};
    switch (a->kind) {
    case ARGUMENT_OPERAND:
        out->address = operands[a->which];
        return CUDAL2_OK;
    case ARGUMENT_WORKSPACE:
        return workspace_of(s, a, setup->workspace, &out->address, why);
    case ARGUMENT_SIZE:
        out->integer = sizes[a->which];
        return CUDAL2_OK;
    case ARGUMENT_INTEGER:
        return integer_of(s, a, &out->integer, why);
    case ARGUMENT_FLOAT:
        put_float(a, &setup->problem, out);
        return CUDAL2_OK;
    default: /* ARGUMENT_NULL */
        return CUDAL2_OK;
    }
}

static int pack_struct(const struct module_state *s, const struct cudal2_setup *setup, const struct cudal2_operands *o,
                       const struct manifest_argument *a, void *to, char *why)
{
    size_t at = 0;
    memset(to, 0, a->bytes);
    for (size_t i = 0; i < a->n_fields; i++) {
        union argument_value value;
        int status = value_of(s, setup, o, &a->fields[i], &value, why);
        if (status != CUDAL2_OK)
            return status;
        at = manifest_field_offset(at, &a->fields[i]);
        memcpy((char *)to + at, &value, a->fields[i].bytes);
        at += a->fields[i].bytes;
    }
    return CUDAL2_OK;
}

static int build_argument(const struct module_state *s, const struct cudal2_setup *setup, size_t set, size_t i,
                          char *why)
{
    const struct manifest_argument *a = &s->kernel->arguments[i];
    const struct cudal2_operands *o = &setup->sets[set];
    const void *operands[3] = {o->a, o->b, o->c};
    struct operand_arguments *to = &s->sets[set];
    bool wide = a->kind == ARGUMENT_TENSOR_MAP || a->kind == ARGUMENT_STRUCT;
    to->pointers[i] = wide ? (void *)&to->maps[i] : (void *)&to->values[i];
    if (a->kind == ARGUMENT_TENSOR_MAP)
        return encode_map(s, setup, i, operands[a->which], &to->maps[i], why);
    return wide ? pack_struct(s, setup, o, a, &to->maps[i], why) : value_of(s, setup, o, a, &to->values[i], why);
}

static int build_arguments(struct module_state *s, const struct cudal2_setup *setup, char *why)
{
    s->sets = aligned_alloc(64, setup->n_sets * sizeof *s->sets);
    if (!s->sets) {
        snprintf(why, CUDAL2_WHY, "no memory for %zu operand sets", setup->n_sets);
        return CUDAL2_NO_MEMORY;
    }
    s->n_sets = setup->n_sets;
    for (size_t set = 0; set < setup->n_sets; set++) {
        for (size_t i = 0; i < s->kernel->n_arguments; i++) {
            int status = build_argument(s, setup, set, i, why);
            if (status != CUDAL2_OK)
                return status;
        }
    }
    return CUDAL2_OK;
}

/* ---- hooks ---- */

static void module_teardown(const struct contender *c, void *state)
{
    struct module_state *s = state;
    (void)c;
    if (!s)
        return;
    free(s->sets);
    free(s);
}

static int prepare(const struct set_face *face, const struct cudal2_setup *setup, struct module_state *s, char *why)
{
    struct module_set *set = face->set;
    struct manifest_conditions conditions = conditions_of(face, setup);
    struct module_identity identity = {
        .dtype = (int)setup->problem.dtype, .accumulate = (int)setup->problem.accumulate, .layout = (int)face->layout};
    struct loaded_module *loaded;
    int status = setup->variant ? choose_key(set, &conditions, setup, &identity, &s->plan, why)
                                : choose_first(set, &conditions, setup, &identity, &s->plan, why);
    if (status == CUDAL2_OK)
        status = set_load(set, &identity, &s->plan, &loaded, why);
    if (status != CUDAL2_OK)
        return status;
    s->device = set->device;
    s->kernel = set->kernels[identity.kernel];
    s->loaded = loaded;
    s->workspace = setup->workspace;
    s->wide_sums = setup->problem.accumulate == CUDAL2_ACC_F32 || setup->problem.dtype != CUDAL2_F16;
    memcpy(s->values, identity.values, sizeof s->values);
    s->launch = (struct cuda_launch){
        .function = loaded->function.handle, .shared_bytes = s->plan.shared_bytes, .early = s->plan.early};
    memcpy(s->launch.grid, s->plan.grid, sizeof s->launch.grid);
    memcpy(s->launch.block, s->plan.block, sizeof s->launch.block);
    memcpy(s->launch.cluster, s->plan.cluster, sizeof s->launch.cluster);
    return build_arguments(s, setup, why);
}

static int module_setup(const struct contender *c, const struct cudal2_setup *setup, void **state, char *why)
{
    struct module_state *s = calloc(1, sizeof *s);
    *state = NULL;
    if (!s) {
        snprintf(why, CUDAL2_WHY, "no memory for a kernel's state");
        return CUDAL2_NO_MEMORY;
    }
    int status = prepare(c->origin, setup, s, why);
    if (status == CUDAL2_OK)
        *state = s;
    else
        module_teardown(c, s);
    return status;
}

static int module_launch(const struct contender *c, void *state, size_t set, char *why)
{
    const struct module_state *s = state;
    struct cuda_launch launch = s->launch;
    (void)c;
    if (s->plan.memset_bytes > 0) {
        int status = cuda_clear(s->device, s->workspace, s->plan.memset_bytes, why);
        if (status != CUDAL2_OK)
            return status;
    }
    launch.arguments = s->sets[set].pointers;
    return cuda_launch(s->device, &launch, why);
}

/* What cannot be told from elsewhere: grid, shared memory and cubin follow from parameters, problem and the kernel's
 * hash, which the environment names. "parameters" is the variant key's own text ("BM=64,BN=32"). */
static int module_describe(const struct contender *c, void *state, char *out, size_t capacity)
{
    const struct module_state *s = state;
    struct cudal2_variant variant;
    char spill[48] = "", local[48] = "", instructions[160] = "";
    (void)c;
    if (manifest_key(s->kernel, s->values, variant.key, sizeof variant.key) != 0)
        return CUDAL2_LIBRARY_ERROR;
    if (s->loaded->spill_bytes > 0)
        snprintf(spill, sizeof spill, ",\"spill_bytes\":%d", s->loaded->spill_bytes);
    if (s->loaded->function.local_bytes > 0)
        snprintf(local, sizeof local, ",\"local_bytes\":%d", s->loaded->function.local_bytes);
    if (s->loaded->instructions[0])
        snprintf(instructions, sizeof instructions, ",\"instructions\":\"%s\"", s->loaded->instructions);
    const char *colon = strchr(variant.key, ':');
    int used = snprintf(out, capacity,
                        "{\"kernel\":\"%s\",\"parameters\":\"%s\",\"accumulates\":\"%s\",\"registers\":%d%s%s%s,"
                        "\"cubin\":\"%s\"}",
                        s->kernel->name, colon ? colon + 1 : "", s->wide_sums ? "f32" : "f16",
                        s->loaded->function.registers, spill, local, instructions, s->loaded->cubin_from);
    return used > 0 && (size_t)used < capacity ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

const struct contender_ops module_ops = {
    .list_variants = module_list_variants,
    .setup = module_setup,
    .launch = module_launch,
    .teardown = module_teardown,
    .describe = module_describe,
    .device_only = true,
};
