/*
 * manifest_names.c - checks that each expression of a manifest uses only names that it may: parameters, sizes,
 * defines, terms. Relies on expr.c. Called once by manifest.c when one is read.
 */
#include "contender/manifest_names.h"

#include <string.h>

static int check_at(const struct expr *e, const struct expr_scope *scope, struct json_at at, struct error *err)
{
    if (!e || expr_check(e, scope, err) == 0)
        return 0;
    struct error inner = *err;
    return json_fail(at, err, "%.500s", inner.text);
}

static int check_expr(const struct expr *e, const struct expr_scope *scope, struct json_at at, const char *where,
                      struct error *err)
{
    return check_at(e, scope, json_member(at, where), err);
}

static int check_argument(const struct manifest_argument *a, const struct expr_scope *scope, struct json_at at,
                          struct error *err)
{
    int rc = check_at(a->value, scope, at, err);
    for (size_t e = 0; a->map && e < MAP_EXPRS && rc == 0; e++)
        rc = check_at(a->map->e[e], scope, at, err);
    for (size_t f = 0; f < a->n_fields && rc == 0; f++)
        rc = check_at(a->fields[f].value, scope, at, err);
    return rc;
}

static int check_names_of(const struct manifest *m, const struct expr_scope *scope, struct json_at at,
                          struct error *err)
{
    const struct {
        const struct expr *e;
        const char *where;
    } singles[] = {{m->grid[0], "grid"},
                   {m->grid[1], "grid"},
                   {m->grid[2], "grid"},
                   {m->block[0], "block"},
                   {m->block[1], "block"},
                   {m->block[2], "block"},
                   {m->cluster[0], "cluster"},
                   {m->cluster[1], "cluster"},
                   {m->cluster[2], "cluster"},
                   {m->shared_bytes, "shared_bytes"},
                   {m->workspace_bytes, "workspace_bytes"},
                   {m->memset_bytes, "memset_workspace_bytes"},
                   {m->early, "early"}};
    int rc = 0;
    for (size_t i = 0; i < sizeof singles / sizeof *singles && rc == 0; i++)
        rc = check_expr(singles[i].e, scope, at, singles[i].where, err);
    for (size_t i = 0; i < m->n_problem_constraints && rc == 0; i++)
        rc = check_expr(m->problem_constraints[i].rule, scope, at, "problem_constraints", err);
    for (size_t i = 0; i < m->n_arguments && rc == 0; i++)
        rc = check_argument(&m->arguments[i], scope, json_element(json_member(at, "arguments"), (int)i), err);
    return rc;
}

/* Adds the parameters of the launch alone, or the others, to n names; returns how many there are then. */
static size_t name_parameters(const struct manifest *m, bool launch, struct expr_variable *names, size_t n)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (m->parameters[i].launch == launch)
            memcpy(names[n++].name, m->parameters[i].name, EXPR_NAME_MAX);
    return n;
}

/* Adds named expressions, of which each may use what is there before it, to *n names. */
static int name_all(const struct manifest_named *named, size_t n_named, struct json_at at, struct expr_variable *names,
                    size_t *n, struct error *err)
{
    for (size_t i = 0; i < n_named; i++) {
        const struct expr_scope so_far = {names, *n};
        if (check_expr(named[i].value, &so_far, at, named[i].name, err) != 0)
            return err->code;
        memcpy(names[(*n)++].name, named[i].name, EXPR_NAME_MAX);
    }
    return 0;
}

static int check_constraints(const struct manifest *m, const struct expr_scope *scope, struct json_at at,
                             struct error *err)
{
    int rc = 0;
    for (size_t i = 0; i < m->n_constraints && rc == 0; i++)
        rc = check_expr(m->constraints[i].rule, scope, at, "constraints", err);
    return rc;
}

/* ---- what the arguments hand over ---- */

/* Every argument and every field of a struct, one after the other: the n-th, NULL behind the last. */
static const struct manifest_argument *nth(const struct manifest *m, size_t n)
{
    for (size_t i = 0; i < m->n_arguments; i++) {
        const struct manifest_argument *a = &m->arguments[i];
        if (n == 0)
            return a;
        if (--n < a->n_fields)
            return &a->fields[n];
        n -= a->n_fields;
    }
    return NULL;
}

/* Whether a map's strides are made of names that are not in scope. */
static bool map_needs_more(const struct manifest_map *map, const struct expr_scope *scope)
{
    struct error ignored;
    bool more = false;
    for (size_t i = 1; i < map->rank; i++)
        more = more || expr_check(map->e[MAP_STRIDES + i], scope, &ignored) != 0;
    return more;
}

/* Whether whoever gets a, b or c (`which`) is told its stride: an integer is made of it where the operand is a pointer,
 * and each map with dims of its own is. Without that name in scope such an expression fails. */
static bool hands_over(const struct manifest *m, struct expr_variable *names, size_t n_names, int which)
{
    const struct expr_scope scope = {names, n_names};
    struct expr_variable *stride = &names[MANIFEST_FIRST_STRIDE + which];
    struct error ignored;
    char first = stride->name[0];
    bool integer = false, pointer = false, maps = true;
    stride->name[0] = '\0';
    for (size_t i = 0; nth(m, i) != NULL; i++) {
        const struct manifest_argument *a = nth(m, i);
        pointer = pointer || (a->kind == ARGUMENT_OPERAND && a->which == which);
        integer = integer || (a->kind == ARGUMENT_INTEGER && expr_check(a->value, &scope, &ignored) != 0);
        if (a->kind == ARGUMENT_TENSOR_MAP && a->which == which && !a->map->whole)
            maps = maps && map_needs_more(a->map, &scope);
    }
    stride->name[0] = first;
    return maps && (integer || !pointer);
}

static bool has(const struct manifest *m, enum argument_kind kind, int which)
{
    for (size_t i = 0; nth(m, i) != NULL; i++)
        if (nth(m, i)->kind == kind && nth(m, i)->which == which)
            return true;
    return false;
}

/* A tensor map of a matrix as it lies has the stride of its rows; who gets a pointer must be told. Terms count as what
 * they say: one that is made of LDA and handed over is none of LDA's. */
static uint32_t abilities(const struct manifest *m, struct expr_variable *names, size_t n)
{
    bool strides = true, scales = has(m, ARGUMENT_FLOAT, SCALE_ALPHA) && has(m, ARGUMENT_FLOAT, SCALE_BETA);
    for (int which = 0; which < 3; which++)
        strides = strides && hands_over(m, names, n, which);
    return (strides ? CUDAL2_STRIDES : 0) | (scales ? CUDAL2_SCALES : 0);
}

int manifest_check_names(struct manifest *m, struct json_at at, struct error *err)
{
    const struct manifest_conditions any = {.problem = problem_any(CUDAL2_F16, CUDAL2_ACC_F16)};
    struct expr_variable names[MANIFEST_MAX_NAMES];
    size_t n = name_parameters(m, false, names, manifest_fixed_names(&any, names));
    if (name_all(m->defines, m->n_defines, json_member(at, "defines"), names, &n, err) != 0)
        return err->code;
    n = name_parameters(m, true, names, n); /* after the defines: one of these would make it part of the code */
    const struct expr_scope without_terms = {names, n};
    if (check_constraints(m, &without_terms, at, err) != 0 ||
        name_all(m->terms, m->n_terms, json_member(at, "terms"), names, &n, err) != 0)
        return err->code;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (strcmp(names[i].name, names[j].name) == 0)
                return json_fail(at, err, "the name %s stands for two things", names[j].name);
    const struct expr_scope scope = {names, n};
    int code = check_names_of(m, &scope, at, err);
    m->flags = code == 0 ? abilities(m, names, n) : 0;
    return code;
}
