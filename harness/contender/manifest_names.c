/*
 * manifest_names.c - checks that each expression of a manifest uses only names that it may: parameters, sizes,
 * defines, terms. Relies on expr.c. Called once by manifest.c when one is read.
 */
#include "contender/manifest_names.h"

#include <string.h>

static int check_expr(const struct expr *e, const struct expr_scope *scope, struct json_at at, const char *where,
                      struct error *err)
{
    if (!e || expr_check(e, scope, err) == 0)
        return 0;
    struct error inner = *err;
    return json_fail(json_member(at, where), err, "%.500s", inner.text);
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
    for (size_t i = 0; i < m->n_arguments && rc == 0; i++) {
        const struct manifest_argument *a = &m->arguments[i];
        const struct expr *all[] = {a->value, a->box[0], a->box[1], a->swizzle, a->fetch};
        for (int e = 0; e < 5 && rc == 0; e++)
            rc = check_expr(all[e], scope, at, "arguments", err);
        for (size_t f = 0; f < a->n_fields && rc == 0; f++)
            rc = check_expr(a->fields[f].value, scope, at, "arguments", err);
    }
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

/* Whether an integer is made of the name, which is one of those in scope: without it the expression fails. */
static bool hands_over(const struct manifest *m, struct expr_variable *names, size_t n_names, size_t name)
{
    const struct expr_scope scope = {names, n_names};
    struct error ignored;
    char first = names[name].name[0];
    bool used = false;
    names[name].name[0] = '\0';
    for (size_t i = 0; nth(m, i) != NULL; i++) {
        const struct manifest_argument *a = nth(m, i);
        used = used || (a->kind == ARGUMENT_INTEGER && expr_check(a->value, &scope, &ignored) != 0);
    }
    names[name].name[0] = first;
    return used;
}

static bool has(const struct manifest *m, enum argument_kind kind, int which)
{
    for (size_t i = 0; nth(m, i) != NULL; i++)
        if (nth(m, i)->kind == kind && nth(m, i)->which == which)
            return true;
    return false;
}

/* A tensor map has the stride of its rows; who gets a matrix as a pointer must be told. Terms count as what they say:
 * one that is made of LDA and handed over is none of LDA's. */
static uint32_t abilities(const struct manifest *m, struct expr_variable *names, size_t n)
{
    bool strides = true, scales = has(m, ARGUMENT_FLOAT, SCALE_ALPHA) && has(m, ARGUMENT_FLOAT, SCALE_BETA);
    for (int which = 0; which < 3; which++)
        strides = strides &&
                  (!has(m, ARGUMENT_OPERAND, which) || hands_over(m, names, n, MANIFEST_FIRST_STRIDE + (size_t)which));
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
