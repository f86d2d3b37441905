/* The committed configs are read, and the JSON Schema says what the parser's own tables say. */
#include "config/config.h"
#include "config/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

/* Tests run from the top of the tree, or by hand from anywhere: build/tests/../../configs. */
static void committed(const char *name, char *out, size_t capacity)
{
    char self[1000];
    snprintf(out, capacity, "configs/%s", name);
    if (access(out, R_OK) == 0)
        return;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    snprintf(out, capacity, "%s/../../configs/%s", self, name);
}

static void load(const char *name, struct config *c)
{
    char path[1200];
    struct error err;
    committed(name, path, sizeof path);
    if (config_load(path, c, &err))
        fail_msg("%s", err.text);
}

static void test_committed_configs(void **state)
{
    static const struct {
        const char *name;
        size_t shapes;
    } files[] = {{"grid.json", 1000},        {"smoke.json", 8},       {"demo.json", 4},        {"llm.json", 93},
                 {"odd.json", 300},          {"hard.json", 61},       {"power.json", 60},      {"fifth.json", 200},
                 {"paper-protocol.json", 4}, {"ablation-bm.json", 1}, {"sensitivity.json", 3}, {"referee.json", 300}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct config c;
        load(files[i].name, &c);
        assert_int_equal(c.n_shapes, files[i].shapes);
        config_free(&c);
    }
}

static size_t place_of_size(int64_t size)
{
    static const int64_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i] == size)
            return i;
    fail_msg("%lld is no size of the grid", (long long)size);
    return 0;
}

static void count_pairs(const struct config *c, size_t pairs[3][100])
{
    for (size_t i = 0; i < c->n_shapes; i++) {
        const int64_t of[] = {c->shapes[i].m, c->shapes[i].n, c->shapes[i].k};
        size_t at[3];
        for (size_t d = 0; d < 3; d++)
            at[d] = place_of_size(of[d]);
        for (size_t d = 0; d < 3; d++)
            pairs[d][10 * at[d] + at[(d + 1) % 3]]++;
    }
}

/* A sample stands for the grid only if no size is favoured by any other. */
static void test_fifth_is_balanced(void **state)
{
    size_t pairs[3][100] = {{0}};
    struct config c;
    (void)state;
    load("fifth.json", &c);
    count_pairs(&c, pairs);
    for (size_t d = 0; d < 3; d++)
        for (size_t i = 0; i < 100; i++)
            assert_int_equal(pairs[d][i], 2);
    config_free(&c);
}

static void test_grid_is_the_papers(void **state)
{
    double flops = 0;
    struct config c;
    (void)state;
    load("grid.json", &c);
    for (size_t i = 0; i < c.n_shapes; i++)
        flops += 2.0 * (double)c.shapes[i].m * (double)c.shapes[i].n * (double)c.shapes[i].k;
    double sum = 64 + 128 + 256 + 512 + 1024 + 2048 + 4096 + 8192 + 12288 + 16384;
    assert_true(flops == 2 * sum * sum * sum); /* 0.18 PFLOP */
    config_free(&c);
}

static cJSON *load_schema(const char *name)
{
    char path[1200];
    cJSON *schema = NULL;
    struct error err;
    committed(name, path, sizeof path);
    if (json_read_file(path, 1 << 20, &schema, &err))
        fail_msg("%s", err.text);
    return schema;
}

/* The schema's object of a section: its "properties", "additionalProperties" and so on. */
static const cJSON *section_schema(const cJSON *schema, const char *section)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    if (!section[0])
        return schema;
    if (strcmp(section, "shapes[]") == 0)
        return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(properties, "shapes"), "items");
    return cJSON_GetObjectItemCaseSensitive(properties, section);
}

static void assert_same_keys(const cJSON *schema, const char *section)
{
    const char *keys[CONFIG_KEYS_MAX + 1];
    size_t count = config_keys(section, keys);
    const cJSON *object = section_schema(schema, section);
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(object, "properties");
    assert_true(count > 0);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(object, "additionalProperties")));
    assert_int_equal(cJSON_GetArraySize(properties), count);
    for (size_t i = 0; i < count; i++) {
        if (!cJSON_GetObjectItemCaseSensitive(properties, keys[i]))
            fail_msg("the schema of \"%s\" has no \"%s\"", section, keys[i]);
    }
}

static void test_schema_has_the_parsers_keys(void **state)
{
    cJSON *schema = load_schema("config.schema.json");
    (void)state;
    assert_same_keys(schema, "");
    assert_same_keys(schema, "grid");
    assert_same_keys(schema, "shapes[]");
    for (int i = 0; config_sections[i]; i++)
        assert_same_keys(schema, config_sections[i]);
    cJSON_Delete(schema);
}

/* The words of every list of timings in a schema; *n counts the lists. */
static void check_timing_words(const cJSON *node, unsigned *n)
{
    const cJSON *words = cJSON_GetObjectItemCaseSensitive(node, "enum"), *child;
    const cJSON *first = cJSON_GetArrayItem(words, 0);
    if (cJSON_IsString(first) && timing_find(first->valuestring) >= 0) {
        (*n)++;
        assert_int_equal(cJSON_GetArraySize(words), TIMING_COUNT);
        for (int t = 0; t < TIMING_COUNT; t++)
            assert_string_equal(cJSON_GetArrayItem(words, t)->valuestring, timing_names[t]);
    }
    cJSON_ArrayForEach(child, node) check_timing_words(child, n);
}

static void test_schemas_have_every_timing(void **state)
{
    cJSON *config = load_schema("config.schema.json"), *result = load_schema("result.schema.json");
    unsigned n = 0;
    (void)state;
    check_timing_words(config, &n);
    assert_int_equal(n, 1);
    check_timing_words(result, &n); /* once; what has a timing refers to it */
    assert_int_equal(n, 2);
    const cJSON *definitions = cJSON_GetObjectItemCaseSensitive(result, "$defs");
    const cJSON *timings = cJSON_GetObjectItemCaseSensitive(definitions, "timings");
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(timings, "properties");
    assert_int_equal(cJSON_GetArraySize(properties), TIMING_COUNT);
    for (int t = 0; t < TIMING_COUNT; t++)
        assert_non_null(cJSON_GetObjectItemCaseSensitive(properties, timing_names[t]));
    cJSON_Delete(config);
    cJSON_Delete(result);
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsBool(node))
        return cJSON_IsTrue(node);
    assert_true(cJSON_IsNumber(node));
    return node->valuedouble;
}

static void check_choice(const struct config_field *field, const cJSON *property)
{
    const cJSON *words = cJSON_GetObjectItemCaseSensitive(property, "enum");
    const cJSON *standard = cJSON_GetObjectItemCaseSensitive(property, "default");
    int count = 0;
    for (; field->choices[count]; count++)
        assert_string_equal(cJSON_GetArrayItem(words, count)->valuestring, field->choices[count]);
    assert_int_equal(cJSON_GetArraySize(words), count);
    assert_string_equal(standard->valuestring, field->choices[(int)field->standard]);
}

static void test_schema_has_the_parsers_ranges(void **state)
{
    static const char *const types[] = {[FIELD_COUNT] = "integer",
                                        [FIELD_BYTES] = "integer",
                                        [FIELD_NUMBER] = "number",
                                        [FIELD_MILLIS] = "number",
                                        [FIELD_FLAG] = "boolean"};
    cJSON *schema = load_schema("config.schema.json");
    (void)state;
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *field = &config_fields[i];
        const cJSON *object = section_schema(schema, field->section);
        const cJSON *properties = cJSON_GetObjectItemCaseSensitive(object, "properties");
        const cJSON *property = cJSON_GetObjectItemCaseSensitive(properties, field->key);
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(property, "description")->valuestring, field->help);
        if (field->kind == FIELD_CHOICE) {
            check_choice(field, property);
            continue;
        }
        assert_string_equal(cJSON_GetObjectItemCaseSensitive(property, "type")->valuestring, types[field->kind]);
        assert_true(number_of(property, "default") == field->standard);
        if (field->kind == FIELD_FLAG)
            continue;
        assert_true(number_of(property, "minimum") == field->low);
        assert_true(number_of(property, "maximum") == field->high);
    }
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(schema, "$defs"), "size");
    assert_true(number_of(size, "minimum") == 1);
    assert_true(number_of(size, "maximum") == CONFIG_MAX_SIZE);
    cJSON_Delete(schema);
}

/* A default that the parser itself would refuse is a broken promise. */
static void test_defaults_are_legal(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_n_fields; i++) {
        const struct config_field *field = &config_fields[i];
        if (field->kind != FIELD_CHOICE && field->kind != FIELD_FLAG)
            assert_true(field->low <= field->standard && field->standard <= field->high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_committed_configs),           cmocka_unit_test(test_fifth_is_balanced),
        cmocka_unit_test(test_grid_is_the_papers),          cmocka_unit_test(test_schemas_have_every_timing),
        cmocka_unit_test(test_schema_has_the_parsers_keys), cmocka_unit_test(test_schema_has_the_parsers_ranges),
        cmocka_unit_test(test_defaults_are_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
