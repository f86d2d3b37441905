/* base/text_diff: two long texts that differ are told by where they do, wherever a message holds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text_diff.h"
#include "run/mismatch.h"
#include "worker/environment.h"

#define SIZE 24

static void expect(const char *a, const char *b, const char *first, const char *second)
{
    char x[SIZE], y[SIZE];
    text_diff(a, b, SIZE, x, y);
    assert_string_equal(x, first);
    assert_string_equal(y, second);
}

static void short_ones_are_whole(void **state)
{
    (void)state;
    expect("", "abc", "", "abc");
    expect("01234567890123456789012", "01234567890123456789013", "01234567890123456789012", "01234567890123456789013");
}

static void long_ones_begin_before_the_difference(void **state)
{
    (void)state;
    expect("abcdefghijklmnopqrstuvwxyz0", "abcdefghijklmnopqrstuvwxyz1", "...rstuvwxyz0", "...rstuvwxyz1");
    expect("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrst", "...lmnopqrstuvwxyz", "...lmnopqrst");
    expect("0bcdefghijklmnopqrstuvwxyz", "1bcdefghijklmnopqrstuvwxyz", "0bcdefghijklmnopqrst...",
           "1bcdefghijklmnopqrst...");
    expect("abcdefghijklmnopqrst0uvwxyzabcdefghijklmn", "abcdefghijklmnopqrst1uvwxyzabcdefghijklmn",
           "...lmnopqrst0uvwxyza...", "...lmnopqrst1uvwxyza...");
}

static void characters_stay_whole(void **state)
{
    (void)state;
    expect("aaaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "b",
           "aaaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...", "b");
}

/* Paths of one long directory. */
static void messages_show_the_difference(void **state)
{
    char base[200], then_text[600], now_text[600], what[500];
    struct error err = {0};
    (void)state;
    memset(base, 'd', sizeof base - 1);
    base[sizeof base - 1] = '\0';
    snprintf(then_text, sizeof then_text, "{\"libraries\":{\"mine\":{\"path\":\"/%s/old\",\"x\":1}}}", base);
    snprintf(now_text, sizeof now_text, "{\"libraries\":{\"mine\":{\"path\":\"/%s/new\",\"x\":1}}}", base);
    cJSON *then = cJSON_Parse(then_text), *now = cJSON_Parse(now_text);
    mismatch_describe(then, now, what, sizeof what);
    assert_non_null(strstr(what, "dd/old\", is ..."));
    assert_non_null(strstr(what, "dd/new\""));
    assert_int_equal(environment_check_same(then, now, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "dd/old\",\"x\":1}, here it is ..."));
    assert_non_null(strstr(err.text, "dd/new\",\"x\":1}"));
    assert_int_equal(environment_check_same(then, then, &err), 0);
    cJSON_Delete(then);
    cJSON_Delete(now);
}

static int check_alike(const char *then_text, const char *now_text)
{
    struct error err = {0};
    cJSON *then = cJSON_Parse(then_text), *now = cJSON_Parse(now_text);
    int code = environment_check_same(then, now, &err);
    cJSON_Delete(then);
    cJSON_Delete(now);
    return code;
}

/* A plugin that took a worker with it while it was loaded is missing from the next one's libraries: the others' cells
 * still belong together. */
static void plugins_that_were_left_out_may_miss(void **state)
{
    const char *whole = "{\"libraries\":{\"a\":{},\"b\":{\"plugin_name\":\"two\"},\"c\":{}}}",
               *without = "{\"libraries\":{\"a\":{}},\"refused\":[\"two\",\"c\"]}",
               *unsaid = "{\"libraries\":{\"a\":{}},\"refused\":[\"two\"]}",
               *another = "{\"libraries\":{\"a\":{\"x\":1}},\"refused\":[\"two\",\"c\"]}";
    (void)state;
    assert_int_equal(check_alike(whole, without), 0);
    assert_int_equal(check_alike(without, whole), 0);
    assert_int_equal(check_alike(whole, unsaid), EXIT_CODE_DATA);
    assert_int_equal(check_alike(unsaid, whole), EXIT_CODE_DATA);
    assert_int_equal(check_alike(whole, another), EXIT_CODE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_ones_are_whole),
        cmocka_unit_test(long_ones_begin_before_the_difference),
        cmocka_unit_test(characters_stay_whole),
        cmocka_unit_test(messages_show_the_difference),
        cmocka_unit_test(plugins_that_were_left_out_may_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
