/*
 * record_form.c - reads of a record's JSON that give a clear error, and the sizes and names that writer and reader
 * share. Called by record_read.c, record_series.c and record_write.c only.
 */
#include "record/record_form.h"

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
