/* base/utf8, and what is built on it: names of files hold any bytes, and what is written of them is UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/utf8.h"

static void characters_are_measured(void **state)
{
    static const struct {
        const char *bytes;
        size_t length;
    } cases[] = {{"a", 1},
                 {"\xc3\xa9", 2},
                 {"\xe2\x82\xac", 3},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\xff", 0},
                 {"\x80", 0},
                 {"\xc3", 0},
                 {"\xc3(", 0},
                 {"\xc0\xaf", 0},
                 {"\xe0\x80\xaf", 0},
                 {"\xed\xa0\x80", 0},
                 {"\xf4\x90\x80\x80", 0},
                 {"\xe2\x82", 0},
                 {"\xf0\x9f\x98(", 0},
                 {"", 0},
                 {"\xf4\x8f\xbf\xbf", 4},
                 {"\xef\xbf\xbe", 3},
                 {"\xed\x9f\xbf rest", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(utf8_length(cases[i].bytes, strlen(cases[i].bytes)), cases[i].length);
}

static void other_bytes_are_replaced(void **state)
{
    struct text t = {0};
    (void)state;
    utf8_repair(&t);
    assert_null(t.bytes);
    text_add(&t, "n\xffw caf\xc3\xa9 cut \xe2\x82");
    utf8_repair(&t);
    assert_string_equal(t.bytes, "n\xef\xbf\xbdw caf\xc3\xa9 cut \xef\xbf\xbd\xef\xbf\xbd");
    assert_int_equal(t.length, strlen(t.bytes));
    text_free(&t);
}

/* A journal that names such a file must be read again. */
static void json_can_be_read_again(void **state)
{
    cJSON *tree = cJSON_CreateObject(), *again = NULL;
    struct error err = {0};
    (void)state;
    cJSON_AddStringToObject(tree, "path", "n\xffw\n\xc3\xa9\xc3");
    char *text = json_print(tree, false);
    assert_string_equal(text, "{\"path\":\"n\xef\xbf\xbdw\\n\xc3\xa9\xef\xbf\xbd\"}");
    if (json_parse(text, strlen(text), 1 << 10, "x.json", &again, &err))
        fail_msg("%s", err.text);
    cJSON_Delete(again);
    cJSON_Delete(tree);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_measured),
        cmocka_unit_test(other_bytes_are_replaced),
        cmocka_unit_test(json_can_be_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
