/* The shapes of a config: a grid of M, N and K lists, or a list of shapes. */
#include "config/fields.h"

#include <inttypes.h>
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
    error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu shapes", count);
    return EXIT_CODE_INTERNAL;
}

struct sizes {
    int64_t *values; /* owned */
    size_t count;
};

/* One of the grid's lists. */
static int read_sizes(struct json_at at, struct sizes *out, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int count, index;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    if (count > CONFIG_MAX_SHAPES)
        return json_fail(at, err, "%d sizes, the limit is %d", count, CONFIG_MAX_SHAPES);
    out->values = malloc((size_t)count * sizeof *out->values);
    if (!out->values)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %d sizes", count);
    while (json_each(at, &node, &index, &element)) {
        if (read_size(element, &out->values[out->count], err))
            return err->code;
        out->count++;
    }
    return 0;
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
    int64_t m, n, k;
    size_t index;
};

static int by_shape(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->m != y->m)
        return x->m < y->m ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Finds two equal entries and their indices (first < second); sorts the list. Of several pairs the one whose second
 * index is least, so that the answer is the first repeat in the file. */
static bool find_repeat(struct numbered *list, size_t count, size_t *first, size_t *second)
{
    bool found = false;
    qsort(list, count, sizeof *list, by_shape);
    for (size_t i = 1; i < count; i++) {
        const struct numbered *x = &list[i - 1], *y = &list[i];
        if (x->m != y->m || x->n != y->n || x->k != y->k || (found && *second < y->index))
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
        list[i] = (struct numbered){.m = axis->values[i], .index = i};
    int code = 0;
    if (find_repeat(list, axis->count, &first, &second))
        code = json_fail(json_element(at, (int)second), err, "repeats %s[%zu] (%" PRId64 ")", at.path, first,
                         axis->values[second]);
    free(list);
    return code;
}

static int read_grid(struct json_at at, struct config *c, struct error *err)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    struct sizes axis[3] = {{0}, {0}, {0}};
    size_t product = 1;
    config_keys("grid", keys);
    int code = json_only_keys(at, keys, err);
    for (int i = 0; i < 3 && !code; i++) {
        code = read_sizes(json_member(at, keys[i]), &axis[i], err);
        if (!code)
            code = check_sizes(json_member(at, keys[i]), &axis[i], err);
        product *= axis[i].count; /* three factors of at most 1e5 fit into 64 bits */
    }
    if (!code)
        code = allocate(at, product, c, err);
    if (!code)
        fill_grid(c, axis);
    for (int i = 0; i < 3; i++)
        free(axis[i].values);
    return code;
}

static int read_label(struct json_at at, char *out, struct error *err)
{
    const char *label = NULL;
    if (!at.node)
        return 0;
    if (json_read_string(at, &label, err))
        return err->code;
    size_t length = strlen(label);
    if (length >= CONFIG_LABEL_MAX)
        return json_fail(at, err, "longer than %d bytes", CONFIG_LABEL_MAX - 1);
    for (const char *ch = label; *ch; ch++) {
        if ((unsigned char)*ch < 0x20 || *ch == 0x7f)
            return json_fail(at, err, "has a control character");
    }
    memcpy(out, label, length + 1);
    return 0;
}

static int read_shape(struct json_at at, struct shape *out, struct error *err)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    config_keys("shapes[]", keys);
    if (json_only_keys(at, keys, err) || read_size(json_member(at, "m"), &out->m, err) ||
        read_size(json_member(at, "n"), &out->n, err) || read_size(json_member(at, "k"), &out->k, err))
        return err->code;
    return read_label(json_member(at, "label"), out->label, err);
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
        list[i] = (struct numbered){c->shapes[i].m, c->shapes[i].n, c->shapes[i].k, i};
    int code = 0;
    if (find_repeat(list, c->n_shapes, &first, &second)) {
        const struct shape *s = &c->shapes[second];
        code = json_fail(json_element(at, (int)second), err, "repeats %s[%zu] (%" PRId64 "x%" PRId64 "x%" PRId64 ")",
                         at.path, first, s->m, s->n, s->k);
    }
    free(list);
    return code;
}

static int read_list(struct json_at at, struct config *c, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int count, index;
    if (json_read_array(at, 1, &count, err) || allocate(at, (size_t)count, c, err))
        return err->code;
    while (json_each(at, &node, &index, &element)) {
        if (read_shape(element, &c->shapes[c->n_shapes], err))
            return err->code;
        c->n_shapes++;
    }
    return check_shapes(at, c, err);
}

int config_read_shapes(struct json_at root, struct config *c, struct error *err)
{
    struct json_at grid = json_member(root, "grid");
    struct json_at shapes = json_member(root, "shapes");
    if (!grid.node && !shapes.node)
        return json_fail(root, err, "needs \"grid\" or \"shapes\"");
    if (grid.node && shapes.node)
        return json_fail(shapes, err, "cannot go with %s", grid.path);
    return grid.node ? read_grid(grid, c, err) : read_list(shapes, c, err);
}
