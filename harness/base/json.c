/*
 * json.c - typed reads of a tree, whose errors name file and JSON path. Relies on cJSON; trees come from json_parse.c,
 * output is in json_print.c. Called by every reader of a file or message.
 */
#include "base/json.h"
#include "base/nearest.h"
#include "base/json_scan.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGER 9007199254740992.0 /* 2^53 */

const char *json_shown(const char *text, char *out)
{
    size_t length = strlen(text);
    bool cut = length > JSON_SHOWN_MAX - 4;
    if (cut) {
        length = JSON_SHOWN_MAX - 4;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
    }
    memcpy(out + length, cut ? "..." : "", cut ? 4 : 1);
    return out;
}

/* A path that does not fit is cut: it is for a reader, who needs its beginning most. */
static void path_add(struct json_at *at, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void path_add(struct json_at *at, const char *format, ...)
{
    size_t used = strlen(at->path);
    va_list args;
    va_start(args, format);
    vsnprintf(at->path + used, sizeof at->path - used, format, args);
    va_end(args);
}

static bool plain_key(const char *key)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t length = strlen(key);
    return length > 0 && length <= 40 && strspn(key, allowed) == length;
}

struct json_at json_root(const cJSON *node, const char *source)
{
    return (struct json_at){.node = node, .source = source, .path = "$"};
}

struct json_at json_member(struct json_at at, const char *key)
{
    char shown[JSON_SHOWN_MAX];
    at.node = cJSON_IsObject(at.node) ? cJSON_GetObjectItemCaseSensitive(at.node, key) : NULL;
    if (plain_key(key))
        path_add(&at, ".%s", key);
    else
        path_add(&at, "[\"%s\"]", json_shown(key, shown));
    return at;
}

struct json_at json_element(struct json_at at, int index)
{
    at.node = cJSON_IsArray(at.node) ? cJSON_GetArrayItem(at.node, index) : NULL;
    path_add(&at, "[%d]", index);
    return at;
}

bool json_each(struct json_at array, const cJSON **node, int *index, struct json_at *element)
{
    *index = *node ? *index + 1 : 0;
    *node = *node ? (*node)->next : cJSON_IsArray(array.node) ? array.node->child : NULL;
    if (!*node)
        return false;
    *element = array;
    element->node = *node;
    path_add(element, "[%d]", *index);
    return true;
}

int json_fail(struct json_at at, struct error *err, const char *format, ...)
{
    char message[480];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(err, EXIT_CODE_DATA, "%s: %s: %s", at.source, at.path, message);
}

/* A short picture of a value for "..., found <this>"; strings, numbers and words as they are, containers by kind. */
static const char *found(const cJSON *node, char out[JSON_SHOWN_MAX + 4])
{
    char shown[JSON_SHOWN_MAX];
    if (cJSON_IsNumber(node))
        snprintf(out, JSON_SHOWN_MAX, "%.15g", node->valuedouble);
    else if (cJSON_IsString(node))
        snprintf(out, JSON_SHOWN_MAX + 4, "\"%s\"", json_shown(node->valuestring, shown));
    else
        snprintf(out, JSON_SHOWN_MAX, "%s",
                 cJSON_IsObject(node)  ? "an object"
                 : cJSON_IsArray(node) ? "an array"
                 : cJSON_IsTrue(node)  ? "true"
                 : cJSON_IsFalse(node) ? "false"
                                       : "null");
    return out;
}

int json_expected(struct json_at at, struct error *err, const char *what)
{
    char value[JSON_SHOWN_MAX + 4];
    if (!at.node)
        return json_fail(at, err, "is missing: expected %s", what);
    return json_fail(at, err, "expected %s, found %s", what, found(at.node, value));
}

/* "a, b, c", cut where it does not fit. */
static void join(const char *const names[], char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; names[i] && used < capacity; i++) {
        int more = snprintf(out + used, capacity - used, "%s%s", i ? ", " : "", names[i]);
        used += more > 0 ? (size_t)more : 0;
    }
}

static int index_of(const char *const names[], const char *wanted)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], wanted) == 0)
            return i;
    }
    return -1;
}

static size_t count_of(const char *const names[])
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

static int refuse_key(struct json_at at, const char *key, const char *const keys[], struct error *err)
{
    char list[360];
    char shown[JSON_SHOWN_MAX];
    const char *near = nearest_name(key, keys, count_of(keys));
    if (near)
        return json_fail(at, err, "unknown key \"%s\" (did you mean %s?)", json_shown(key, shown), near);
    join(keys, list, sizeof list);
    return json_fail(at, err, "unknown key \"%s\" (expected %s)", json_shown(key, shown), list);
}

int json_unknown_key(struct json_at at, const char *const keys[], const cJSON **key, struct error *err)
{
    *key = *key ? (*key)->next : at.node->child;
    while (*key && index_of(keys, (*key)->string) >= 0)
        *key = (*key)->next;
    return *key ? refuse_key(at, (*key)->string, keys, err) : 0;
}

int json_only_keys(struct json_at at, const char *const keys[], struct error *err)
{
    const cJSON *key = NULL;
    if (!cJSON_IsObject(at.node))
        return json_expected(at, err, "an object");
    return json_unknown_key(at, keys, &key, err);
}

int json_read_int(struct json_at at, int64_t low, int64_t high, int64_t *out, struct error *err)
{
    char what[80];
    double value = cJSON_IsNumber(at.node) ? at.node->valuedouble : NAN;
    if (fabs(value) <= EXACT_INTEGER && value == floor(value) && (int64_t)value >= low && (int64_t)value <= high) {
        *out = (int64_t)value;
        return 0;
    }
    if (low == high)
        snprintf(what, sizeof what, "%" PRId64, low);
    else
        snprintf(what, sizeof what, "an integer from %" PRId64 " to %" PRId64, low, high);
    return json_expected(at, err, what);
}

int json_read_number(struct json_at at, double low, double high, double *out, struct error *err)
{
    char what[80];
    if (cJSON_IsNumber(at.node) && at.node->valuedouble >= low && at.node->valuedouble <= high) {
        *out = at.node->valuedouble;
        return 0;
    }
    snprintf(what, sizeof what, "a number from %g to %g", low, high);
    return json_expected(at, err, what);
}

int json_read_bool(struct json_at at, bool *out, struct error *err)
{
    if (!cJSON_IsBool(at.node))
        return json_expected(at, err, "true or false");
    *out = cJSON_IsTrue(at.node);
    return 0;
}

int json_read_string(struct json_at at, const char **out, struct error *err)
{
    if (!cJSON_IsString(at.node) || !at.node->valuestring[0])
        return json_expected(at, err, "a non-empty string");
    *out = at.node->valuestring;
    return 0;
}

int json_read_choice(struct json_at at, const char *const names[], int *out, struct error *err)
{
    char list[360];
    char what[380];
    int index = cJSON_IsString(at.node) ? index_of(names, at.node->valuestring) : -1;
    if (index >= 0) {
        *out = index;
        return 0;
    }
    join(names, list, sizeof list);
    snprintf(what, sizeof what, "%s%s", names[0] && names[1] ? "one of " : "", list);
    return json_expected(at, err, what);
}

int json_read_array(struct json_at at, int minimum, int *count, struct error *err)
{
    char what[80], shown[JSON_SHOWN_MAX];
    int size = cJSON_IsArray(at.node) ? cJSON_GetArraySize(at.node) : -1;
    if (size < 0 && cJSON_IsString(at.node))
        return json_fail(at, err, "expected an array, found \"%.60s\" (write [\"%.60s\"])",
                         json_shown(at.node->valuestring, shown), shown);
    if (size < 0)
        return json_expected(at, err, "an array");
    if (size < minimum) {
        snprintf(what, sizeof what, "an array of at least %d", minimum);
        return json_fail(at, err, "expected %s, found %d", what, size);
    }
    *count = size;
    return 0;
}

cJSON *json_number(double value)
{
    return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

void json_put_number(cJSON *object, const char *key, double value)
{
    cJSON_AddItemToObject(object, key, json_number(value));
}

void json_put_u64(cJSON *object, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    cJSON_AddStringToObject(object, key, text);
}

int json_read_u64(struct json_at at, uint64_t *out, struct error *err)
{
    static const char what[] = "an integer from 0 to 2^53, or one below 2^64 as a decimal string";
    int64_t integer = 0;
    struct error ignored = {0};
    if (cJSON_IsString(at.node)) {
        const char *text = at.node->valuestring;
        size_t length = strlen(text);
        errno = 0;
        uint64_t value = strtoull(text, NULL, 10);
        bool plain = length > 0 && strspn(text, "0123456789") == length && (length == 1 || text[0] != '0');
        if (!plain || errno == ERANGE)
            return json_expected(at, err, what);
        *out = value;
        return 0;
    }
    if (json_read_int(at, 0, (int64_t)EXACT_INTEGER, &integer, &ignored))
        return json_expected(at, err, what);
    *out = (uint64_t)integer;
    return 0;
}

int json_read_head(struct json_at root, const char *schema, int version, const char *const keys[], struct error *err)
{
    const char *const schemas[] = {schema, NULL};
    int which;
    int64_t found;
    if (cJSON_IsObject(root.node) &&
        (json_read_choice(json_member(root, "schema"), schemas, &which, err) ||
         json_read_int(json_member(root, "schema_version"), version, version, &found, err)))
        return err->code;
    return json_only_keys(root, keys, err);
}
