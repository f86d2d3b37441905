/*
 * module_set.c - reads a kernel set and makes its contenders, one for each layout, with the entries that fit a
 * problem. Relies on manifest.c. Called by registry.c, choice/ and tune/.
 */
#include "contender/module_set.h"
#include "compile/binary.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const set_schema[] = {"cudal2-bench/kernel-set", NULL};
static const char *const set_keys[] = {"$schema", "schema", "schema_version", "name", "description", "entries", NULL};
static const char *const entry_keys[] = {"kernel", "when", "parameters", "description", NULL};

/* ---- kernels ---- */

static int hash_sources(const struct module_set *set, const struct manifest *m, char hash[DIGEST_HEX],
                        struct error *err)
{
    struct kernel_source source;
    struct digest digest;
    digest_start(&digest);
    if (m->is_binary) {
        if (binary_digest(m->source_path, &digest, err) != 0)
            return err->code;
        digest_add_string(&digest, m->hash);
        digest_finish(&digest, hash);
        return 0;
    }
    if (kernel_source_read(m->source_path, set->kernel_directory, &source, err) != 0)
        return err->code;
    kernel_source_digest(&source, &digest);
    digest_add_string(&digest, m->hash);
    digest_finish(&digest, hash);
    kernel_source_free(&source);
    return 0;
}

static int add_kernel(struct module_set *set, const char *path, size_t *index, struct error *err)
{
    struct manifest *m;
    if (set->n_kernels == SET_MAX_KERNELS)
        return error_set(err, EXIT_CODE_DATA, "%s: more than %d kernels in a set", path, SET_MAX_KERNELS);
    if (manifest_load(path, &m, err) != 0)
        return err->code;
    *index = set->n_kernels;
    set->kernels[set->n_kernels++] = m;
    if (hash_sources(set, m, set->source_hashes[*index], err) == 0)
        return 0;
    struct error inner = *err;
    return error_set(err, inner.code, "%s: $.source: %.700s", path, inner.text);
}

/* A kernel named in a set: beside the set, one directory up (sets/ lies among the kernels), or in the kernel directory.
 */
static int find_kernel(const struct module_set *set, const char *set_path, const char *name, char path[2048],
                       struct error *err)
{
    const char *slash = strrchr(set_path, '/');
    int length = slash ? (int)(slash - set_path) + 1 : 0;
    for (size_t i = 0; i < 2; i++) {
        int n = i == 0 ? snprintf(path, 2048, "%.*s%s.json", length, set_path, name)
                       : snprintf(path, 2048, "%.*s../%s.json", length, set_path, name);
        if (n > 0 && n < 2048 && access(path, R_OK) == 0)
            return 0;
    }
    int n = snprintf(path, 2048, "%s/%s.json", set->kernel_directory, name);
    if (n > 0 && n < 2048 && access(path, R_OK) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "there is no kernel \"%.60s\" beside the set or in %s", name,
                     set->kernel_directory);
}

static int kernel_index(struct module_set *set, struct json_at at, const char *set_path, size_t *index,
                        struct error *err)
{
    const char *name;
    char path[2048];
    if (json_read_string(at, &name, err) != 0)
        return err->code;
    if (strpbrk(name, "/\\"))
        return json_fail(at, err, "\"%.60s\" is not a kernel's name", name);
    for (size_t i = 0; i < set->n_kernels; i++) {
        if (strcmp(set->kernels[i]->name, name) == 0) {
            *index = i;
            return 0;
        }
    }
    if (find_kernel(set, set_path, name, path, err) != 0) {
        struct error inner = *err;
        return json_fail(at, err, "%.500s", inner.text);
    }
    if (add_kernel(set, path, index, err) != 0)
        return err->code;
    if (strcmp(set->kernels[*index]->name, name) != 0)
        return json_fail(at, err, "%.200s calls itself \"%s\"", path, set->kernels[*index]->name);
    return 0;
}

/* ---- entries ---- */

static int read_when(struct json_at at, struct expr **out, struct error *err)
{
    const struct manifest_conditions any = {.problem = problem_any(CUDAL2_F16, CUDAL2_ACC_F16)};
    struct expr_variable names[MANIFEST_FIXED_NAMES];
    const struct expr_scope scope = {names, manifest_fixed_names(&any, names)};
    const char *text;
    *out = NULL;
    if (!at.node)
        return 0;
    if (json_read_string(at, &text, err) != 0)
        return err->code;
    if (expr_parse(text, out, err) == 0 && expr_check(*out, &scope, err) == 0)
        return 0;
    struct error inner = *err;
    return json_fail(at, err, "%.500s", inner.text);
}

static int read_entry(struct module_set *set, struct json_at at, const char *set_path, struct error *err)
{
    struct set_entry *entry = &set->entries[set->n_entries++];
    if (json_only_keys(at, entry_keys, err) != 0 ||
        kernel_index(set, json_member(at, "kernel"), set_path, &entry->kernel, err) != 0 ||
        read_when(json_member(at, "when"), &entry->when, err) != 0)
        return err->code;
    return manifest_read_values(set->kernels[entry->kernel], json_member(at, "parameters"), entry->values, err);
}

static int read_set(struct module_set *set, struct json_at root, const char *path, struct error *err)
{
    int ignored, count;
    int64_t version;
    const char *name;
    struct json_at entries = json_member(root, "entries");
    if (json_only_keys(root, set_keys, err) != 0 ||
        json_read_choice(json_member(root, "schema"), set_schema, &ignored, err) != 0 ||
        json_read_int(json_member(root, "schema_version"), 1, 1, &version, err) != 0 ||
        json_read_string(json_member(root, "name"), &name, err) != 0 || json_read_array(entries, 1, &count, err) != 0)
        return err->code;
    if (strlen(name) >= sizeof set->name || strpbrk(name, " /\\:,=\"\n"))
        return json_fail(json_member(root, "name"), err,
                         "\"%.60s\": expected at most %zu characters without spaces, / :", name, sizeof set->name - 1);
    if (count > SET_MAX_ENTRIES)
        return json_fail(entries, err, "more than %d entries", SET_MAX_ENTRIES);
    memcpy(set->name, name, strlen(name) + 1);
    set->entries = calloc((size_t)count, sizeof *set->entries);
    if (!set->entries)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a kernel set");
    for (int i = 0; i < count; i++)
        if (read_entry(set, json_element(entries, i), path, err) != 0)
            return err->code;
    return 0;
}

/* A manifest alone is a set of its default parameters. */
static int read_single(struct module_set *set, const char *path, struct error *err)
{
    size_t index;
    if (add_kernel(set, path, &index, err) != 0)
        return err->code;
    memcpy(set->name, set->kernels[0]->name, sizeof set->name);
    set->entries = calloc(1, sizeof *set->entries);
    if (!set->entries)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a kernel set");
    set->n_entries = 1;
    set->single = true;
    manifest_defaults(set->kernels[0], set->entries[0].values);
    return 0;
}

static int read_file(struct module_set *set, const char *path, struct error *err)
{
    cJSON *tree = NULL;
    char *text = NULL;
    size_t length;
    struct digest digest;
    int rc = file_read(path, MANIFEST_MAX_BYTES, &text, &length, err);
    if (rc == 0)
        rc = json_parse(text, length, MANIFEST_MAX_BYTES, path, &tree, err);
    if (rc == 0) {
        struct json_at root = json_root(tree, path);
        struct json_at schema = json_member(root, "schema");
        bool single =
            schema.node && cJSON_IsString(schema.node) && strcmp(schema.node->valuestring, "cudal2-bench/kernel") == 0;
        digest_start(&digest);
        digest_add(&digest, text, length);
        digest_finish(&digest, set->hash);
        rc = single ? read_single(set, path, err) : read_set(set, root, path, err);
    }
    cJSON_Delete(tree);
    free(text);
    return rc;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0);
}

static int find_file(const struct module_set *set, const char *name, char path[2048], struct error *err)
{
    if (is_path(name)) {
        int n = snprintf(path, 2048, "%s", name);
        return n < 2048 ? 0 : error_set(err, EXIT_CODE_DATA, "the path of a kernel set is too long");
    }
    snprintf(path, 2048, "%s/sets/%.100s.json", set->kernel_directory, name);
    if (access(path, R_OK) == 0)
        return 0;
    snprintf(path, 2048, "%s/%.100s.json", set->kernel_directory, name);
    if (access(path, R_OK) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA,
                     "no kernel set or kernel \"%.60s\": neither sets/%.60s.json nor %.60s.json in %s", name, name,
                     name, set->kernel_directory);
}

bool module_set_installed(const char *name, const char *kernel_directory)
{
    char directory[sizeof((struct module_set *)0)->kernel_directory], path[2048];
    struct error ignored;
    if (is_path(name) || kernel_directory_find(kernel_directory, directory, sizeof directory, &ignored) != 0)
        return false;
    snprintf(path, sizeof path, "%s/sets/%.100s.json", directory, name);
    return access(path, R_OK) == 0;
}

static void make_faces(struct module_set *set)
{
    for (int layout = 0; layout < 2; layout++) {
        struct set_face *face = &set->faces[layout];
        char name[sizeof set->name];
        memcpy(name, set->name, sizeof name);
        face->set = set;
        face->layout = (enum cudal2_layout)layout;
        snprintf(face->name, sizeof face->name, "%s-%s", name, layout_names[layout]);
    }
}

int module_set_open(const char *name_or_path, const char *kernel_directory, struct device *device,
                    struct module_set **out, struct error *err)
{
    struct module_set *set = calloc(1, sizeof *set);
    char path[2048];
    *out = NULL;
    if (!set)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a kernel set");
    set->device = device;
    set->crews = compile_crews_new();
    int rc = kernel_directory_find(kernel_directory, set->kernel_directory, sizeof set->kernel_directory, err);
    if (rc == 0)
        rc = find_file(set, name_or_path, path, err);
    if (rc == 0)
        rc = read_file(set, path, err);
    if (rc == 0)
        make_faces(set);
    if (rc == 0)
        *out = set;
    else
        module_set_close(set);
    return rc;
}

void module_set_close(struct module_set *set)
{
    if (!set)
        return;
    compile_crews_free(set->crews); /* they read the set */
    set_unload_all(set);
    for (size_t i = 0; i < set->n_entries; i++)
        expr_free(set->entries[i].when);
    for (size_t i = 0; i < set->n_kernels; i++)
        manifest_free(set->kernels[i]);
    free(set->entries);
    free(set);
}

const char *module_set_name(const struct module_set *set)
{
    return set->name;
}

const char *module_set_directory(const struct module_set *set)
{
    return set->kernel_directory;
}

const struct manifest *module_set_manifest(const struct module_set *set, const char *kernel)
{
    for (size_t i = 0; i < set->n_kernels; i++)
        if (strcmp(set->kernels[i]->name, kernel) == 0)
            return set->kernels[i];
    return NULL;
}

int set_find_key(const struct module_set *set, const char *key, struct module_identity *out, char *why)
{
    for (size_t i = 0; i < set->n_kernels; i++) {
        if (!manifest_parse_key(set->kernels[i], key, out->values))
            continue;
        out->kernel = i;
        return CUDAL2_OK;
    }
    snprintf(why, CUDAL2_WHY, "no kernel of the set knows the variant \"%.180s\"", key);
    return CUDAL2_BAD_VARIANT;
}

/* `launched`: with the launch's parameters as the key has them; else at their defaults. */
static bool write_key(const struct module_set *set, const char *key, bool launched, struct cudal2_variant *out)
{
    struct module_identity found;
    char why[CUDAL2_WHY];
    if (set_find_key(set, key, &found, why) != CUDAL2_OK)
        return false;
    const struct manifest *m = set->kernels[found.kernel];
    for (size_t i = 0; i < m->n_parameters; i++)
        if (m->parameters[i].launch && !launched)
            found.values[i] = m->parameters[i].fallback;
    return manifest_key(m, found.values, out->key, sizeof out->key) == 0;
}

bool module_set_key(const struct module_set *set, const char *key, struct cudal2_variant *out)
{
    return write_key(set, key, true, out);
}

bool module_set_code(const struct module_set *set, const char *key, struct cudal2_variant *out)
{
    return write_key(set, key, false, out);
}

/* The launches of one kernel on one problem, so far; the first is the one whose siblings are asked for. */
struct launches {
    const struct manifest *manifest;
    const struct manifest_conditions *on;
    struct manifest_plan plans[1 + MODULE_MAX_SIBLINGS];
    size_t n;
    struct cudal2_variant *out;
    size_t capacity; /* of out, and at most MODULE_MAX_SIBLINGS */
};

/* Whether the values can be launched, and none before was launched so. */
static bool is_new_launch(struct launches *l, const int64_t *values)
{
    struct manifest_plan *own = &l->plans[l->n];
    char why[CUDAL2_WHY];
    bool is_new = manifest_plan(l->manifest, l->on, values, own, why) == CUDAL2_OK;
    for (size_t i = 0; is_new && i < l->n; i++)
        is_new = !manifest_same_launch(l->manifest, &l->plans[i], own);
    return is_new;
}

static void add_sibling(struct launches *l, const int64_t *values)
{
    char *key = l->n <= l->capacity ? l->out[l->n - 1].key : NULL;
    if (key && is_new_launch(l, values) && manifest_key(l->manifest, values, key, sizeof l->out->key) == 0)
        l->n++;
}

/* The other values of parameter `p`; `together`: each of them with each other value of the parameter behind it. */
static void add_siblings(struct launches *l, const int64_t *values, size_t p, bool together)
{
    const struct manifest_parameter *own = &l->manifest->parameters[p], *next = own + 1;
    int64_t other[MANIFEST_MAX_PARAMETERS];
    memcpy(other, values, sizeof other);
    for (size_t v = 0; v < own->n_values; v++) {
        other[p] = own->values[v];
        if (!together)
            add_sibling(l, other);
        for (size_t w = 0; together && w < next->n_values; w++) {
            other[p + 1] = next->values[w];
            add_sibling(l, other);
        }
    }
}

size_t module_set_siblings(const struct module_set *set, const char *key, const struct manifest_conditions *on,
                           struct cudal2_variant *out, size_t capacity)
{
    struct module_identity found;
    char why[CUDAL2_WHY];
    struct launches *l = set_find_key(set, key, &found, why) == CUDAL2_OK ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return 0;
    const struct manifest *m = set->kernels[found.kernel];
    *l = (struct launches){.manifest = m,
                           .on = on,
                           .out = out,
                           .capacity = capacity < MODULE_MAX_SIBLINGS ? capacity : MODULE_MAX_SIBLINGS};
    l->n = is_new_launch(l, found.values) ? 1 : 0;
    for (size_t p = 0; l->n > 0 && p < m->n_parameters; p++)
        if (m->parameters[p].launch)
            add_siblings(l, found.values, p, false);
    for (size_t p = 0; l->n > 0 && p + 1 < m->n_parameters; p++)
        if (m->parameters[p].launch && m->parameters[p + 1].launch)
            add_siblings(l, found.values, p, true);
    size_t n = l->n > 0 ? l->n - 1 : 0;
    free(l);
    return n;
}

/* ---- contenders ---- */

static bool runs_on(const struct manifest *m, const struct device_info *info)
{
    return (!m->arch_min || info->cc >= m->arch_min) && (!m->arch_max || info->cc <= m->arch_max);
}

/* The union of what the kernels declare; limits of the GPU only where every kernel has one. */
static void declare(const struct module_set *set, enum cudal2_layout layout, struct contender *out)
{
    bool first = true, usable = false, known = false;
    struct cudal2_contender *is = &out->is;
    for (size_t i = 0; i < set->n_kernels; i++) {
        const struct manifest *m = set->kernels[i];
        if (!(m->layouts & CUDAL2_BIT(layout)))
            continue;
        is->dtypes |= m->dtypes;
        is->accumulates |= m->accumulates;
        is->flags |= m->flags; /* who cannot is told by manifest_plan */
        is->min_cc = first || m->arch_min < is->min_cc ? m->arch_min : is->min_cc;
        if (first || m->arch_max == 0)
            is->max_cc = m->arch_max;
        else if (is->max_cc != 0 && m->arch_max > is->max_cc)
            is->max_cc = m->arch_max;
        first = false;
        known = true;
        usable = usable || runs_on(m, &set->device->info);
    }
    if (!(set->device->info.device_bit & CUDAL2_ON_CUDA))
        snprintf(out->reason, sizeof out->reason, MODULE_NEEDS_CUDA);
    else if (!known)
        snprintf(out->reason, sizeof out->reason, "no kernel of the set knows layout %s", layout_names[layout]);
    else if (!usable)
        snprintf(out->reason, sizeof out->reason, "no kernel of the set is for sm_%d", set->device->info.cc);
    out->available = out->reason[0] == 0;
}

const struct module_set *module_set_of(const struct contender *c)
{
    return c->ops == &module_ops ? ((const struct set_face *)c->origin)->set : NULL;
}

void module_set_contender(const struct module_set *set, enum cudal2_layout layout, struct contender *out)
{
    const struct set_face *face = &set->faces[layout];
    *out = (struct contender){.role = ROLE_CANDIDATE, .has_layout_suffix = true, .ops = &module_ops, .origin = face};
    snprintf(out->name, sizeof out->name, "%s", face->name);
    snprintf(out->family, sizeof out->family, "%s", set->name);
    out->is = (struct cudal2_contender){.name = face->name, .devices = CUDAL2_ON_CUDA, .layout = layout};
    declare(set, layout, out);
}

int module_set_versions(const struct module_set *set, char *out, size_t capacity)
{
    struct error ignored;
    int major, minor;
    int used = snprintf(out, capacity, "{\"set\":\"%s\",\"kernels\":{", set->hash);
    for (size_t i = 0; i < set->n_kernels && used > 0 && (size_t)used < capacity; i++)
        used += snprintf(out + used, capacity - (size_t)used, "%s\"%s\":\"%s\"", i ? "," : "", set->kernels[i]->name,
                         set->source_hashes[i]);
    if (used > 0 && (size_t)used < capacity) {
        bool known = nvrtc_version(&major, &minor, &ignored) == 0;
        used += known ? snprintf(out + used, capacity - (size_t)used, "},\"nvrtc\":\"%d.%d\"}", major, minor)
                      : snprintf(out + used, capacity - (size_t)used, "},\"nvrtc\":null}");
    }
    return used > 0 && (size_t)used < capacity ? 0 : -1;
}
