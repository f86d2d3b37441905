/*
 * manifest_maps.c - tensor maps of a manifest: read, checked as far as their constants go, worked out for one problem.
 * Relies on manifest_read.h, expr.c and device/cuda_tensor.c. Called by manifest.c, manifest_arguments.c, module.c and
 * inspect.c.
 */
#include "contender/manifest_read.h"
#include "model/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* As many expressions as the map has dimensions from `first` on, into to[first] and on. */
static int read_entries(struct json_at at, const struct manifest_map *map, size_t first, struct expr **to,
                        struct error *err)
{
    int count;
    if (json_read_array(at, 0, &count, err) != 0)
        return err->code;
    if ((size_t)count != map->rank - first)
        return json_fail(at, err, "expected %zu (%s), found %d", map->rank - first,
                         map->whole  ? "elements of a row, rows: \"dims\" makes other ranks"
                         : first > 0 ? "one for each of \"dims\" but the first"
                                     : "one for each of \"dims\"",
                         count);
    for (int i = 0; i < count; i++)
        if (manifest_read_expr(json_element(at, i), &to[first + (size_t)i], err) != 0)
            return err->code;
    return 0;
}

static int read_dims(struct json_at at, struct manifest_map *map, struct error *err)
{
    int count;
    if (json_read_array(at, 0, &count, err) != 0)
        return err->code;
    if (count < 1 || count > CUDA_TENSOR_RANK)
        return json_fail(at, err, "expected 1 to %d dimensions, found %d", CUDA_TENSOR_RANK, count);
    map->rank = (size_t)count;
    return read_entries(at, map, 0, &map->e[MAP_DIMS], err);
}

/* Sizes and strides: those of the matrix, or the manifest's own. */
static int read_tensor(struct json_at at, struct manifest_map *map, struct error *err)
{
    struct json_at dims = json_member(at, "dims"), strides = json_member(at, "strides");
    map->whole = !dims.node;
    map->rank = 2;
    if (map->whole)
        return strides.node ? json_fail(strides, err, "expected \"dims\" beside it") : 0;
    if (read_dims(dims, map, err) != 0)
        return err->code;
    return map->rank == 1 && !strides.node ? 0 : read_entries(strides, map, 1, &map->e[MAP_STRIDES], err);
}

static int read_words(struct json_at at, struct manifest_map *map, struct error *err)
{
    static const char *const interleaves[] = {"none", NULL}, *const fills[] = {"zero", "nan", NULL};
    struct json_at interleave = json_member(at, "interleave"), fill = json_member(at, "fill");
    int ignored = 0, filled = 0;
    if ((interleave.node && json_read_choice(interleave, interleaves, &ignored, err) != 0) ||
        (fill.node && json_read_choice(fill, fills, &filled, err) != 0))
        return err->code;
    map->nan = filled == 1;
    return 0;
}

static int read_optional(struct json_at at, struct expr **out, struct error *err)
{
    return at.node ? manifest_read_expr(at, out, err) : 0;
}

int manifest_read_map(struct json_at at, struct manifest_map **out, struct error *err)
{
    static const char *const keys[] = {"tensor_map", "dims",  "strides",    "box",  "element_strides",
                                       "swizzle",    "fetch", "interleave", "fill", NULL};
    struct manifest_map *map = calloc(1, sizeof *map);
    struct json_at element_strides = json_member(at, "element_strides");
    *out = map;
    if (!map)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a tensor map");
    if (json_only_keys(at, keys, err) != 0 || read_tensor(at, map, err) != 0 ||
        read_entries(json_member(at, "box"), map, 0, &map->e[MAP_BOX], err) != 0 ||
        (element_strides.node && read_entries(element_strides, map, 0, &map->e[MAP_ELEMENT_STRIDES], err) != 0) ||
        read_optional(json_member(at, "swizzle"), &map->e[MAP_SWIZZLE], err) != 0 ||
        read_optional(json_member(at, "fetch"), &map->e[MAP_FETCH], err) != 0)
        return err->code;
    return read_words(at, map, err);
}

void manifest_map_free(struct manifest_map *map)
{
    for (size_t i = 0; map && i < MAP_EXPRS; i++)
        expr_free(map->e[i]);
    free(map);
}

/* ---- what is wrong whatever the problem ---- */

/* The expression's value where it is a constant. */
static int64_t constant(const struct expr *e, int64_t absent)
{
    const struct expr_scope nothing = {NULL, 0};
    struct error ignored;
    int64_t value;
    if (!e)
        return absent;
    return expr_eval(e, &nothing, &value, &ignored) == 0 ? value : CUDA_TENSOR_UNKNOWN;
}

static struct cuda_tensor_request constants(const struct manifest_map *map, enum cudal2_dtype dtype)
{
    struct cuda_tensor_request r = {.dtype = dtype, .rank = map->rank, .nan = map->nan};
    for (size_t i = 0; i < map->rank; i++) {
        r.dims[i] = constant(map->e[MAP_DIMS + i], CUDA_TENSOR_UNKNOWN);
        r.strides[i] = constant(map->e[MAP_STRIDES + i], CUDA_TENSOR_UNKNOWN);
        r.box[i] = constant(map->e[MAP_BOX + i], CUDA_TENSOR_UNKNOWN);
        r.element_strides[i] = constant(map->e[MAP_ELEMENT_STRIDES + i], 1);
    }
    r.swizzle = constant(map->e[MAP_SWIZZLE], 0);
    r.fetch = constant(map->e[MAP_FETCH], MANIFEST_FETCH);
    return r;
}

/* Wrong for each data type of the manifest; *fault is of the last one. */
static bool always_wrong(const struct manifest *m, const struct manifest_map *map, struct cuda_tensor_fault *fault)
{
    for (int dtype = 0; dtype <= CUDAL2_F32; dtype++) {
        const struct cuda_tensor_request r = constants(map, (enum cudal2_dtype)dtype);
        if ((m->dtypes & CUDAL2_BIT(dtype)) && cuda_tensor_check(&r, fault))
            return false;
    }
    return true;
}

int manifest_check_constant_maps(const struct manifest *m, struct json_at at, struct error *err)
{
    for (size_t i = 0; i < m->n_arguments; i++) {
        struct json_at place = json_element(at, (int)i);
        struct cuda_tensor_fault fault = {0};
        if (!m->arguments[i].map || !always_wrong(m, m->arguments[i].map, &fault))
            continue;
        size_t length = strlen(place.path);
        snprintf(place.path + length, sizeof place.path - length, ".%s", fault.where);
        return json_fail(place, err, "%s", fault.text);
    }
    return 0;
}

/* ---- on one problem ---- */

/* a, b or c as it lies in memory; b of layout TN is n rows of k elements. */
static struct matrix_extent matrix_of(const struct manifest_conditions *c, int which)
{
    return which == 0   ? problem_a(&c->problem)
           : which == 1 ? problem_b(&c->problem, c->layout)
                        : problem_c(&c->problem);
}

/* An expression's value, to *out, which keeps what it has where there is none. */
static int put(const struct expr *e, const struct manifest_plan *plan, int64_t *out, struct error *err)
{
    const struct expr_scope scope = {plan->names, plan->n_names};
    return e ? expr_eval(e, &scope, out, err) : 0;
}

static int evaluate(const struct manifest_map *map, const struct manifest_plan *plan, struct cuda_tensor_request *r,
                    struct error *err)
{
    int rc = put(map->e[MAP_SWIZZLE], plan, &r->swizzle, err);
    if (rc == 0)
        rc = put(map->e[MAP_FETCH], plan, &r->fetch, err);
    for (size_t i = 0; i < map->rank && rc == 0; i++) {
        r->element_strides[i] = 1;
        rc = put(map->e[MAP_DIMS + i], plan, &r->dims[i], err);
        if (rc == 0)
            rc = put(map->e[MAP_STRIDES + i], plan, &r->strides[i], err);
        if (rc == 0)
            rc = put(map->e[MAP_BOX + i], plan, &r->box[i], err);
        if (rc == 0)
            rc = put(map->e[MAP_ELEMENT_STRIDES + i], plan, &r->element_strides[i], err);
    }
    return rc;
}

/* Whether the tensor's last element lies within so many elements. Of a request that passed its check. */
static bool lies_within(const struct cuda_tensor_request *r, int64_t elements)
{
    int64_t last = r->dims[0] - 1, further;
    bool inside = true;
    for (size_t i = 1; i < r->rank && inside; i++)
        inside = !__builtin_mul_overflow(r->dims[i] - 1, r->strides[i], &further) &&
                 !__builtin_add_overflow(last, further, &last);
    return inside && last < elements;
}

static int say(const struct manifest *m, size_t argument, const struct cuda_tensor_fault *fault, char *why)
{
    snprintf(why, CUDAL2_WHY, "%s: arguments[%zu].%s: %s", m->name, argument, fault->where, fault->text);
    return fault->of_problem ? CUDAL2_UNSUPPORTED : CUDAL2_LIBRARY_ERROR;
}

int manifest_map_request(const struct manifest *m, size_t argument, const struct manifest_conditions *conditions,
                         const struct manifest_plan *plan, struct cuda_tensor_request *out, char *why)
{
    const struct manifest_map *map = m->arguments[argument].map;
    const struct matrix_extent matrix = matrix_of(conditions, m->arguments[argument].which);
    struct cuda_tensor_fault fault;
    struct error err;
    *out = (struct cuda_tensor_request){.dtype = conditions->problem.dtype,
                                        .rank = map->rank,
                                        .dims = {matrix.length, matrix.lines},
                                        .strides = {1, matrix.stride},
                                        .fetch = MANIFEST_FETCH,
                                        .nan = map->nan};
    if (evaluate(map, plan, out, &err) != 0) {
        snprintf(why, CUDAL2_WHY, "%s: arguments[%zu]: %.150s", m->name, argument, err.text);
        return CUDAL2_LIBRARY_ERROR;
    }
    if (!cuda_tensor_check(out, &fault))
        return say(m, argument, &fault, why);
    if (lies_within(out, (int64_t)extent_elements(&matrix)))
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%s: arguments[%zu].dims: the map reaches behind its matrix of %lld x %lld", m->name,
             argument, (long long)matrix.lines, (long long)matrix.length);
    return CUDAL2_LIBRARY_ERROR;
}

int manifest_check_maps(const struct manifest *m, const struct manifest_conditions *conditions,
                        const struct manifest_plan *plan, char *why)
{
    struct cuda_tensor_request ignored;
    int status = CUDAL2_OK;
    for (size_t i = 0; i < m->n_arguments && status == CUDAL2_OK; i++)
        if (m->arguments[i].map)
            status = manifest_map_request(m, i, conditions, plan, &ignored, why);
    return status;
}
