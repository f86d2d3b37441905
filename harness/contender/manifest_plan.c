/*
 * manifest_plan.c - from a manifest, parameter values and a problem to a launch: grid, block, shared memory,
 * arguments, tensor maps. Relies on expr.c. Called by module.c and by the tuner's space.
 */
#include "contender/manifest.h"
#include "model/problem.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MAX_CLUSTER 16
#define MAX_THREADS 1024

/* Of each configuration of a space dozens: printing them took a third of a choice's time. */
static void put(struct expr_variable *v, const char *name, int64_t value)
{
    size_t length = strnlen(name, sizeof v->name - 1);
    memcpy(v->name, name, length);
    v->name[length] = '\0';
    v->value = value;
}

struct manifest_conditions manifest_conditions_on(const struct device_info *device,
                                                  const struct cudal2_problem *problem, enum cudal2_layout layout)
{
    return (struct manifest_conditions){.problem = *problem,
                                        .layout = layout,
                                        .cc = device->cc,
                                        .sm_count = device->sm_count,
                                        .l2_bytes = (int64_t)device->l2_bytes};
}

size_t manifest_fixed_names(const struct manifest_conditions *c, struct expr_variable *out)
{
    put(&out[0], "M", c->problem.m);
    put(&out[1], "N", c->problem.n);
    put(&out[2], "K", c->problem.k);
    put(&out[3], "SM_COUNT", c->sm_count);
    put(&out[4], "L2_BYTES", c->l2_bytes);
    put(&out[5], "DTYPE", (int64_t)c->problem.dtype);
    put(&out[6], "ACC_F32", c->problem.accumulate == CUDAL2_ACC_F32);
    put(&out[7], "LAYOUT_TN", c->layout == CUDAL2_TN);
    put(&out[MANIFEST_FIRST_STRIDE], "LDA", problem_a(&c->problem).stride);
    put(&out[MANIFEST_FIRST_STRIDE + 1], "LDB", problem_b(&c->problem, c->layout).stride);
    put(&out[MANIFEST_FIRST_STRIDE + 2], "LDC", problem_c(&c->problem).stride);
    put(&out[MANIFEST_FIRST_STRIDE + 3], "ARCH", c->cc);
    return MANIFEST_FIXED_NAMES;
}

/* Adds named expressions to *n names, one after the other. */
static int name_all(const struct manifest_named *named, size_t n_named, struct expr_variable *out, size_t *n,
                    struct error *err)
{
    for (size_t i = 0; i < n_named; i++) {
        const struct expr_scope scope = {out, *n};
        int64_t value;
        if (expr_eval(named[i].value, &scope, &value, err) != 0)
            return err->code;
        put(&out[(*n)++], named[i].name, value);
    }
    return 0;
}

int manifest_names(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                   struct expr_variable *out, size_t *count, struct error *err)
{
    size_t n = manifest_fixed_names(conditions, out);
    for (size_t i = 0; i < m->n_parameters; i++)
        put(&out[n++], m->parameters[i].name, values[i]);
    *count = n;
    return name_all(m->defines, m->n_defines, out, count, err);
}

static int say(char *why, int status, const struct manifest *m, const char *text)
{
    snprintf(why, CUDAL2_WHY, "%s: %.200s", m->name, text);
    return status;
}

static int check_abilities(const struct manifest *m, const struct manifest_conditions *c, char *why)
{
    char text[128];
    if ((m->arch_min && c->cc < m->arch_min) || (m->arch_max && c->cc > m->arch_max)) {
        snprintf(text, sizeof text, "is for sm_%d to sm_%d, not sm_%d", m->arch_min, m->arch_max ? m->arch_max : 999,
                 c->cc);
        return say(why, CUDAL2_UNSUPPORTED, m, text);
    }
    if (!(m->dtypes & CUDAL2_BIT(c->problem.dtype)) || !(m->accumulates & CUDAL2_BIT(c->problem.accumulate)) ||
        !(m->layouts & CUDAL2_BIT(c->layout))) {
        snprintf(text, sizeof text, "does not do %s with %s accumulate in layout %s", dtype_names[c->problem.dtype],
                 accumulate_names[c->problem.accumulate], layout_names[c->layout]);
        return say(why, CUDAL2_UNSUPPORTED, m, text);
    }
    if (!problem_is_packed(&c->problem) && !(m->flags & CUDAL2_STRIDES))
        return say(why, CUDAL2_UNSUPPORTED, m,
                   "is not given LDA, LDB and LDC, and this problem has leading dimensions");
    if (problem_is_scaled(&c->problem) && !(m->flags & CUDAL2_SCALES))
        return say(why, CUDAL2_UNSUPPORTED, m, "is not given alpha and beta, and this problem has them");
    if (c->problem.m > INT32_MAX || c->problem.n > INT32_MAX || c->problem.k > INT32_MAX)
        return say(why, CUDAL2_UNSUPPORTED, m, "sizes over 2^31 - 1 do not fit a kernel's int arguments");
    return CUDAL2_OK;
}

static int check_rules(const struct manifest *m, const struct manifest_rule *rules, size_t n,
                       const struct expr_scope *scope, char *why)
{
    struct error err;
    char text[CUDAL2_WHY];
    int64_t holds;
    for (size_t i = 0; i < n; i++) {
        if (expr_eval(rules[i].rule, scope, &holds, &err) != 0)
            return say(why, CUDAL2_LIBRARY_ERROR, m, err.text);
        if (holds)
            continue;
        snprintf(text, sizeof text, "%.100s (%.80s)", rules[i].why, expr_text(rules[i].rule));
        return say(why, CUDAL2_UNSUPPORTED, m, text);
    }
    return CUDAL2_OK;
}

/* What a number of the launch may be, and where it stands in the manifest. */
struct limits {
    const char *key;
    int index; /* -1: the key has one number */
    int64_t low, high;
};

static int number(const struct manifest *m, const struct expr *e, const struct expr_scope *scope,
                  const struct limits *limits, int64_t *out, char *why)
{
    char index[16] = "";
    struct error err;
    char text[160];
    if (expr_eval(e, scope, out, &err) != 0)
        return say(why, CUDAL2_LIBRARY_ERROR, m, err.text);
    if (*out >= limits->low && *out <= limits->high)
        return CUDAL2_OK;
    if (limits->index >= 0)
        snprintf(index, sizeof index, "[%d]", limits->index);
    snprintf(text, sizeof text, "%s%s: \"%.60s\" is %lld, expected %lld to %lld", limits->key, index, expr_text(e),
             (long long)*out, (long long)limits->low, (long long)limits->high);
    return say(why, CUDAL2_LIBRARY_ERROR, m, text);
}

static int three(const struct manifest *m, struct expr *const e[3], const struct expr_scope *scope,
                 const struct limits limits[3], unsigned out[3], char *why)
{
    for (int i = 0; i < 3; i++) {
        int64_t value;
        int status = number(m, e[i], scope, &limits[i], &value, why);
        if (status != CUDAL2_OK)
            return status;
        out[i] = (unsigned)value;
    }
    return CUDAL2_OK;
}

static int check_geometry(const struct manifest *m, const struct manifest_plan *p, char *why)
{
    uint64_t threads = (uint64_t)p->block[0] * p->block[1] * p->block[2];
    uint64_t cluster = (uint64_t)p->cluster[0] * p->cluster[1] * p->cluster[2];
    if (threads > MAX_THREADS)
        return say(why, CUDAL2_LIBRARY_ERROR, m, "more than 1024 threads in a block");
    if (cluster > MAX_CLUSTER)
        return say(why, CUDAL2_LIBRARY_ERROR, m, "more than 16 blocks in a cluster");
    for (int i = 0; i < 3; i++)
        if (p->grid[i] % p->cluster[i] != 0)
            return say(why, CUDAL2_LIBRARY_ERROR, m, "the grid is not a multiple of the cluster");
    if (p->memset_bytes > p->workspace_bytes)
        return say(why, CUDAL2_LIBRARY_ERROR, m, "clears more than its workspace");
    return CUDAL2_OK;
}

static int compute(const struct manifest *m, const struct expr_scope *scope, struct manifest_plan *p, char *why)
{
    static const struct limits grid[3] = {{"grid", 0, 1, INT32_MAX}, {"grid", 1, 1, 65535}, {"grid", 2, 1, 65535}};
    static const struct limits block[3] = {{"block", 0, 1, 1024}, {"block", 1, 1, 1024}, {"block", 2, 1, 64}};
    static const struct limits clusters[3] = {{"cluster", 0, 1, 16}, {"cluster", 1, 1, 16}, {"cluster", 2, 1, 16}};
    /* What an architecture has is fit.c's to say. */
    static const struct limits shared_limits = {"shared_bytes", -1, 0, INT32_MAX},
                               workspace_limits = {"workspace_bytes", -1, 0, INT64_MAX},
                               cleared_limits = {"memset_workspace_bytes", -1, 0, INT64_MAX},
                               early_limits = {"early", -1, INT64_MIN, INT64_MAX};
    int64_t shared = 0, workspace = 0, cleared = 0, early = 0;
    int status = three(m, m->grid, scope, grid, p->grid, why);
    if (status == CUDAL2_OK)
        status = three(m, m->block, scope, block, p->block, why);
    if (status == CUDAL2_OK)
        status = three(m, m->cluster, scope, clusters, p->cluster, why);
    if (status == CUDAL2_OK)
        status = number(m, m->shared_bytes, scope, &shared_limits, &shared, why);
    if (status == CUDAL2_OK)
        status = number(m, m->workspace_bytes, scope, &workspace_limits, &workspace, why);
    if (status == CUDAL2_OK)
        status = number(m, m->memset_bytes, scope, &cleared_limits, &cleared, why);
    if (status == CUDAL2_OK)
        status = number(m, m->early, scope, &early_limits, &early, why);
    p->shared_bytes = (unsigned)shared;
    p->workspace_bytes = (uint64_t)workspace;
    p->memset_bytes = (uint64_t)cleared;
    p->early = early != 0;
    return status == CUDAL2_OK ? check_geometry(m, p, why) : status;
}

/* Fills names on the way. */
static int check_values(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                        struct manifest_plan *out, char *why)
{
    struct error err;
    int status = check_abilities(m, conditions, why);
    if (status != CUDAL2_OK)
        return status;
    if (manifest_names(m, conditions, values, out->names, &out->n_names, &err) != 0)
        return say(why, CUDAL2_LIBRARY_ERROR, m, err.text);
    const struct expr_scope scope = {out->names, out->n_names};
    return check_rules(m, m->constraints, m->n_constraints, &scope, why);
}

int manifest_check(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                   char *why)
{
    struct manifest_plan ignored;
    return check_values(m, conditions, values, &ignored, why);
}

int manifest_plan(const struct manifest *m, const struct manifest_conditions *conditions, const int64_t *values,
                  struct manifest_plan *out, char *why)
{
    struct error err;
    int status = check_values(m, conditions, values, out, why);
    if (status == CUDAL2_OK && name_all(m->terms, m->n_terms, out->names, &out->n_names, &err) != 0)
        status = say(why, CUDAL2_LIBRARY_ERROR, m, err.text);
    const struct expr_scope scope = {out->names, out->n_names};
    if (status == CUDAL2_OK)
        status = check_rules(m, m->problem_constraints, m->n_problem_constraints, &scope, why);
    if (status == CUDAL2_OK)
        status = compute(m, &scope, out, why);
    if (status == CUDAL2_OK && conditions->alone)
        out->early = false;
    return status;
}

/* ---- two launches ---- */

/* What cannot be computed is like nothing. */
static bool same_value(const struct expr *e, const struct manifest_plan *a, const struct manifest_plan *b)
{
    const struct expr_scope scopes[2] = {{a->names, a->n_names}, {b->names, b->n_names}};
    int64_t values[2] = {0, 0};
    struct error err;
    for (int i = 0; e && i < 2; i++)
        if (expr_eval(e, &scopes[i], &values[i], &err) != 0)
            return false;
    return values[0] == values[1];
}

static bool same_argument(const struct manifest_argument *g, const struct manifest_plan *a,
                          const struct manifest_plan *b)
{
    bool same = same_value(g->value, a, b);
    for (size_t i = 0; g->map && i < MAP_EXPRS && same; i++)
        same = same_value(g->map->e[i], a, b);
    for (size_t i = 0; i < g->n_fields && same; i++)
        same = same_value(g->fields[i].value, a, b);
    return same;
}

bool manifest_same_launch(const struct manifest *m, const struct manifest_plan *a, const struct manifest_plan *b)
{
    bool same = memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
                memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 && a->shared_bytes == b->shared_bytes &&
                a->workspace_bytes == b->workspace_bytes && a->memset_bytes == b->memset_bytes && a->early == b->early;
    for (size_t i = 0; same && i < m->n_arguments; i++)
        same = same_argument(&m->arguments[i], a, b);
    return same;
}
