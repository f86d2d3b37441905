/*
 * record_series.c - times by block as the short text of series_text.c, with blocks that are regular left out. Relies
 * on record_form.c. Called by record_read.c and record_write.c.
 */
#include <math.h>
#include <stdlib.h>

#include "record/record_form.h"
#include "record/series_text.h"
#include "base/tree.h"

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

static cJSON *write_values(const struct series *s, double step_tenths)
{
    char *text = series_text_write(s->ns, s->n, step_tenths);
    cJSON *string = text ? cJSON_CreateString(text) : NULL;
    free(text);
    return string;
}

cJSON *form_write_series(const struct series *s, unsigned stride, double step_tenths)
{
    unsigned actual = form_stride(s);
    cJSON *values = write_values(s, step_tenths);
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

/* Which block each value belongs to: every stride-th, or listed. */
struct placement {
    unsigned stride;
    struct json_at list; /* .node NULL: use stride */
    unsigned blocks;     /* of the cell */
};

static int listed_block(struct json_at list, const cJSON *node, int index, double *out, struct error *err)
{
    if (json_read_number(json_element(list, index), 0, FORM_BLOCKS_MAX, out, err))
        return err->code;
    return node->valuedouble == floor(node->valuedouble)
               ? 0
               : json_fail(json_element(list, index), err, "expected an integer");
}

/* The block of the next value of `out`; `listed` is its node in p->list, when there is one. */
static int next_block(const struct placement *p, const cJSON *listed, const struct series *out, unsigned *block,
                      struct error *err)
{
    double value = (double)out->n * p->stride;
    if (p->list.node && !listed)
        return json_fail(p->list, err, "has fewer elements than the values it goes with");
    if (listed && listed_block(p->list, listed, (int)out->n, &value, err))
        return err->code;
    if (value >= p->blocks)
        return json_fail(p->list, err, "value %zu is of block %.0f, but the cell has %u blocks", out->n, value,
                         p->blocks);
    if (out->n > 0 && value <= out->block[out->n - 1])
        return json_fail(p->list, err, "blocks must ascend");
    *block = (unsigned)value;
    return 0;
}

static int read_elements(struct json_at values, struct series_text *text, const struct placement *p, struct series *out,
                         struct error *err)
{
    const cJSON *listed = p->list.node ? p->list.node->child : NULL;
    double ns;
    int code = 0;
    for (int got; code == 0 && (got = series_text_next(text, &ns)) != 0;) {
        unsigned block = 0;
        code = got < 0 ? json_fail(values, err,
                                   "expected numbers as record/series_text.h packs them; value %zu is none", out->n)
                       : next_block(p, listed, out, &block, err);
        if (code == 0 && series_add(out, block, ns))
            code = form_no_memory(values, err);
        listed = listed ? listed->next : NULL;
    }
    if (code == 0 && listed)
        code = json_fail(p->list, err, "has more elements than the values it goes with");
    return code;
}

static int read_values(struct json_at values, const struct placement *p, struct series *out, struct error *err)
{
    struct series_text text;
    const char *string;
    if (json_read_string(values, &string, err))
        return err->code;
    if (!series_text_open(string, &text))
        return json_fail(values, err, "expected \"step:shortest:digits\"");
    if (*text.rest == '\0')
        return json_fail(values, err, "expected at least one value");
    return read_elements(values, &text, p, out, err);
}

/* Reads "every" or "block" of the object form. */
static int read_places(struct json_at at, struct placement *p, struct error *err)
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
    struct placement places = {.stride = place->stride, .list = at, .blocks = place->blocks};
    places.list.node = NULL; /* the place itself serves messages */
    if (!at.node)
        return 0;
    if (!cJSON_IsObject(at.node))
        return read_values(at, &places, out, err);
    if (read_places(at, &places, err))
        return err->code;
    return read_values(json_member(at, "values"), &places, out, err);
}
