/*
 * shapes.c - the shapes of a config: a grid of M, N and K lists, or a list of shapes. Relies on fields.c. Called by
 * config.c; cli/shapes.c and serve/submission.c have it read one shape.
 */
#include "config/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_size(struct json_at at, int64_t *out, struct error *err)
{
    return json_read_int(at, 1, CONFIG_MAX_SIZE, out, err);
}

static int allocate(struct json_at at, size_t count, struct config *c, struct error *err)
{
    if (count == 0 || count > CONFIG_MAX_SHAPES)
        return json_fail(at, err, "%zu shapes, the limit is %d", count, CONFIG_MAX_SHAPES);
    c->shapes = calloc(count, sizeof *c->shapes);
    if (c->shapes)
        return 0;
    return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu shapes", count);
}

struct sizes {
    int64_t *values; /* owned */
    size_t count;
};

/* One of the grid's lists. */
static void read_sizes(struct json_at at, struct sizes *out, struct faults *faults)
{
    const cJSON *node = NULL;
    struct json_at element;
    struct error err;
    int count = 0, index;
    int code = json_read_array(at, 1, &count, &err);
    if (!code && count > CONFIG_MAX_SHAPES)
        code = json_fail(at, &err, "%d sizes, the limit is %d", count, CONFIG_MAX_SHAPES);
    out->values = code ? NULL : malloc((size_t)count * sizeof *out->values);
    if (!code && !out->values)
        code = error_set(&err, EXIT_CODE_INTERNAL, "no memory for %d sizes", count);
    if (!faults_none(faults, code, &err))
        return;
    while (json_each(at, &node, &index, &element))
        faults_none(faults, read_size(element, &out->values[out->count++], &err), &err);
}

/* m outermost, k innermost. */
static void fill_grid(struct config *c, const struct sizes axis[3])
{
    for (size_t i = 0; i < axis[0].count; i++) {
        for (size_t j = 0; j < axis[1].count; j++) {
            for (size_t l = 0; l < axis[2].count; l++)
                c->shapes[c->n_shapes++] =
                    (struct shape){.m = axis[0].values[i], .n = axis[1].values[j], .k = axis[2].values[l]};
        }
    }
}

struct numbered {
    struct shape shape; /* of a list of sizes only m */
    size_t index;
};

static int compare_sizes(const struct shape *a, const struct shape *b)
{
    const int64_t left[] = {a->m, a->n, a->k, a->lda, a->ldb, a->ldc};
    const int64_t right[] = {b->m, b->n, b->k, b->lda, b->ldb, b->ldc};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    if (a->alpha != b->alpha)
        return a->alpha < b->alpha ? -1 : 1;
    return a->beta != b->beta ? (a->beta < b->beta ? -1 : 1) : 0;
}

static int by_shape(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int order = compare_sizes(&x->shape, &y->shape);
    return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

/* Finds two equal entries and their indices (first < second); sorts the list. Of several pairs the one whose second
 * index is least, so that the answer is the first repeat in the file. */
static bool find_repeat(struct numbered *list, size_t count, size_t *first, size_t *second)
{
    bool found = false;
    qsort(list, count, sizeof *list, by_shape);
    for (size_t i = 1; i < count; i++) {
        const struct numbered *x = &list[i - 1], *y = &list[i];
        if (!shape_equal(&x->shape, &y->shape) || (found && *second < y->index))
            continue;
        *first = x->index;
        *second = y->index;
        found = true;
    }
    return found;
}

static int check_sizes(struct json_at at, const struct sizes *axis, struct error *err)
{
    size_t first, second;
    if (axis->count < 2)
        return 0;
    struct numbered *list = calloc(axis->count, sizeof *list);
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu sizes", axis->count);
    for (size_t i = 0; i < axis->count; i++)
        list[i] = (struct numbered){.shape.m = axis->values[i], .index = i};
    int code = 0;
    if (find_repeat(list, axis->count, &first, &second))
        code = json_fail(json_element(at, (int)second), err, "repeats %s[%zu] (%" PRId64 ")", at.path, first,
                         axis->values[second]);
    free(list);
    return code;
}

/* The product of three lists, of at most 1e5 each, fits into 64 bits. */
static void read_grid(struct json_at at, struct config *c, struct faults *faults)
{
    static const char *const keys[] = {"m", "n", "k"};
    struct sizes axis[3] = {{0}, {0}, {0}};
    size_t before = faults->count;
    config_check_keys(at, "grid", faults);
    for (int i = 0; i < 3 && cJSON_IsObject(at.node); i++) {
        struct json_at list = json_member(at, keys[i]);
        struct error err;
        read_sizes(list, &axis[i], faults);
        if (faults->count == before)
            faults_none(faults, check_sizes(list, &axis[i], &err), &err);
    }
    struct error err;
    if (faults->count == before &&
        faults_none(faults, allocate(at, axis[0].count * axis[1].count * axis[2].count, c, &err), &err))
        fill_grid(c, axis);
    for (int i = 0; i < 3; i++)
        free(axis[i].values);
}

/* Takes over what the problem's own check has left of leading dimensions, alpha and beta. */
static int settle_args(const char *args, struct shape *s, struct error *err)
{
    struct cudal2_problem p = shape_problem(s, CUDAL2_F16, CUDAL2_ACC_F16);
    int code = args ? problem_args_parse(args, &p, err) : problem_args_check(&p, err);
    s->lda = p.lda;
    s->ldb = p.ldb;
    s->ldc = p.ldc;
    s->alpha = p.alpha;
    s->beta = p.beta;
    return code;
}

int shape_parse(const char *text, struct shape *out, struct error *err)
{
    long long m = 0, n = 0, k = 0;
    int used = 0;
    *out = (struct shape){0};
    bool good =
        sscanf(text, "%7lldx%7lldx%7lld%n", &m, &n, &k, &used) == 3 && (text[used] == '\0' || text[used] == ':');
    if (!good || m < 1 || n < 1 || k < 1 || m > CONFIG_MAX_SIZE || n > CONFIG_MAX_SIZE || k > CONFIG_MAX_SIZE)
        return error_set(err, EXIT_CODE_DATA, "expected MxNxK, as in 64x96x128, each from 1 to %d, found \"%.60s\"",
                         CONFIG_MAX_SIZE, config_text_plain(text) ? text : "(control characters)");
    *out = (struct shape){.m = m, .n = n, .k = k};
    return text[used] == '\0' ? 0 : settle_args(text + used + 1, out, err);
}

static void read_text_shape(struct json_at at, struct shape *out, struct faults *faults)
{
    struct error cause, err;
    if (!shape_parse(at.node->valuestring, out, &cause))
        return;
    faults_none(faults, json_fail(at, &err, "%s", cause.text), &err);
}

static int read_scale(struct json_at at, double *out, struct error *err)
{
    return json_read_number(at, -PROBLEM_SCALE_MAX, PROBLEM_SCALE_MAX, out, err);
}

/* lda, ldb, ldc, alpha and beta of an object, each of which may be absent. */
static void read_args(struct json_at at, struct shape *out, struct faults *faults)
{
    const char *const keys[] = {"lda", "ldb", "ldc"};
    int64_t *const values[] = {&out->lda, &out->ldb, &out->ldc};
    const struct json_at alpha = json_member(at, "alpha"), beta = json_member(at, "beta");
    size_t before = faults->count;
    struct error cause, err;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct json_at member = json_member(at, keys[i]);
        if (member.node)
            faults_none(faults, read_size(member, values[i], &err), &err);
    }
    if (alpha.node && faults_none(faults, read_scale(alpha, &out->alpha, &err), &err) && out->alpha == 0)
        faults_none(faults, json_expected(alpha, &err, "another number than 0"), &err);
    if (beta.node)
        faults_none(faults, read_scale(beta, &out->beta, &err), &err);
    if (faults->count == before && settle_args(NULL, out, &cause))
        faults_none(faults, json_fail(at, &err, "%s", cause.text), &err);
}

static void read_shape(struct json_at at, struct shape *out, struct faults *faults)
{
    struct json_at label = json_member(at, "label");
    size_t before = faults->count;
    struct error err;
    if (cJSON_IsString(at.node)) {
        read_text_shape(at, out, faults);
        return;
    }
    if (!cJSON_IsObject(at.node)) {
        faults_none(faults, json_expected(at, &err, "\"MxNxK\" or an object"), &err);
        return;
    }
    config_check_keys(at, "shapes[]", faults);
    faults_none(faults, read_size(json_member(at, "m"), &out->m, &err), &err);
    faults_none(faults, read_size(json_member(at, "n"), &out->n, &err), &err);
    faults_none(faults, read_size(json_member(at, "k"), &out->k, &err), &err);
    if (faults->count == before)
        read_args(at, out, faults);
    if (label.node)
        faults_none(faults, config_read_short(label, out->label, &err), &err);
}

static int check_shapes(struct json_at at, const struct config *c, struct error *err)
{
    size_t first, second;
    if (c->n_shapes < 2)
        return 0;
    struct numbered *list = calloc(c->n_shapes, sizeof *list);
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu shapes", c->n_shapes);
    for (size_t i = 0; i < c->n_shapes; i++)
        list[i] = (struct numbered){.shape = c->shapes[i], .index = i};
    int code = 0;
    if (find_repeat(list, c->n_shapes, &first, &second)) {
        const struct shape *s = &c->shapes[second];
        code = json_fail(json_element(at, (int)second), err, "repeats %s[%zu] (%" PRId64 "x%" PRId64 "x%" PRId64 ")",
                         at.path, first, s->m, s->n, s->k);
    }
    free(list);
    return code;
}

static void read_list(struct json_at at, struct config *c, struct faults *faults)
{
    const cJSON *node = NULL;
    struct json_at element;
    struct error err;
    size_t before = faults->count;
    int count = 0, index;
    int code = json_read_array(at, 1, &count, &err);
    if (!code)
        code = allocate(at, (size_t)count, c, &err);
    if (!faults_none(faults, code, &err))
        return;
    while (json_each(at, &node, &index, &element))
        read_shape(element, &c->shapes[c->n_shapes++], faults);
    if (faults->count == before)
        faults_none(faults, check_shapes(at, c, &err), &err);
}

void config_read_shapes(struct json_at root, struct config *c, struct faults *faults)
{
    struct json_at grid = json_member(root, "grid"), shapes = json_member(root, "shapes");
    struct error err;
    if (!grid.node && !shapes.node)
        faults_none(
            faults,
            json_fail(root, &err,
                      "needs \"shapes\" or \"grid\" (the smallest config is {\"shapes\": [\"4096x4096x4096\"]})"),
            &err);
    else if (grid.node && shapes.node)
        faults_none(faults, json_fail(shapes, &err, "cannot go with %s", grid.path), &err);
    else if (grid.node)
        read_grid(grid, c, faults);
    else
        read_list(shapes, c, faults);
}
