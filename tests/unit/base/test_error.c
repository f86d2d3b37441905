/* base/error: one line, whatever went into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"

static void test_code_and_text(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(error_set(&err, EXIT_CODE_DATA, "%s: %d", "a.json", 7), EXIT_CODE_DATA);
    assert_int_equal(err.code, EXIT_CODE_DATA);
    assert_string_equal(err.text, "a.json: 7");
    assert_int_equal(error_wrap(&err, "reading %s", "b"), EXIT_CODE_DATA);
    assert_string_equal(err.text, "reading b: a.json: 7");
}

/* A newline would make two lines of it, an escape sequence would write over the line before. */
static void test_control_characters(void **state)
{
    struct error err;
    (void)state;
    error_set(&err, EXIT_CODE_DATA, "%s", "a\nb\r\x1b[2Kc\td\x7f");
    assert_string_equal(err.text, "a?b??[2Kc?d?");
    error_wrap(&err, "%s", "x\ny");
    assert_string_equal(err.text, "x?y: a?b??[2Kc?d?");
    error_set(&err, EXIT_CODE_DATA, "%s",
              "Gr\xc3\xb6\xc3\x9f"
              "e");
    assert_string_equal(err.text, "Gr\xc3\xb6\xc3\x9f"
                                  "e"); /* UTF-8 is fine */
}

static void test_too_long(void **state)
{
    char words[2000];
    struct error err;
    (void)state;
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    error_set(&err, EXIT_CODE_IO, "%s", words);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    error_wrap(&err, "%s", words);
    assert_int_equal(err.code, EXIT_CODE_IO);
    assert_true(strlen(err.text) < sizeof err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_and_text),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
