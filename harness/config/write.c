/*
 * write.c - a config as JSON again, every default filled in: what the journal keeps. config_parse reads it back. Relies
 * on fields.c. Called by run/ledger.c, run/measuring.c and cli/confirm.c.
 */
#include "config/config.h"
#include "config/fields.h"

#include <string.h>

static void put_bits(cJSON *root, const char *key, const char *const names[], uint32_t bits)
{
    cJSON *array = cJSON_AddArrayToObject(root, key);
    for (int i = 0; names[i]; i++) {
        if (bits & (1u << i))
            cJSON_AddItemToArray(array, cJSON_CreateString(names[i]));
    }
}

static void put_names(cJSON *root, const char *key, char *const names[])
{
    cJSON *array = cJSON_AddArrayToObject(root, key);
    for (int i = 0; names[i]; i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(names[i]));
}

static void put_unless_zero(cJSON *shape, const char *key, double value)
{
    if (value != 0)
        json_put_number(shape, key, value);
}

/* Always the list: the grid it came from is one way to write it. */
static void put_shapes(cJSON *root, const struct config *c)
{
    cJSON *array = cJSON_AddArrayToObject(root, "shapes");
    for (size_t i = 0; i < c->n_shapes; i++) {
        const struct shape *s = &c->shapes[i];
        cJSON *item = cJSON_CreateObject();
        json_put_number(item, "m", (double)s->m);
        json_put_number(item, "n", (double)s->n);
        json_put_number(item, "k", (double)s->k);
        put_unless_zero(item, "lda", (double)s->lda);
        put_unless_zero(item, "ldb", (double)s->ldb);
        put_unless_zero(item, "ldc", (double)s->ldc);
        put_unless_zero(item, "alpha", s->alpha);
        put_unless_zero(item, "beta", s->beta);
        if (s->label[0])
            cJSON_AddStringToObject(item, "label", s->label);
        cJSON_AddItemToArray(array, item);
    }
}

static void put_fields(cJSON *root, const struct config *c)
{
    for (int i = 0; config_sections[i]; i++)
        cJSON_AddObjectToObject(root, config_sections[i]);
    for (size_t i = 0; i < config_n_fields; i++) {
        const char *section = config_fields[i].section;
        cJSON *object = section[0] ? cJSON_GetObjectItemCaseSensitive(root, section) : root;
        config_field_write(&config_fields[i], c, object);
    }
}

/* One name, or the headline's and those that are taken beside it because they were asked for. */
static void put_timings(cJSON *root, const struct config *c)
{
    uint32_t asked = c->timings & ~timing_defaults() & ~CUDAL2_BIT(c->headline);
    if (!c->headline_given)
        return;
    if (asked == 0) {
        cJSON_AddStringToObject(root, "timing", timing_names[c->headline]);
        return;
    }
    cJSON *array = cJSON_AddArrayToObject(root, "timing");
    cJSON_AddItemToArray(array, cJSON_CreateString(timing_names[c->headline]));
    for (int t = 0; t < TIMING_COUNT; t++)
        if (asked & CUDAL2_BIT(t))
            cJSON_AddItemToArray(array, cJSON_CreateString(timing_names[t]));
}

cJSON *config_to_json(const struct config *c)
{
    cJSON *root = cJSON_CreateObject();
    if (!root)
        return NULL;
    cJSON_AddStringToObject(root, "schema", CONFIG_SCHEMA);
    json_put_number(root, "schema_version", 1);
    cJSON_AddStringToObject(root, "name", c->name);
    put_shapes(root, c);
    cJSON_AddStringToObject(root, "dtype", c->dtype_native ? "native" : dtype_names[c->dtype]);
    put_bits(root, "accumulate", accumulate_names, c->accumulates);
    put_bits(root, "layouts", layout_names, c->layouts);
    put_bits(root, "modes", mode_names, c->modes);
    put_names(root, "baselines", c->baselines);
    put_names(root, "candidates", c->candidates);
    config_put_optional(root, c);
    put_fields(root, c);
    if (!c->energy) /* a run without it is what it was before there was the key: its journal can be resumed */
        cJSON_DeleteItemFromObjectCaseSensitive(root, "energy");
    put_timings(root, c);
    if (c->aa && c->aa_contender[0])
        cJSON_AddStringToObject(root, "aa", c->aa_contender);
    else
        cJSON_AddBoolToObject(root, "aa", c->aa);
    if (c->seed_given)
        json_put_u64(root, "seed", c->seed);
    return root;
}
