/* Printing JSON: exact numbers, escapes, layout, and null for what JSON cannot say. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

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

/* A plugin may set a locale with a decimal comma at any time; few machines have one, so this one is made here. */
static void test_decimal_comma(void **state)
{
    char directory[] = "/tmp/cudal2-locale-XXXXXX", command[256];
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", directory);
    int made = system(command); /* what came of it shows below */
    setenv("LOCPATH", directory, 1);
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    made |= system(command);
    if (strcmp(localeconv()->decimal_point, ",") != 0) {
        setlocale(LC_ALL, "C");
        print_message("%d: no localedef, or no source of de_DE (package locales): not tried with a decimal comma\n",
                      made);
        skip();
    }
    cJSON *tree = parse("{\"a\":[0.1,2.5e-7,1234567.25]}");
    char *text = json_print(tree, false);
    const char *point = localeconv()->decimal_point; /* still what the plugin made it */
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "{\"a\":[0.1,2.5e-07,1234567.25]}");
    assert_true(cJSON_GetArrayItem(tree->child, 0)->valuedouble == 0.1);
    assert_string_equal(point, ",");
    free(text);
    cJSON_Delete(tree);
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
        cmocka_unit_test(test_decimal_comma),
        cmocka_unit_test(test_print_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
