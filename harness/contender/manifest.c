/*
 * manifest.c - reads a module's manifest from JSON and checks it: parameters, rules, geometry; the arguments are read
 * by manifest_arguments.c. What is made of it is in manifest_plan.c. Relies on expr.c. Called by module_set.c.
 */
#include "contender/manifest.h"
#include "contender/manifest_names.h"
#include "contender/manifest_read.h"
#include "base/file.h"
#include "compile/binary.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const top_keys[] = {"$schema",
                                       "schema",
                                       "schema_version",
                                       "name",
                                       "description",
                                       "source",
                                       "entry",
                                       "arch_min",
                                       "arch_max",
                                       "dtypes",
                                       "accumulate",
                                       "layouts",
                                       "parameters",
                                       "constraints",
                                       "problem_constraints",
                                       "defines",
                                       "terms",
                                       "grid",
                                       "block",
                                       "cluster",
                                       "shared_bytes",
                                       "arguments",
                                       "workspace_bytes",
                                       "memset_workspace_bytes",
                                       "early",
                                       NULL};
static const char kernel_schema[] = "cudal2-bench/kernel";
static const char *const dtypes[] = {"f16", "bf16", "f32", NULL};
static const char *const accumulates[] = {"f16", "f32", NULL};
static const char *const layouts[] = {"nn", "tn", NULL};

static bool present(struct json_at at)
{
    return at.node != NULL;
}

/* ---- pieces ---- */

static int read_bits(struct json_at at, const char *const names[], uint32_t *bits, struct error *err)
{
    int count, which;
    if (json_read_array(at, 1, &count, err) != 0)
        return err->code;
    *bits = 0;
    for (int i = 0; i < count; i++) {
        if (json_read_choice(json_element(at, i), names, &which, err) != 0)
            return err->code;
        *bits |= CUDAL2_BIT(which);
    }
    return 0;
}

int manifest_read_expr(struct json_at at, struct expr **out, struct error *err)
{
    const char *text;
    char number[32];
    int64_t value;
    if (present(at) && cJSON_IsNumber(at.node)) {
        if (json_read_int(at, 0, INT32_MAX, &value, err) != 0)
            return err->code;
        snprintf(number, sizeof number, "%lld", (long long)value);
        text = number;
    } else if (json_read_string(at, &text, err) != 0) {
        return err->code;
    }
    if (expr_parse(text, out, err) == 0)
        return 0;
    struct error inner = *err;
    return json_fail(at, err, "%.500s", inner.text);
}

/* An absent one is `fallback`. */
static int read_optional_expr(struct json_at at, const char *fallback, struct expr **out, struct error *err)
{
    return present(at) ? manifest_read_expr(at, out, err) : expr_parse(fallback, out, err);
}

static int read_three(struct json_at at, bool required, struct expr *out[3], struct error *err)
{
    int count, rc = 0;
    if (!present(at) && !required) {
        for (int i = 0; i < 3 && rc == 0; i++)
            rc = expr_parse("1", &out[i], err);
        return rc;
    }
    if (json_read_array(at, 3, &count, err) != 0)
        return err->code;
    if (count != 3)
        return json_fail(at, err, "expected 3 elements (x, y, z), not %d", count);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = manifest_read_expr(json_element(at, i), &out[i], err);
    return rc;
}

static int read_identifier(struct json_at at, const char *name, char *out, struct error *err)
{
    size_t length = strlen(name);
    bool good = length > 0 && length < EXPR_NAME_MAX && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; i < length && good; i++)
        good = isalnum((unsigned char)name[i]) || name[i] == '_';
    if (!good)
        return json_fail(at, err, "\"%.60s\" is not a name (letters, digits, _; at most %d)", name, EXPR_NAME_MAX - 1);
    memcpy(out, name, length + 1);
    return 0;
}

/* A short string that ends up in paths, keys and messages. */
static int read_word(struct json_at at, char *out, size_t capacity, struct error *err)
{
    const char *text;
    if (json_read_string(at, &text, err) != 0)
        return err->code;
    if (strlen(text) >= capacity || strpbrk(text, " /\\:,=\"\n"))
        return json_fail(at, err, "\"%.60s\": expected at most %zu characters without spaces, / : , =", text,
                         capacity - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

static int read_parameter(struct json_at at, struct manifest_parameter *p, struct error *err)
{
    static const char *const keys[] = {"values", "default", "launch", "description", NULL};
    struct json_at values = json_member(at, "values"), launch = json_member(at, "launch");
    int count;
    if (json_only_keys(at, keys, err) != 0 || json_read_array(values, 1, &count, err) != 0)
        return err->code;
    if (count > MANIFEST_MAX_VALUES)
        return json_fail(values, err, "more than %d values", MANIFEST_MAX_VALUES);
    for (int i = 0; i < count; i++) {
        struct json_at value = json_element(values, i);
        if (json_read_int(value, INT32_MIN, INT32_MAX, &p->values[i], err) != 0)
            return err->code;
        if (manifest_value_listed(p, p->values[i]))
            return json_fail(value, err, "%lld is there twice", (long long)p->values[i]);
        p->n_values = (size_t)i + 1;
    }
    struct json_at fallback = json_member(at, "default");
    if (json_read_int(fallback, INT32_MIN, INT32_MAX, &p->fallback, err) != 0 ||
        (present(launch) && json_read_bool(launch, &p->launch, err) != 0))
        return err->code;
    return manifest_value_listed(p, p->fallback)
               ? 0
               : json_fail(fallback, err, "%lld is not among the values", (long long)p->fallback);
}

static int read_parameters(struct json_at at, struct manifest *m, struct error *err)
{
    if (!present(at))
        return 0;
    if (!cJSON_IsObject(at.node))
        return json_fail(at, err, "expected an object of parameters");
    for (const cJSON *child = at.node->child; child; child = child->next) {
        struct json_at member = json_member(at, child->string);
        struct manifest_parameter *p = &m->parameters[m->n_parameters];
        if (m->n_parameters == MANIFEST_MAX_PARAMETERS)
            return json_fail(at, err, "more than %d parameters", MANIFEST_MAX_PARAMETERS);
        if (read_identifier(member, child->string, p->name, err) != 0 || read_parameter(member, p, err) != 0)
            return err->code;
        m->n_parameters++;
    }
    return 0;
}

static int read_named(struct json_at at, struct manifest_named *named, size_t *n, struct error *err)
{
    if (!present(at))
        return 0;
    if (!cJSON_IsObject(at.node))
        return json_fail(at, err, "expected an object of expressions");
    for (const cJSON *child = at.node->child; child; child = child->next) {
        struct json_at member = json_member(at, child->string);
        if (*n == MANIFEST_MAX_NAMED)
            return json_fail(at, err, "more than %d names", MANIFEST_MAX_NAMED);
        if (read_identifier(member, child->string, named[*n].name, err) != 0 ||
            manifest_read_expr(member, &named[*n].value, err) != 0)
            return err->code;
        ++*n;
    }
    return 0;
}

static int read_rules(struct json_at at, struct manifest_rule *rules, size_t *n, struct error *err)
{
    static const char *const keys[] = {"rule", "why", NULL};
    int count;
    const char *why;
    if (!present(at))
        return 0;
    if (json_read_array(at, 0, &count, err) != 0)
        return err->code;
    if (count > MANIFEST_MAX_RULES)
        return json_fail(at, err, "more than %d rules", MANIFEST_MAX_RULES);
    for (int i = 0; i < count; i++) {
        struct json_at element = json_element(at, i);
        struct manifest_rule *rule = &rules[(*n)++];
        if (!cJSON_IsObject(element.node))
            return json_expected(element, err, "{\"rule\": EXPRESSION, \"why\": TEXT}");
        if (json_only_keys(element, keys, err) != 0 ||
            manifest_read_expr(json_member(element, "rule"), &rule->rule, err) != 0 ||
            json_read_string(json_member(element, "why"), &why, err) != 0)
            return err->code;
        rule->why = strdup(why);
        if (!rule->why)
            return error_set(err, EXIT_CODE_INTERNAL, "no memory for a rule");
    }
    return 0;
}

/* ---- the whole ---- */

static int read_arch(struct json_at at, int *out, struct error *err)
{
    int64_t value = 0;
    if (present(at) && json_read_int(at, 0, 999, &value, err) != 0)
        return err->code;
    *out = (int)value;
    return 0;
}

static int read_identity(struct json_at at, const char *path, struct manifest *m, struct error *err)
{
    const char *source;
    const char *slash = strrchr(path, '/');
    if (json_read_head(at, kernel_schema, 1, top_keys, err) != 0 ||
        read_word(json_member(at, "name"), m->name, sizeof m->name, err) != 0 ||
        read_word(json_member(at, "entry"), m->entry, sizeof m->entry, err) != 0 ||
        json_read_string(json_member(at, "source"), &source, err) != 0)
        return err->code;
    if (strchr(source, '/'))
        return json_fail(json_member(at, "source"), err,
                         "expected the name of a file beside the manifest, without '/'");
    int directory = slash ? (int)(slash - path) + 1 : 0;
    if (asprintf(&m->source_path, "%.*s%s", directory, path, source) < 0) {
        m->source_path = NULL;
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a path");
    }
    m->is_binary = binary_is(m->source_path);
    return 0;
}

static int read_abilities(struct json_at at, struct manifest *m, struct error *err)
{
    if (read_arch(json_member(at, "arch_min"), &m->arch_min, err) != 0 ||
        read_arch(json_member(at, "arch_max"), &m->arch_max, err) != 0 ||
        read_bits(json_member(at, "dtypes"), dtypes, &m->dtypes, err) != 0 ||
        read_bits(json_member(at, "accumulate"), accumulates, &m->accumulates, err) != 0)
        return err->code;
    return read_bits(json_member(at, "layouts"), layouts, &m->layouts, err);
}

static int read_launch(struct json_at at, struct manifest *m, struct error *err)
{
    if (read_parameters(json_member(at, "parameters"), m, err) != 0 ||
        read_named(json_member(at, "defines"), m->defines, &m->n_defines, err) != 0 ||
        read_named(json_member(at, "terms"), m->terms, &m->n_terms, err) != 0 ||
        read_rules(json_member(at, "constraints"), m->constraints, &m->n_constraints, err) != 0 ||
        read_rules(json_member(at, "problem_constraints"), m->problem_constraints, &m->n_problem_constraints, err) !=
            0 ||
        read_three(json_member(at, "grid"), true, m->grid, err) != 0 ||
        read_three(json_member(at, "block"), true, m->block, err) != 0 ||
        read_three(json_member(at, "cluster"), false, m->cluster, err) != 0 ||
        read_optional_expr(json_member(at, "shared_bytes"), "0", &m->shared_bytes, err) != 0 ||
        read_optional_expr(json_member(at, "workspace_bytes"), "0", &m->workspace_bytes, err) != 0 ||
        read_optional_expr(json_member(at, "memset_workspace_bytes"), "0", &m->memset_bytes, err) != 0 ||
        read_optional_expr(json_member(at, "early"), "0", &m->early, err) != 0)
        return err->code;
    return manifest_read_arguments(json_member(at, "arguments"), m, err);
}

/* What a binary was made with is not asked again: nothing may pretend to be. */
static int check_binary(struct json_at at, const struct manifest *m, struct error *err)
{
    if (!m->is_binary)
        return 0;
    if (m->n_defines > 0)
        return json_fail(json_member(at, "defines"), err, "a binary is compiled already: expected \"terms\"");
    for (size_t i = 0; i < m->n_parameters; i++)
        if (!m->parameters[i].launch)
            return json_fail(json_member(json_member(at, "parameters"), m->parameters[i].name), err,
                             "a binary is compiled already: expected \"launch\": true");
    return 0;
}

int manifest_parse(const char *path, const char *text, size_t length, struct manifest **out, struct error *err)
{
    struct manifest *m = NULL;
    cJSON *tree = NULL;
    struct digest digest;
    *out = NULL;
    int rc = json_parse(text, length, MANIFEST_MAX_BYTES, path, &tree, err);
    if (rc == 0 && !(m = calloc(1, sizeof *m)))
        rc = error_set(err, EXIT_CODE_INTERNAL, "no memory for a manifest");
    if (rc != 0)
        goto out;
    struct json_at root = json_root(tree, path);
    digest_start(&digest);
    digest_add(&digest, text, length);
    digest_finish(&digest, m->hash);
    rc = read_identity(root, path, m, err);
    if (rc == 0)
        rc = read_abilities(root, m, err);
    if (rc == 0)
        rc = read_launch(root, m, err);
    if (rc == 0)
        rc = check_binary(root, m, err);
    if (rc == 0)
        rc = manifest_check_names(m, root, err);
    if (rc == 0)
        rc = manifest_check_constant_maps(m, json_member(root, "arguments"), err);
    if (rc == 0)
        *out = m;
    else
        manifest_free(m);
out:
    cJSON_Delete(tree);
    return rc;
}

int manifest_load(const char *path, struct manifest **out, struct error *err)
{
    char *text = NULL;
    size_t length;
    *out = NULL;
    int rc = file_read(path, MANIFEST_MAX_BYTES, &text, &length, err);
    if (rc == 0)
        rc = manifest_parse(path, text, length, out, err);
    free(text);
    return rc;
}

static void free_rules(struct manifest_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        expr_free(rules[i].rule);
        free(rules[i].why);
    }
}

static void free_argument(struct manifest_argument *a)
{
    for (size_t i = 0; i < a->n_fields; i++)
        expr_free(a->fields[i].value);
    free(a->fields);
    expr_free(a->value);
    manifest_map_free(a->map);
}

void manifest_free(struct manifest *m)
{
    if (!m)
        return;
    for (int i = 0; i < 3; i++) {
        expr_free(m->grid[i]);
        expr_free(m->block[i]);
        expr_free(m->cluster[i]);
    }
    for (size_t i = 0; i < m->n_arguments; i++)
        free_argument(&m->arguments[i]);
    for (size_t i = 0; i < m->n_defines; i++)
        expr_free(m->defines[i].value);
    for (size_t i = 0; i < m->n_terms; i++)
        expr_free(m->terms[i].value);
    free_rules(m->constraints, m->n_constraints);
    free_rules(m->problem_constraints, m->n_problem_constraints);
    expr_free(m->shared_bytes);
    expr_free(m->workspace_bytes);
    expr_free(m->memset_bytes);
    expr_free(m->early);
    free(m->source_path);
    free(m);
}
