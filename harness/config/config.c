#include "config/config.h"
#include "config/fields.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_SCHEMA "cudal2-bench/config"
#define NAME_MAX_BYTES 1024 /* of a contender: it may be a path */

const char *const family_names[] = {"torch.matmul",        "cublas",   "cublaslt-heuristic",
                                    "cublaslt-autotuning", "openblas", NULL};

/* What is raced when the config names no baselines: everything NVIDIA ships. */
static const char *const default_baselines[] = {"torch.matmul", "cublas", "cublaslt-heuristic", "cublaslt-autotuning",
                                                NULL};
static const char *const dtype_choices[] = {"f16", "bf16", "f32", "native", NULL};
#define DTYPE_NATIVE 3

static bool printable(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* A family or kernel set is one plain word; everything else must look like a path to a plugin or manifest. */
static bool name_valid(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    if (length == 0 || length > NAME_MAX_BYTES || !printable(name))
        return false;
    if (ends_with(name, ".so") || ends_with(name, ".json"))
        return true;
    return length < CONFIG_LABEL_MAX && strspn(name, plain) == length;
}

enum cudal2_dtype config_dtype(const struct config *c, bool on_cuda)
{
    if (!c->dtype_native)
        return c->dtype;
    return on_cuda ? CUDAL2_F16 : CUDAL2_F32;
}

uint32_t config_accumulates(const struct config *c, enum cudal2_dtype dtype)
{
    return dtype == CUDAL2_F16 ? c->accumulates : CUDAL2_BIT(CUDAL2_ACC_F32);
}

int config_add_name(char **names, const char *name, struct error *err)
{
    size_t count = 0;
    if (!name_valid(name))
        return error_set(err, EXIT_CODE_DATA,
                         "expected a family, a kernel set, or a path that ends in .so or .json, found \"%.60s\"",
                         printable(name) ? name : "(control characters)");
    for (; names[count]; count++) {
        if (strcmp(names[count], name) == 0)
            return error_set(err, EXIT_CODE_DATA, "\"%.60s\" is there twice", name);
    }
    if (count == CONFIG_NAMES_MAX)
        return error_set(err, EXIT_CODE_DATA, "more than %d names", CONFIG_NAMES_MAX);
    names[count] = strdup(name);
    return names[count] ? 0 : error_set(err, EXIT_CODE_INTERNAL, "no memory for a name");
}

static int read_names(struct json_at at, int minimum, char **names, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    const char *name;
    int count, index;
    if (!at.node)
        return 0;
    if (json_read_array(at, minimum, &count, err))
        return err->code;
    while (json_each(at, &node, &index, &element)) {
        struct error cause = {0};
        if (json_read_string(element, &name, err))
            return err->code;
        if (config_add_name(names, name, &cause)) {
            json_fail(element, err, "%s", cause.text);
            err->code = cause.code;
            return err->code;
        }
    }
    return 0;
}

/* A non-empty list of distinct words, as bits of their indices. An absent list leaves *bits as it is. */
static int read_bits(struct json_at at, const char *const names[], uint32_t *bits, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int count, index, choice;
    if (!at.node)
        return 0;
    if (json_read_array(at, 1, &count, err))
        return err->code;
    *bits = 0;
    while (json_each(at, &node, &index, &element)) {
        if (json_read_choice(element, names, &choice, err))
            return err->code;
        if (*bits & (1u << choice))
            return json_fail(element, err, "\"%s\" is there twice", names[choice]);
        *bits |= 1u << choice;
    }
    return 0;
}

/* A string of less than CONFIG_LABEL_MAX bytes. */
static int read_short(struct json_at at, char *out, struct error *err)
{
    const char *text;
    if (json_read_string(at, &text, err))
        return err->code;
    if (strlen(text) >= CONFIG_LABEL_MAX)
        return json_fail(at, err, "longer than %d bytes", CONFIG_LABEL_MAX - 1);
    if (!printable(text))
        return json_fail(at, err, "has a control character");
    memcpy(out, text, strlen(text) + 1);
    return 0;
}

/* Remarks are for readers only: text, or a list of lines. */
static int check_remark(struct json_at at, struct error *err)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index;
    if (!at.node || cJSON_IsString(at.node))
        return 0;
    if (!cJSON_IsArray(at.node))
        return json_fail(at, err, "expected a string or an array of strings");
    while (json_each(at, &node, &index, &element)) {
        if (!cJSON_IsString(node))
            return json_fail(element, err, "expected a string");
    }
    return 0;
}

static int read_head(struct json_at root, struct config *c, struct error *err)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    const char *link;
    config_keys("", keys);
    if (json_read_head(root, CONFIG_SCHEMA, 1, keys, err))
        return err->code;
    struct json_at schema_link = json_member(root, "$schema");
    if (schema_link.node && json_read_string(schema_link, &link, err))
        return err->code;
    if (check_remark(json_member(root, "description"), err))
        return err->code;
    return read_short(json_member(root, "name"), c->name, err);
}

static int read_types(struct json_at root, struct config *c, struct error *err)
{
    int dtype = CUDAL2_F16;
    struct json_at at = json_member(root, "dtype");
    if (at.node && json_read_choice(at, dtype_choices, &dtype, err))
        return err->code;
    c->dtype_native = dtype == DTYPE_NATIVE;
    c->dtype = c->dtype_native ? CUDAL2_F16 : (enum cudal2_dtype)dtype;
    c->accumulates = c->dtype == CUDAL2_F16 ? CUDAL2_BIT(CUDAL2_ACC_F16) : CUDAL2_BIT(CUDAL2_ACC_F32);
    if (read_bits(json_member(root, "accumulate"), accumulate_names, &c->accumulates, err) ||
        read_bits(json_member(root, "layouts"), layout_names, &c->layouts, err))
        return err->code;
    return read_bits(json_member(root, "modes"), mode_names, &c->modes, err);
}

static int read_contenders(struct json_at root, struct config *c, struct error *err)
{
    struct json_at baselines = json_member(root, "baselines");
    for (int i = 0; !baselines.node && default_baselines[i]; i++) {
        if (config_add_name(c->baselines, default_baselines[i], err))
            return err->code;
    }
    if (!baselines.node)
        c->optional_baselines = ~0u;
    if (read_names(baselines, 1, c->baselines, err) ||
        read_names(json_member(root, "candidates"), 0, c->candidates, err))
        return err->code;
    return config_read_optional(root, c, err);
}

static int read_fields(struct json_at root, struct config *c, struct error *err)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    for (int i = 0; config_sections[i]; i++) {
        struct json_at section = json_member(root, config_sections[i]);
        config_keys(config_sections[i], keys);
        if (section.node && json_only_keys(section, keys, err))
            return err->code;
    }
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *field = &config_fields[i];
        struct json_at object = field->section[0] ? json_member(root, field->section) : root;
        struct json_at at = json_member(object, field->key);
        if (at.node && config_field_read(field, at, c, err))
            return err->code;
    }
    return 0;
}

static int read_aa(struct json_at at, struct config *c, struct error *err)
{
    if (!at.node)
        return 0;
    if (cJSON_IsBool(at.node)) {
        c->aa = cJSON_IsTrue(at.node);
        return 0;
    }
    if (!cJSON_IsString(at.node))
        return json_fail(at, err, "expected true, false or the name of a contender");
    c->aa = true;
    return read_short(at, c->aa_contender, err);
}

static int read_rest(struct json_at root, struct config *c, struct error *err)
{
    int choice;
    struct json_at timing = json_member(root, "timing");
    struct json_at seed = json_member(root, "seed");
    c->headline_given = timing.node != NULL;
    c->seed_given = seed.node != NULL;
    if (timing.node) {
        if (json_read_choice(timing, timing_names, &choice, err))
            return err->code;
        c->headline = (enum timing)choice;
    }
    if (seed.node && json_read_u64(seed, &c->seed, err))
        return err->code;
    return read_aa(json_member(root, "aa"), c, err);
}

double stop_cell_seconds(const struct stop_config *stop, enum mode mode)
{
    return stop->max_cell_seconds[mode] > 0 ? stop->max_cell_seconds[mode] : stop->max_cell_seconds[MODE_OFFLINE];
}

static int check_stop(const struct stop_config *stop, struct error *err)
{
    if (stop->max_blocks < stop->min_blocks)
        return error_set(err, EXIT_CODE_DATA, "$.stop.max_blocks: %u is below min_blocks, %u", stop->max_blocks,
                         stop->min_blocks);
    if (stop->min_blocks % stop->group_blocks || stop->look_every % stop->group_blocks)
        return error_set(err, EXIT_CODE_DATA,
                         "$.stop.group_blocks: %u does not divide min_blocks, %u, and look_every, %u",
                         stop->group_blocks, stop->min_blocks, stop->look_every);
    if (stop->min_blocks / stop->group_blocks < 2)
        return error_set(err, EXIT_CODE_DATA, "$.stop.min_blocks: %u is one group of %u, an interval needs two",
                         stop->min_blocks, stop->group_blocks);
    if (stop->least_blocks > stop->max_blocks)
        return error_set(err, EXIT_CODE_DATA, "$.stop.least_blocks: %u is above max_blocks, %u", stop->least_blocks,
                         stop->max_blocks);
    return 0;
}

int config_check(const struct config *c, struct error *err)
{
    if ((c->accumulates & CUDAL2_BIT(CUDAL2_ACC_F16)) && c->dtype != CUDAL2_F16)
        return error_set(err, EXIT_CODE_DATA, "$.accumulate: f16 needs dtype f16 or native, this is %s",
                         dtype_names[c->dtype]);
    for (int i = 0; c->baselines[i]; i++) {
        for (int j = 0; c->candidates[j]; j++) {
            if (strcmp(c->baselines[i], c->candidates[j]) == 0)
                return error_set(err, EXIT_CODE_DATA, "$.candidates[%d]: \"%.60s\" is also a baseline", j,
                                 c->candidates[j]);
        }
    }
    return check_stop(&c->stop, err);
}

static int read_config(struct json_at root, struct config *c, struct error *err)
{
    static int (*const steps[])(struct json_at, struct config *, struct error *) = {
        read_head, config_read_shapes, read_types, read_contenders, read_fields, read_rest};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (steps[i](root, c, err))
            return err->code;
    }
    if (config_check(c, err))
        return error_wrap(err, "%s", root.source);
    return 0;
}

static int from_tree(const cJSON *tree, const char *source, struct config *out, struct error *err)
{
    config_defaults(out);
    int code = read_config(json_root(tree, source), out, err);
    if (code)
        config_free(out);
    return code;
}

int config_parse(const char *text, size_t length, const char *source, struct config *out, struct error *err)
{
    cJSON *tree = NULL;
    memset(out, 0, sizeof *out);
    if (json_parse(text, length, CONFIG_TEXT_BYTES, source, &tree, err))
        return err->code;
    int code = from_tree(tree, source, out, err);
    cJSON_Delete(tree);
    return code;
}

int config_load(const char *path, struct config *out, struct error *err)
{
    cJSON *tree = NULL;
    memset(out, 0, sizeof *out);
    if (json_read_file(path, CONFIG_MAX_BYTES, &tree, err))
        return err->code;
    int code = from_tree(tree, path, out, err);
    cJSON_Delete(tree);
    return code;
}

void config_free(struct config *c)
{
    free(c->shapes);
    for (int i = 0; i < CONFIG_NAMES_MAX; i++) {
        free(c->baselines[i]);
        free(c->candidates[i]);
    }
    memset(c, 0, sizeof *c);
}

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

cJSON *config_to_json(const struct config *c)
{
    cJSON *root = cJSON_CreateObject();
    if (!root)
        return NULL;
    cJSON_AddStringToObject(root, "schema", CONFIG_SCHEMA);
    json_put_number(root, "schema_version", 1);
    cJSON_AddStringToObject(root, "name", c->name);
    put_shapes(root, c);
    cJSON_AddStringToObject(root, "dtype", c->dtype_native ? dtype_choices[DTYPE_NATIVE] : dtype_names[c->dtype]);
    put_bits(root, "accumulate", accumulate_names, c->accumulates);
    put_bits(root, "layouts", layout_names, c->layouts);
    put_bits(root, "modes", mode_names, c->modes);
    put_names(root, "baselines", c->baselines);
    put_names(root, "candidates", c->candidates);
    config_put_optional(root, c);
    put_fields(root, c);
    if (c->headline_given)
        cJSON_AddStringToObject(root, "timing", timing_names[c->headline]);
    if (c->aa && c->aa_contender[0])
        cJSON_AddStringToObject(root, "aa", c->aa_contender);
    else
        cJSON_AddBoolToObject(root, "aa", c->aa);
    if (c->seed_given)
        json_put_u64(root, "seed", c->seed);
    return root;
}
