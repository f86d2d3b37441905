/* json_read_head: what a file is comes before what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json.h"

static void expect_head(const char *text, const char *message)
{
    static const char *const keys[] = {"schema", "schema_version", "m", NULL};
    struct error err = {0, ""};
    cJSON *tree = NULL;
    assert_int_equal(json_parse(text, strlen(text), 1 << 20, "x.json", &tree, &err), 0);
    int code = json_read_head(json_root(tree, "x.json"), "mine", 2, keys, &err);
    assert_int_equal(code, message[0] ? EXIT_CODE_DATA : 0);
    assert_string_equal(err.text, message);
    cJSON_Delete(tree);
}

static void another_file_is_told_before_its_keys(void **state)
{
    (void)state;
    expect_head("{\"schema\":\"mine\",\"schema_version\":2,\"m\":1}", "");
    expect_head("{\"runs\":1,\"schema\":\"yours\"}", "x.json: $.schema: expected mine, found \"yours\"");
    expect_head("{\"runs\":1,\"schema\":\"mine\",\"schema_version\":3}",
                "x.json: $.schema_version: expected 2, found 3");
    expect_head("{\"runs\":1}", "x.json: $.schema: is missing: expected mine");
    expect_head("{\"schema\":\"mine\",\"schema_version\":2,\"runs\":1}",
                "x.json: $: unknown key \"runs\" (expected schema, schema_version, m)");
    expect_head("[1]", "x.json: $: expected an object, found an array");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(another_file_is_told_before_its_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
