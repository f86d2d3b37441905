#include "result/record_form.h"

#include <stdlib.h>
#include <string.h>

const char *const equal_path_names[] = {"equal_path_device", "equal_path_event", "equal_path_wall", NULL};

int form_no_memory(struct json_at at, struct error *err)
{
    return error_set(err, EXIT_CODE_INTERNAL, "%s: %s: out of memory", at.source, at.path);
}

/* Optional members: absent leaves *out as it is. */
int form_take_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err)
{
    const char *text;
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (json_read_string(at, &text, err))
        return err->code;
    if (strlen(text) >= capacity)
        return json_fail(at, err, "longer than %zu bytes", capacity - 1);
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

int form_need_text(struct json_at object, const char *key, char *out, size_t capacity, struct error *err)
{
    if (!json_member(object, key).node)
        return json_fail(json_member(object, key), err, "is missing");
    return form_take_text(object, key, out, capacity, err);
}

int form_take_unsigned(struct json_at object, const char *key, unsigned *out, struct error *err)
{
    int64_t value = 0;
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (json_read_int(at, 0, FORM_BLOCKS_MAX, &value, err))
        return err->code;
    *out = (unsigned)value;
    return 0;
}

int form_take_bool(struct json_at object, const char *key, bool *out, struct error *err)
{
    struct json_at at = json_member(object, key);
    return at.node ? json_read_bool(at, out, err) : 0;
}

int form_take_number(struct json_at object, const char *key, double high, double *out, struct error *err)
{
    struct json_at at = json_member(object, key);
    return at.node ? json_read_number(at, 0, high, out, err) : 0;
}

int form_take_tree(struct json_at object, const char *key, cJSON **out, struct error *err)
{
    struct json_at at = json_member(object, key);
    if (!at.node)
        return 0;
    if (!cJSON_IsObject(at.node) && !cJSON_IsArray(at.node))
        return json_fail(at, err, "expected an object or an array");
    *out = cJSON_Duplicate(at.node, true);
    return *out ? 0 : form_no_memory(at, err);
}

/* The element's number, checked; the path is built for the message alone, since there are hundreds of them a cell. */
static int element_number(struct json_at array, const cJSON *node, int index, double *out, struct error *err)
{
    if (cJSON_IsNumber(node) && node->valuedouble >= 0 && node->valuedouble <= FORM_TIME_MAX) {
        *out = node->valuedouble;
        return 0;
    }
    return json_read_number(json_element(array, index), 0, FORM_TIME_MAX, out, err);
}

/* Which block each value belongs to: all in turn, every s-th, or listed. */
struct places {
    unsigned stride;
    struct json_at list; /* .node NULL: use stride */
    unsigned blocks;     /* of the cell */
};

static int next_block(const struct places *p, const cJSON *listed, size_t i, struct series *out, unsigned *block,
                      struct error *err)
{
    int64_t value = (int64_t)i * p->stride;
    if (p->list.node && (!listed || json_read_int(json_element(p->list, (int)i), 0, FORM_BLOCKS_MAX, &value, err)))
        return listed ? err->code : json_fail(p->list, err, "has fewer elements than the values it goes with");
    if (value >= p->blocks)
        return json_fail(p->list, err, "value %zu is of block %lld, but the cell has %u blocks", i, (long long)value,
                         p->blocks);
    if (out->n > 0 && value <= out->block[out->n - 1])
        return json_fail(p->list, err, "blocks must ascend");
    *block = (unsigned)value;
    return 0;
}

static int read_values(struct json_at values, const struct places *p, struct series *out, struct error *err)
{
    int count = 0;
    int code = json_read_array(values, 1, &count, err);
    const cJSON *listed = p->list.node ? p->list.node->child : NULL;
    int index = 0;
    const cJSON *node = code == 0 ? values.node->child : NULL;
    for (; node && code == 0; node = node->next, index++) {
        double ns = 0;
        unsigned block = 0;
        code = next_block(p, listed, (size_t)index, out, &block, err);
        if (code == 0)
            code = element_number(values, node, index, &ns, err);
        if (code == 0 && series_add(out, block, ns))
            code = form_no_memory(values, err);
        listed = listed ? listed->next : NULL;
    }
    if (code == 0 && listed)
        code = json_fail(p->list, err, "has more elements than the values it goes with");
    return code;
}

/* The three forms of series_to_json; `unit` names the values ("ns", "us"). */
int form_read_series(struct json_at at, const char *unit, unsigned blocks, struct series *out, struct error *err)
{
    struct places places = {.stride = 1, .list = at, .blocks = blocks};
    const char *const keys[] = {"every", "block", unit, NULL};
    places.list.node = NULL;
    if (!at.node)
        return 0;
    if (cJSON_IsArray(at.node))
        return read_values(at, &places, out, err);
    int code = json_only_keys(at, keys, err);
    struct json_at every = json_member(at, "every");
    struct json_at list = json_member(at, "block");
    if (code == 0 && !every.node == !list.node)
        code = json_fail(at, err, "expected one of \"every\" and \"block\"");
    int64_t stride = 1;
    int count;
    if (code == 0 && every.node)
        code = json_read_int(every, 1, FORM_BLOCKS_MAX, &stride, err);
    if (code == 0 && list.node)
        code = json_read_array(list, 1, &count, err);
    places.stride = (unsigned)stride;
    if (list.node)
        places.list = list;
    return code ? code : read_values(json_member(at, unit), &places, out, err);
}
