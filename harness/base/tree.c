/*
 * tree.c - small helpers to build and read cJSON objects; running out of memory is remembered and told once. Called by
 * everything that makes or reads a result.
 */
#include "base/tree.h"

#include <math.h>

struct tree tree_begin(void)
{
    struct tree t = {.object = cJSON_CreateObject()};
    t.failed = !t.object;
    return t;
}

void tree_put(struct tree *t, const char *key, cJSON *item)
{
    if (!item || !t->object || !cJSON_AddItemToObject(t->object, key, item)) {
        cJSON_Delete(item);
        t->failed = true;
    }
}

void tree_put_number(struct tree *t, const char *key, double value)
{
    tree_put(t, key, json_number(value));
}

void tree_put_text(struct tree *t, const char *key, const char *text)
{
    if (text[0] != '\0')
        tree_put(t, key, cJSON_CreateString(text));
}

void tree_put_count(struct tree *t, const char *key, double value)
{
    if (value != 0)
        tree_put_number(t, key, value);
}

void tree_put_true(struct tree *t, const char *key, bool value)
{
    if (value)
        tree_put(t, key, cJSON_CreateTrue());
}

void tree_put_copy(struct tree *t, const char *key, const cJSON *tree)
{
    if (tree)
        tree_put(t, key, cJSON_Duplicate(tree, true));
}

cJSON *tree_finish(struct tree *t)
{
    if (!t->failed)
        return t->object;
    cJSON_Delete(t->object);
    return NULL;
}

bool tree_append(cJSON *array, cJSON *item)
{
    if (array && item && cJSON_AddItemToArray(array, item))
        return true;
    cJSON_Delete(item);
    cJSON_Delete(array);
    return false;
}

const cJSON *tree_member(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *tree_text(const cJSON *object, const char *key)
{
    const cJSON *item = tree_member(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

double tree_number(const cJSON *object, const char *key)
{
    const cJSON *item = tree_member(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

size_t tree_whole(const cJSON *object, const char *key)
{
    double value = tree_number(object, key);
    return value > 0 && value <= 0x1p53 ? (size_t)value : 0;
}

bool tree_true(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(tree_member(object, key));
}

double round_to(double value, double per_unit)
{
    return round(value * per_unit) / per_unit;
}

const cJSON *tree_first(const cJSON *object)
{
    return cJSON_IsObject(object) ? object->child : NULL;
}
