/* Printing JSON: exact numbers, escapes, layout, and null for what JSON cannot say. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

static cJSON *parse(const char *text)
{
    cJSON *tree = NULL;
    struct error err = {0, ""};
    int code = json_parse(text, strlen(text), 1 << 20, "x.json", &tree, &err);
    if (code)
        fail_msg("%s", err.text);
    return tree;
}

static void test_print_exact(void **state)
{
    const double values[] = {0.1,  0.1 + 0x1p-56,        1.0 / 3, 1e300, 5e-324, -2.5, 10000000000000002.0, 0x1p53 + 2,
                             1e22, 123456789012345678.0, 4.2e-6};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cJSON *node = json_number(values[i]);
        char *text = json_print(node, false);
        assert_true(strtod(text, NULL) == values[i]);
        cJSON_Delete(parse(text)); /* and the strict parser takes it */
        free(text);
        cJSON_Delete(node);
    }
}

static void test_print_text(void **state)
{
    static const char source[] =
        "{\"a\":[1,2.5,null],\"b\":{\"c\":\"\\u0001\\n\\\"\\\\\xc3\xa9\",\"d\":[]},\"e\":[{\"f\":true},[]]}";
    (void)state;
    cJSON *tree = parse(source);
    char *text = json_print(tree, false);
    assert_string_equal(text, source);
    free(text);
    text = json_print(tree, true);
    assert_string_equal(text, "{\n  \"a\": [1, 2.5, null],\n  \"b\": {\n    \"c\": \"\\u0001\\n\\\"\\\\\xc3\xa9\",\n"
                              "    \"d\": []\n  },\n  \"e\": [\n    {\n      \"f\": true\n    },\n    []\n  ]\n}");
    free(text);
    cJSON_Delete(tree);
    tree = cJSON_CreateObject();
    json_put_number(tree, "nan", NAN);
    json_put_number(tree, "inf", INFINITY);
    cJSON_AddItemToObject(tree, "raw", cJSON_CreateNumber(NAN));
    text = json_print(tree, false);
    assert_string_equal(text, "{\"nan\":null,\"inf\":null,\"raw\":null}");
    free(text);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print_exact),
        cmocka_unit_test(test_print_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
