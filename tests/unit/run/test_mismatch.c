/* run/mismatch: what differs between two configs, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "run/mismatch.h"

static void expect(const char *then, const char *now, const char *words)
{
    char what[400];
    cJSON *a = cJSON_Parse(then), *b = cJSON_Parse(now);
    mismatch_describe(a, b, what, sizeof what);
    assert_string_equal(what, words);
    cJSON_Delete(a);
    cJSON_Delete(b);
}

static void test_one_key(void **state)
{
    (void)state;
    expect("{\"a\":1,\"b\":{\"c\":2}}", "{\"a\":1,\"b\":{\"c\":2}}", "");
    expect("{\"a\":1}", "{\"a\":2}", "a was 1, is 2");
    expect("{\"b\":{\"c\":2,\"d\":0}}", "{\"b\":{\"c\":3,\"d\":0}}", "b.c was 2, is 3");
    expect("{\"a\":1}", "{}", "a was 1, is not given");
    expect("{}", "{\"a\":[1,2]}", "a was not given, is [1,2]");
    expect("{\"a\":{\"b\":1}}", "{\"a\":true}", "a was {\"b\":1}, is true");
}

static void test_options_are_named(void **state)
{
    (void)state;
    expect("{\"protocol\":\"adaptive\"}", "{\"protocol\":\"paper\"}",
           "protocol (--protocol) was \"adaptive\", is \"paper\"");
    expect("{\"server\":{\"mean_gap_ms\":1}}", "{\"server\":{\"mean_gap_ms\":2}}",
           "server.mean_gap_ms (--rate) was 1, is 2");
}

static void test_many_and_long(void **state)
{
    (void)state;
    expect("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1}", "{\"a\":2,\"b\":2,\"c\":2,\"d\":2,\"e\":2}",
           "a was 1, is 2; b was 1, is 2; c was 1, is 2; d was 1, is 2; and 2 more");
    char what[40] = "";
    cJSON *a = cJSON_Parse("{\"long\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"}");
    cJSON *b = cJSON_Parse("{\"long\":0}");
    mismatch_describe(a, b, what, sizeof what);
    assert_string_equal(what, "long was \"01234567890123456789012345678");
    char more[100];
    mismatch_describe(a, b, more, sizeof more);
    assert_string_equal(more, "long was \"01234567890123456789012345678901234567890123456789012345678..., is 0");
    mismatch_describe(NULL, b, more, sizeof more);
    assert_string_equal(more, "");
    cJSON_Delete(a);
    cJSON_Delete(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_options_are_named),
        cmocka_unit_test(test_many_and_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
