#include <math.h>
#include <stdlib.h>

#include "result/record_form.h"
#include "result/tree.h"

/* ---- writing ---- */

cJSON *form_write_counts(const unsigned *values, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < n; i++)
        if (!tree_append(array, cJSON_CreateNumber((double)values[i])))
            return NULL;
    return array;
}

unsigned form_stride(const struct series *s)
{
    unsigned stride = s->n > 1 ? s->block[1] : 1;
    for (size_t i = 0; i < s->n; i++)
        if (s->block[i] != i * stride)
            return 0;
    return stride;
}

/* How many of the smallest kept steps make a nanosecond, by the series' shortest time. */
static double steps_per_ns(double shortest_ns)
{
    return round(shortest_ns * 10) / 10 < FORM_COARSE_NS ? 10 : 1;
}

static double shortest_of(const struct series *s)
{
    double shortest = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        shortest = fmin(shortest, s->ns[i]);
    return shortest;
}

static cJSON *write_times(const struct series *s)
{
    double steps = steps_per_ns(shortest_of(s));
    double base = round(shortest_of(s) * steps);
    cJSON *array = cJSON_CreateArray();
    if (!array || !tree_append(array, json_number(base / steps)))
        return NULL;
    for (size_t i = 0; i < s->n; i++)
        if (!tree_append(array, json_number(round(s->ns[i] * steps) - base)))
            return NULL;
    return array;
}

static cJSON *write_integers(const struct series *s)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < s->n; i++)
        if (!tree_append(array, json_number(round(s->ns[i]))))
            return NULL;
    return array;
}

cJSON *form_write_series(const struct series *s, enum form_values form, unsigned stride)
{
    unsigned actual = form_stride(s);
    cJSON *values = form == FORM_TIMES ? write_times(s) : write_integers(s);
    if (actual == stride || !values)
        return values;
    struct tree t = tree_begin();
    if (actual > 0)
        tree_put_number(&t, "every", actual);
    else
        tree_put(&t, "block", form_write_counts(s->block, s->n));
    tree_put(&t, "values", values);
    return tree_finish(&t);
}

/* ---- reading ---- */

/* Which block each value belongs to (every stride-th, or listed), and what an element stands for: (base + element) /
 * steps nanoseconds, or units. */
struct places {
    unsigned stride;
    struct json_at list; /* .node NULL: use stride */
    unsigned blocks;     /* of the cell */
    int skip;            /* elements before the first value */
    double base, steps;
};

/* The element's number, checked; the path is built for the message alone, since there are hundreds of them a cell. */
static int element_number(struct json_at array, const cJSON *node, int index, double *out, struct error *err)
{
    if (cJSON_IsNumber(node) && node->valuedouble >= 0 && node->valuedouble <= FORM_TIME_MAX) {
        *out = node->valuedouble;
        return 0;
    }
    return json_read_number(json_element(array, index), 0, FORM_TIME_MAX, out, err);
}

static int element_integer(struct json_at array, const cJSON *node, int index, double *out, struct error *err)
{
    if (element_number(array, node, index, out, err))
        return err->code;
    return *out == floor(*out) ? 0 : json_fail(json_element(array, index), err, "expected an integer");
}

/* The block of the next value of `out`; `listed` is its node in p->list, when there is one. */
static int next_block(const struct places *p, const cJSON *listed, const struct series *out, unsigned *block,
                      struct error *err)
{
    double value = (double)out->n * p->stride;
    if (p->list.node && !listed)
        return json_fail(p->list, err, "has fewer elements than the values it goes with");
    if (listed && element_integer(p->list, listed, (int)out->n, &value, err))
        return err->code;
    if (value >= p->blocks)
        return json_fail(p->list, err, "value %zu is of block %.0f, but the cell has %u blocks", out->n, value,
                         p->blocks);
    if (out->n > 0 && value <= out->block[out->n - 1])
        return json_fail(p->list, err, "blocks must ascend");
    *block = (unsigned)value;
    return 0;
}

static int read_elements(struct json_at values, const struct places *p, struct series *out, struct error *err)
{
    const cJSON *listed = p->list.node ? p->list.node->child : NULL;
    const cJSON *node = p->skip ? values.node->child->next : values.node->child;
    int code = 0;
    for (int index = p->skip; node && code == 0; node = node->next, index++) {
        double element = 0;
        unsigned block = 0;
        code = next_block(p, listed, out, &block, err);
        if (code == 0)
            code = element_integer(values, node, index, &element, err);
        if (code == 0 && series_add(out, block, (p->base + element) / p->steps))
            code = form_no_memory(values, err);
        listed = listed ? listed->next : NULL;
    }
    if (code == 0 && listed)
        code = json_fail(p->list, err, "has more elements than the values it goes with");
    return code;
}

static int read_values(struct json_at values, enum form_values form, struct places *p, struct series *out,
                       struct error *err)
{
    int count = 0;
    double base;
    p->skip = form == FORM_TIMES ? 1 : 0;
    p->steps = 1;
    if (json_read_array(values, p->skip + 1, &count, err))
        return err->code;
    if (form == FORM_TIMES) {
        if (element_number(values, values.node->child, 0, &base, err))
            return err->code;
        p->steps = steps_per_ns(base);
        p->base = round(base * p->steps);
    }
    return read_elements(values, p, out, err);
}

/* Reads "every" or "block" of the object form. */
static int read_places(struct json_at at, struct places *p, struct error *err)
{
    static const char *const keys[] = {"every", "block", "values", NULL};
    struct json_at every = json_member(at, "every");
    struct json_at list = json_member(at, "block");
    int64_t stride = 1;
    int count;
    if (json_only_keys(at, keys, err))
        return err->code;
    if (!every.node == !list.node)
        return json_fail(at, err, "expected one of \"every\" and \"block\"");
    if (every.node && json_read_int(every, 1, FORM_BLOCKS_MAX, &stride, err))
        return err->code;
    if (list.node && json_read_array(list, 1, &count, err))
        return err->code;
    p->stride = (unsigned)stride;
    if (list.node)
        p->list = list;
    return 0;
}

int form_read_series(struct json_at at, const struct form_place *place, struct series *out, struct error *err)
{
    struct places places = {.stride = place->stride, .list = at, .blocks = place->blocks};
    places.list.node = NULL; /* the place itself serves messages */
    if (!at.node)
        return 0;
    if (cJSON_IsArray(at.node))
        return read_values(at, place->form, &places, out, err);
    if (read_places(at, &places, err))
        return err->code;
    return read_values(json_member(at, "values"), place->form, &places, out, err);
}
