/*
 * space.c - reads a space file and makes its configurations, those that break a rule counted and left out. Relies on
 * contender/manifest.h. Called by rank.c and tune/family.c.
 */
#include "choice/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

static const char *const top_keys[] = {"$schema", "schema", "schema_version", "name", "description", "kernels", NULL};
static const char *const kernel_keys[] = {"kernel", "description", "model", "largest", "common", "grids", NULL};

/* Twice the most configurations, so that a free place is never far. */
#define SEEN_PLACES (2 * SPACE_MAX_CONFIGURATIONS)

/* One kernel of the file while it is expanded. */
struct expansion {
    struct space *space;
    const struct manifest *manifest;
    int largest_of_kernel; /* parameter, or -1 */
    int largest;           /* the same in the grid at hand, which may want none */
    size_t kernel, capacity;
    uint32_t seen[SEEN_PLACES]; /* 1 + index of a configuration, by the hash of its values; 0: free */
    int64_t grid[MANIFEST_MAX_PARAMETERS][MANIFEST_MAX_VALUES];
    size_t counts[MANIFEST_MAX_PARAMETERS];
    struct configuration now;
};

/* ---- one combination ---- */

/* *figure: which was worked out last. */
static int compute_tile(const struct space *s, struct configuration *c, size_t *figure, struct error *err)
{
    int64_t values[FIGURES_COUNT];
    struct expr_variable names[MANIFEST_MAX_NAMES];
    struct expr_scope scope = {names, 0};
    *figure = 0;
    if (manifest_names(s->kernels[c->kernel], &s->conditions, c->values, names, &scope.count, err))
        return err->code;
    for (size_t i = 0; i < FIGURES_COUNT; i++) {
        const struct expr *given = s->figures[c->kernel][i];
        values[i] = figure_standard(i);
        *figure = i;
        if (given && expr_eval(given, &scope, &values[i], err))
            return err->code;
    }
    figures_to_tile(values, &c->tile);
    return 0;
}

static void count_refusal(struct space *s, const char *why)
{
    for (size_t i = 0; i < s->n_refusals; i++) {
        if (strcmp(s->refusals[i].why, why) == 0) {
            s->refusals[i].count++;
            return;
        }
    }
    if (s->n_refusals == SPACE_MAX_REFUSALS)
        return;
    struct space_refusal *r = &s->refusals[s->n_refusals++];
    memcpy(r->why, why, sizeof r->why);
    r->count = 1;
}

/* The place of this combination among those seen, its own or a free one. */
static uint32_t *place_of(struct expansion *x)
{
    const struct space *s = x->space;
    size_t n = x->manifest->n_parameters, bytes = n * sizeof *x->now.values;
    uint64_t hash = x->kernel;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint64_t)x->now.values[i]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
    for (size_t at = hash >> 32;; at++) {
        uint32_t *place = &x->seen[at % SEEN_PLACES];
        const struct configuration *c = *place ? &s->configurations[*place - 1] : NULL;
        if (!c || (c->kernel == x->kernel && memcmp(c->values, x->now.values, bytes) == 0))
            return place;
    }
}

/* *legal: whether the combination keeps the manifest's rules; those that do join the space. */
static int take(struct expansion *x, struct json_at at, bool *legal, struct error *err)
{
    struct space *s = x->space;
    char why[CUDAL2_WHY] = "";
    struct error inner;
    size_t figure;
    int status = manifest_check(x->manifest, &s->conditions, x->now.values, why);
    *legal = status == CUDAL2_OK;
    if (status == CUDAL2_UNSUPPORTED)
        count_refusal(s, why);
    else if (status != CUDAL2_OK)
        return json_fail(at, err, "%.500s", why);
    if (!*legal)
        return 0;
    uint32_t *place = place_of(x);
    if (*place)
        return 0;
    if (s->n_configurations == SPACE_MAX_CONFIGURATIONS)
        return json_fail(at, err, "more than %d configurations", SPACE_MAX_CONFIGURATIONS);
    struct configuration *grown = grow_for_one(s->configurations, s->n_configurations, &x->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a search space");
    s->configurations = grown;
    x->now.kernel = x->kernel;
    if (compute_tile(s, &x->now, &figure, &inner))
        return json_fail(json_member(json_member(at, "model"), figure_keys[figure]), err, "%.500s", inner.text);
    s->configurations[s->n_configurations++] = x->now;
    *place = (uint32_t)s->n_configurations;
    return 0;
}

/* ---- one grid ---- */

/* The values of `largest`, from the top; the first legal one ends it. */
static int take_largest(struct expansion *x, struct json_at at, struct error *err)
{
    bool legal = false;
    int code = 0;
    if (x->largest < 0)
        return take(x, at, &legal, err);
    for (size_t i = 0; i < x->counts[x->largest] && !legal && !code; i++) {
        x->now.values[x->largest] = x->grid[x->largest][i];
        code = take(x, at, &legal, err);
    }
    return code;
}

static int descending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Odometer over all parameters but `largest`. */
static int expand_grid(struct expansion *x, struct json_at at, struct error *err)
{
    size_t place[MANIFEST_MAX_PARAMETERS] = {0}, n = x->manifest->n_parameters, i = 0;
    int code = 0;
    if (x->largest >= 0)
        qsort(x->grid[x->largest], x->counts[x->largest], sizeof **x->grid, descending);
    while (i < n && !code) {
        for (size_t p = 0; p < n; p++)
            x->now.values[p] = x->grid[p][place[p]];
        code = take_largest(x, at, err);
        for (i = 0; i < n; i++) {
            if ((int)i != x->largest && ++place[i] < x->counts[i])
                break;
            place[i] = 0;
        }
    }
    return code;
}

static int read_values(struct json_at at, const struct manifest_parameter *p, int64_t *values, size_t *n,
                       struct error *err)
{
    int count;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    if (count > MANIFEST_MAX_VALUES)
        return json_fail(at, err, "more than %d values", MANIFEST_MAX_VALUES);
    for (int i = 0; i < count; i++) {
        struct json_at element = json_element(at, i);
        if (json_read_int(element, INT32_MIN, INT32_MAX, &values[i], err))
            return err->code;
        if (!manifest_value_listed(p, values[i]))
            return json_fail(element, err, "%lld is not among the values of %s", (long long)values[i], p->name);
    }
    *n = (size_t)count;
    return 0;
}

/* The parameters that `at` names, over those that are there. */
static int read_named(struct expansion *x, struct json_at at, struct error *err)
{
    const struct manifest *m = x->manifest;
    if (!cJSON_IsObject(at.node))
        return json_fail(at, err, "expected an object of parameters");
    for (const cJSON *child = at.node->child; child; child = child->next) {
        struct json_at member = json_member(at, child->string);
        int i = manifest_find_parameter(m, child->string, strlen(child->string));
        if (strcmp(child->string, "largest") == 0 && cJSON_IsNull(child)) {
            x->largest = -1;
            continue;
        }
        if (i < 0)
            return json_fail(member, err, "kernel %s has no parameter of this name", m->name);
        if (read_values(member, &m->parameters[i], x->grid[i], &x->counts[i], err))
            return err->code;
    }
    return 0;
}

/* What a grid leaves out is what all grids of the kernel have in common, or has its default. */
static int read_grid(struct expansion *x, struct json_at common, struct json_at at, struct error *err)
{
    const struct manifest *m = x->manifest;
    x->largest = x->largest_of_kernel;
    for (size_t i = 0; i < m->n_parameters; i++) {
        x->grid[i][0] = m->parameters[i].fallback;
        x->counts[i] = 1;
    }
    int code = common.node ? read_named(x, common, err) : 0;
    return code ? code : read_named(x, at, err);
}

/* ---- one kernel ---- */

static int read_figures(struct expansion *x, struct json_at at, struct error *err)
{
    struct expr **figures = x->space->figures[x->kernel];
    struct error inner;
    const char *text;
    if (json_only_keys(at, figure_keys, err))
        return err->code;
    for (int i = 0; i < FIGURES_COUNT; i++) {
        struct json_at figure = json_member(at, figure_keys[i]);
        if (!figure.node)
            continue;
        if (json_read_string(figure, &text, err))
            return err->code;
        if (expr_parse(text, &figures[i], &inner))
            return json_fail(figure, err, "%.500s", inner.text);
    }
    return 0;
}

static int read_largest(struct expansion *x, struct json_at at, struct error *err)
{
    const char *name;
    x->largest_of_kernel = -1;
    if (!at.node)
        return 0;
    if (json_read_string(at, &name, err))
        return err->code;
    x->largest_of_kernel = manifest_find_parameter(x->manifest, name, strlen(name));
    return x->largest_of_kernel >= 0 ? 0
                                     : json_fail(at, err, "kernel %s has no parameter of this name", x->manifest->name);
}

static int read_kernel(struct expansion *x, const struct module_set *set, struct json_at at, struct error *err)
{
    struct json_at grids = json_member(at, "grids");
    const char *name;
    int count;
    if (json_only_keys(at, kernel_keys, err) || json_read_string(json_member(at, "kernel"), &name, err))
        return err->code;
    x->manifest = module_set_manifest(set, name);
    if (!x->manifest)
        return json_fail(json_member(at, "kernel"), err, "the set %s has no such kernel", module_set_name(set));
    x->kernel = x->space->n_kernels;
    x->space->kernels[x->space->n_kernels++] = x->manifest;
    int code = read_figures(x, json_member(at, "model"), err);
    if (!code)
        code = read_largest(x, json_member(at, "largest"), err);
    if (!code)
        code = json_read_array(grids, 1, &count, err);
    for (int i = 0; !code && i < count; i++) {
        code = read_grid(x, json_member(at, "common"), json_element(grids, i), err);
        if (!code)
            code = expand_grid(x, at, err);
    }
    return code;
}

/* ---- the whole ---- */

bool space_path(const struct module_set *set, char *out, size_t capacity)
{
    int n = snprintf(out, capacity, "%s/spaces/%s.json", module_set_directory(set), module_set_name(set));
    return n > 0 && (size_t)n < capacity && access(out, R_OK) == 0;
}

static int read_space(struct expansion *x, const struct module_set *set, struct json_at root, struct error *err)
{
    struct json_at kernels = json_member(root, "kernels");
    int count;
    const char *name;
    if (json_read_head(root, SPACE_SCHEMA, SPACE_SCHEMA_VERSION, top_keys, err) ||
        json_read_string(json_member(root, "name"), &name, err) || json_read_array(kernels, 1, &count, err))
        return err->code;
    if (strcmp(name, module_set_name(set)) != 0)
        return json_fail(json_member(root, "name"), err, "this is the space of \"%.60s\", not of %s", name,
                         module_set_name(set));
    if (count > SPACE_MAX_KERNELS)
        return json_fail(kernels, err, "more than %d kernels", SPACE_MAX_KERNELS);
    snprintf(x->space->name, sizeof x->space->name, "%.*s", (int)sizeof x->space->name - 1, name);
    for (int i = 0; i < count; i++)
        if (read_kernel(x, set, json_element(kernels, i), err))
            return err->code;
    return 0;
}

int space_open(const struct module_set *set, const char *path, const struct space_conditions *conditions,
               struct space *out, struct error *err)
{
    cJSON *tree = NULL;
    struct expansion *x = calloc(1, sizeof *x);
    *out = (struct space){0};
    if (!x)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a search space");
    x->space = out;
    const struct cudal2_problem any = problem_any(conditions->dtype, conditions->accumulate);
    out->conditions = manifest_conditions_on(conditions->device, &any, conditions->layout);
    int code = json_read_file(path, SPACE_MAX_BYTES, &tree, err);
    if (!code)
        code = read_space(x, set, json_root(tree, path), err);
    cJSON_Delete(tree);
    free(x);
    return code;
}

void space_free(struct space *s)
{
    for (size_t kernel = 0; kernel < s->n_kernels; kernel++)
        for (size_t i = 0; i < FIGURES_COUNT; i++)
            expr_free(s->figures[kernel][i]);
    free(s->configurations);
    *s = (struct space){0};
}

bool space_read_key(const struct space *s, const char *key, struct configuration *out)
{
    char why[CUDAL2_WHY];
    struct error ignored;
    size_t figure;
    for (size_t i = 0; i < s->n_kernels; i++) {
        *out = (struct configuration){.kernel = i};
        if (manifest_parse_key(s->kernels[i], key, out->values))
            return manifest_check(s->kernels[i], &s->conditions, out->values, why) == CUDAL2_OK &&
                   compute_tile(s, out, &figure, &ignored) == 0;
    }
    return false;
}

int space_key(const struct space *s, const struct configuration *c, char *out, size_t capacity)
{
    return manifest_key(s->kernels[c->kernel], c->values, out, capacity);
}
