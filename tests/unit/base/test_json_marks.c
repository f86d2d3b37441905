/* base/json: byte order marks and NUL bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "base/json.h"

/* Some editors write a byte order mark in front; a NUL is told as what it is. */
static void test_marks_and_nuls(void **state)
{
    static const char nul[] = "{\"a\": \0 1}";
    struct error err;
    cJSON *tree = NULL;
    (void)state;
    assert_int_equal(json_parse("\xef\xbb\xbf{\"a\":1}", 10, 1 << 20, "x.json", &tree, &err), 0);
    assert_int_equal(cJSON_GetObjectItem(tree, "a")->valueint, 1);
    cJSON_Delete(tree);
    assert_int_equal(json_parse(nul, sizeof nul - 1, 1 << 20, "x.json", &tree, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: line 1, column 7: a NUL byte: this is no text file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_marks_and_nuls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
