/* Strict JSON: what is refused and how the refusal reads, exact numbers, typed access. */
#include "base/json.h"
#include "base/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

static cJSON *parse(const char *text)
{
    cJSON *tree = NULL;
    struct error err = {0, ""};
    int code = json_parse(text, strlen(text), 1 << 20, "x.json", &tree, &err);
    if (code)
        fail_msg("%s", err.text);
    return tree;
}

/* "line 1, column 3: x" becomes "line 1: x": where the tests are about what is wrong, not where. */
static void drop_column(char *message)
{
    char *column = strstr(message, ", column ");
    if (column)
        memmove(column, strchr(column, ':'), strlen(strchr(column, ':')) + 1);
}

static void assert_refused(const char *text, const char *message)
{
    cJSON *tree = NULL;
    struct error err = {0, ""};
    assert_int_equal(json_parse(text, strlen(text), 1 << 20, "x.json", &tree, &err), EXIT_CODE_DATA);
    assert_int_equal(err.code, EXIT_CODE_DATA);
    assert_null(tree);
    if (!strstr(message, ", column "))
        drop_column(err.text);
    assert_string_equal(err.text, message);
}

static void test_accepts_every_kind(void **state)
{
    (void)state;
    cJSON *tree = parse(" {\"a\": [null, true, false, -0, 0.5, -1.25E+2, 1e-3, \"\"],\r\n\t\"b\": {}, \"c\": []} \n");
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(tree, "a");
    assert_int_equal(cJSON_GetArraySize(a), 8);
    assert_true(cJSON_GetArrayItem(a, 5)->valuedouble == -125.0);
    assert_true(cJSON_GetArrayItem(a, 6)->valuedouble == 0.001);
    cJSON_Delete(tree);
    cJSON_Delete(parse("7"));
    cJSON_Delete(parse("\"top-level string\""));
}

static void test_refuses_bad_syntax(void **state)
{
    static const char *const cases[][2] = {
        {"", "x.json: empty"},
        {"   ", "x.json: empty"},
        {"{", "x.json: line 1: expected a key in quotes"},
        {"{\"a\"", "x.json: line 1: expected ':' after a key"},
        {"{\"a\":", "x.json: line 1: the text ends too early"},
        {"{\"a\":1", "x.json: line 1: the text ends too early"},
        {"[1,\n2,\n\n3", "x.json: line 4: the text ends too early"},
        {"{\"a\":1,}", "x.json: line 1: a ',' with nothing after it"},
        {"[1,]", "x.json: line 1: a ',' with nothing after it"},
        {"[1 2]", "x.json: line 1: expected ',' or ']'"},
        {"{\"a\":1 \"b\":2}", "x.json: line 1: expected ',' or '}'"},
        {"{a:1}", "x.json: line 1: expected a key in quotes"},
        {"{'a':1}", "x.json: line 1: expected a key in quotes"},
        {"[1] x", "x.json: line 1: something follows the value"},
        {"[1]\n[2]", "x.json: line 2: something follows the value"},
        {"nul", "x.json: line 1: expected a value"},
        {"True", "x.json: line 1: expected true in small letters"},
        {"{'a':1}", "x.json: line 1: expected a key in quotes"},
        {"['a']", "x.json: line 1: a string stands in double quotes"},
        {"[None]", "x.json: line 1: None is null in JSON"},
        {"// no\n1", "x.json: line 1: expected a value"},
        {"\xef\xbb\xbf", "x.json: empty"},
        {"\xff\xfe{", "x.json: the text is UTF-16: save it as UTF-8"},
        {"}", "x.json: line 1: expected a value"},
        {"[1}", "x.json: line 1: expected ',' or ']'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i][0], cases[i][1]);
}

static void test_refuses_bad_numbers(void **state)
{
    static const char *const cases[][2] = {
        {"01", "x.json: line 1: a number may not start with 0"},
        {"-01", "x.json: line 1: a number may not start with 0"},
        {"-", "x.json: line 1: expected a digit"},
        {"-x", "x.json: line 1: expected a digit"},
        {"+1", "x.json: line 1: expected a value"},
        {".5", "x.json: line 1: expected a value"},
        {"1.", "x.json: line 1: expected a digit after the decimal point"},
        {"1.e3", "x.json: line 1: expected a digit after the decimal point"},
        {"1e", "x.json: line 1: expected a digit in the exponent"},
        {"1e+", "x.json: line 1: expected a digit in the exponent"},
        {"0x10", "x.json: line 1: something follows the value"},
        {"NaN", "x.json: line 1: NaN is no number of JSON (write null)"},
        {"Infinity", "x.json: line 1: infinity is no number of JSON (write null)"},
        {"-Infinity", "x.json: line 1: infinity is no number of JSON (write null)"},
        {"[nan]", "x.json: line 1: nan is no number of JSON (write null)"},
        {"1e400", "x.json: line 1: a number too large for a double"},
        {"-1e400", "x.json: line 1: a number too large for a double"},
        {"1e-400", "x.json: line 1: a number too small for a double"},
        {"9007199254740993", "x.json: line 1: an integer beyond 2^53 (write it as a string)"},
        {"-9007199254740993", "x.json: line 1: an integer beyond 2^53 (write it as a string)"},
        {"18446744073709551615", "x.json: line 1: an integer beyond 2^53 (write it as a string)"},
        {"0.0000000000000000000000000000000000000000000000000000000000000001",
         "x.json: line 1: a number of more than 63 characters"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i][0], cases[i][1]);
}

static void test_names_the_place(void **state)
{
    (void)state;
    assert_refused("[1, 2, ]", "x.json: line 1, column 8: a ',' with nothing after it");
    assert_refused("{\"a\": 1,\n \"b\": 2,\n}\n", "x.json: line 3, column 1: a ',' with nothing after it");
    assert_refused("[\n  \"\xc3\xa9\", nul]", "x.json: line 2, column 8: expected a value"); /* characters, not bytes */
    assert_refused("[1,\n", "x.json: line 1, column 4: the text ends too early"); /* and not on a line below */
    assert_refused("\n", "x.json: empty");
}

static void test_keeps_numbers(void **state)
{
    static const char *const exact[] = {
        "9007199254740992",      "-9007199254740992", "9007199254740991", "0.1", "1e300", "5e-324", "0.0e5",
        "1.7976931348623157e308"};
    (void)state;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        cJSON *tree = parse(exact[i]);
        assert_true(tree->valuedouble == strtod(exact[i], NULL));
        cJSON_Delete(tree);
    }
}

static void test_refuses_bad_strings(void **state)
{
    static const char *const cases[][2] = {
        {"\"abc", "x.json: line 1: a string without its closing quote"},
        {"\"a\nb\"", "x.json: line 1: a control character in a string"},
        {"\"a\tb\"", "x.json: line 1: a control character in a string"},
        {"\"\\x41\"", "x.json: line 1: an unknown escape in a string"},
        {"\"\\", "x.json: line 1: an unknown escape in a string"},
        {"\"\\u12\"", "x.json: line 1: expected four hex digits after \\u"},
        {"\"\\u12g4\"", "x.json: line 1: expected four hex digits after \\u"},
        {"\"a\\u0000b\"", "x.json: line 1: \\u0000 in a string"},
        {"\"\\ud800\"", "x.json: line 1: a lone surrogate in a \\u escape"},
        {"\"\\ud800x\"", "x.json: line 1: a lone surrogate in a \\u escape"},
        {"\"\\ud800\\n\"", "x.json: line 1: a lone surrogate in a \\u escape"},
        {"\"\\ud800\\ud800\"", "x.json: line 1: a lone surrogate in a \\u escape"},
        {"\"\\udc00\"", "x.json: line 1: a lone surrogate in a \\u escape"},
        {"\"\x80\"", "x.json: line 1: invalid UTF-8"},
        {"\"\xc0\xaf\"", "x.json: line 1: invalid UTF-8"},         /* overlong '/' */
        {"\"\xe0\x80\xaf\"", "x.json: line 1: invalid UTF-8"},     /* overlong '/' */
        {"\"\xed\xa0\x80\"", "x.json: line 1: invalid UTF-8"},     /* surrogate */
        {"\"\xf4\x90\x80\x80\"", "x.json: line 1: invalid UTF-8"}, /* above U+10FFFF */
        {"\"\xf0\x8f\xbf\xbf\"", "x.json: line 1: invalid UTF-8"}, /* overlong */
        {"\"\xe2\x82", "x.json: line 1: invalid UTF-8"},
        {"\"\xe2\x82\"", "x.json: line 1: invalid UTF-8"},
        {"\"\xff\"", "x.json: line 1: invalid UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i][0], cases[i][1]);
}

static void test_keeps_strings(void **state)
{
    (void)state;
    cJSON *tree = parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    assert_string_equal(tree->valuestring,
                        "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80 \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    cJSON_Delete(tree);
}

/* A NUL byte inside the text ends nothing: the length decides. */
static void test_nul_bytes(void **state)
{
    cJSON *tree = NULL;
    struct error err;
    (void)state;
    assert_int_equal(json_parse("1\0", 2, 100, "x.json", &tree, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: line 1, column 2: a NUL byte: this is no text file");
    assert_int_equal(json_parse("\"a\0b\"", 5, 100, "x.json", &tree, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: line 1, column 3: a NUL byte: this is no text file");
    assert_int_equal(json_parse("[1]junk", 3, 100, "x.json", &tree, &err), 0);
    cJSON_Delete(tree);
}

static void test_depth(void **state)
{
    char text[2 * JSON_MAX_DEPTH + 3];
    (void)state;
    for (int depth = JSON_MAX_DEPTH; depth <= JSON_MAX_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        if (depth == JSON_MAX_DEPTH)
            cJSON_Delete(parse(text));
        else
            assert_refused(text, "x.json: line 1: nested too deeply");
    }
    char *deep = malloc(100001);
    memset(deep, '[', 100000);
    deep[100000] = '\0';
    assert_refused(deep, "x.json: line 1: nested too deeply");
    free(deep);
}

static void test_size_cap(void **state)
{
    cJSON *tree = NULL;
    struct error err;
    (void)state;
    assert_int_equal(json_parse("[1]", 3, 3, "x.json", &tree, &err), 0);
    cJSON_Delete(tree);
    assert_int_equal(json_parse("[1]", 3, 2, "x.json", &tree, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: 3 bytes, the limit is 2");
}

static void test_clashing_keys(void **state)
{
    (void)state;
    assert_refused("{\"a\":1,\"b\":2,\"a\":3}", "x.json: $: duplicate key \"a\"");
    assert_refused("{\"a\":[0,{\"m\":1,\"m\":1}]}", "x.json: $.a[1]: duplicate key \"m\"");
    assert_refused("{\"a\":{\"x y\":{\"n\":1,\"N\":2}}}",
                   "x.json: $.a[\"x y\"]: keys \"n\" and \"N\" differ only in case");
    assert_refused("{\"\\u0061\":1,\"a\":2}", "x.json: $: duplicate key \"a\"");
    assert_refused("{\"\":1,\"\":2}", "x.json: $: duplicate key \"\"");
    cJSON_Delete(parse("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}]}"));
}

/* Sorting, not comparing all pairs: a crafted object must not take minutes. */
static void test_many_keys(void **state)
{
    const int count = 200000;
    char *text = malloc((size_t)count * 16);
    size_t used = 0;
    (void)state;
    for (int i = 0; i < count; i++)
        used += (size_t)sprintf(text + used, "%c\"k%d\":1", i ? ',' : '{', i);
    strcpy(text + used, "}");
    cJSON *tree = NULL;
    struct error err;
    assert_int_equal(json_parse(text, used + 1, (size_t)count * 16, "x.json", &tree, &err), 0);
    cJSON_Delete(tree);
    free(text);
}

static struct json_at at_path(const cJSON *tree)
{
    return json_member(json_root(tree, "x.json"), "grid");
}

static void test_only_keys(void **state)
{
    static const char *const keys[] = {"m", "n", NULL};
    struct error err;
    (void)state;
    cJSON *tree = parse("{\"grid\":{\"m\":1,\"M2\":2,\"\\u001b[31m\":3}}");
    assert_int_equal(json_only_keys(at_path(tree), keys, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.grid: unknown key \"M2\" (expected m, n)");
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItem(tree, "grid"), "M2");
    json_only_keys(at_path(tree), keys, &err);
    assert_string_equal(err.text, "x.json: $.grid: unknown key \"?[31m\" (expected m, n)");
    cJSON_Delete(tree);
    tree = parse("{\"grid\":[1]}");
    assert_int_equal(json_only_keys(at_path(tree), keys, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.grid: expected an object, found an array");
    assert_int_equal(json_only_keys(json_member(at_path(tree), "q"), keys, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.grid.q: is missing: expected an object");
    cJSON_Delete(tree);
}

static void expect_int(const char *text, int64_t low, int64_t high, int64_t wanted)
{
    struct error err;
    int64_t value = 0;
    cJSON *tree = parse(text);
    assert_int_equal(json_read_int(json_root(tree, "x.json"), low, high, &value, &err), 0);
    assert_int_equal(value, wanted);
    cJSON_Delete(tree);
}

static void refuse_int(const char *text, const char *message)
{
    struct error err;
    int64_t value = 77;
    cJSON *tree = parse(text);
    assert_int_equal(json_read_int(json_root(tree, "x.json"), 1, 1048576, &value, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, message);
    assert_int_equal(value, 77);
    cJSON_Delete(tree);
}

static void test_read_int(void **state)
{
    (void)state;
    expect_int("1", 1, 10, 1);
    expect_int("10", 1, 10, 10);
    expect_int("1e3", 1, 1000, 1000);
    expect_int("-9007199254740992", INT64_MIN, INT64_MAX, -9007199254740992);
    refuse_int("0", "x.json: $: expected an integer from 1 to 1048576, found 0");
    refuse_int("-4", "x.json: $: expected an integer from 1 to 1048576, found -4");
    refuse_int("1048577", "x.json: $: expected an integer from 1 to 1048576, found 1048577");
    refuse_int("64.5", "x.json: $: expected an integer from 1 to 1048576, found 64.5");
    refuse_int("1e300", "x.json: $: expected an integer from 1 to 1048576, found 1e+300");
    refuse_int("\"64\"", "x.json: $: expected an integer from 1 to 1048576, found \"64\"");
    refuse_int("null", "x.json: $: expected an integer from 1 to 1048576, found null");
    refuse_int("[64]", "x.json: $: expected an integer from 1 to 1048576, found an array");
    refuse_int("true", "x.json: $: expected an integer from 1 to 1048576, found true");
}

static void test_read_others(void **state)
{
    static const char *const names[] = {"nn", "tn", NULL};
    struct error err;
    double number = 0;
    bool flag = false;
    int choice = -1, count = 0;
    const char *string = NULL;
    (void)state;
    cJSON *tree = parse("{\"x\":1.5,\"b\":true,\"s\":\"tn\",\"e\":\"\",\"a\":[1,2]}");
    struct json_at root = json_root(tree, "x.json");
    assert_int_equal(json_read_number(json_member(root, "x"), 0, 2, &number, &err), 0);
    assert_true(number == 1.5);
    assert_int_equal(json_read_number(json_member(root, "x"), 0, 1, &number, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.x: expected a number from 0 to 1, found 1.5");
    assert_int_equal(json_read_bool(json_member(root, "b"), &flag, &err), 0);
    assert_true(flag);
    assert_int_equal(json_read_bool(json_member(root, "x"), &flag, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.x: expected true or false, found 1.5");
    assert_int_equal(json_read_string(json_member(root, "s"), &string, &err), 0);
    assert_string_equal(string, "tn");
    assert_int_equal(json_read_string(json_member(root, "e"), &string, &err), EXIT_CODE_DATA);
    assert_int_equal(json_read_choice(json_member(root, "s"), names, &choice, &err), 0);
    assert_int_equal(choice, 1);
    assert_int_equal(json_read_choice(json_member(root, "e"), names, &choice, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.e: expected one of nn, tn, found \"\"");
    assert_int_equal(json_read_array(json_member(root, "a"), 2, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(json_read_array(json_member(root, "a"), 3, &count, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.a: expected an array of at least 3, found 2");
    assert_int_equal(json_read_array(json_member(root, "b"), 0, &count, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "x.json: $.b: expected an array, found true");
    cJSON_Delete(tree);
}

/* cJSON's own lookup ignores case; ours must not. */
static void test_case_sensitive_member(void **state)
{
    (void)state;
    cJSON *tree = parse("{\"Grid\":1}");
    assert_null(at_path(tree).node);
    assert_null(json_member(json_element(json_root(tree, "x"), 0), "y").node);
    cJSON_Delete(tree);
}

static void test_each(void **state)
{
    const cJSON *node = NULL;
    struct json_at element;
    int index = -1, seen = 0;
    (void)state;
    cJSON *tree = parse("[10,11,12]");
    while (json_each(json_root(tree, "x"), &node, &index, &element)) {
        char path[16];
        snprintf(path, sizeof path, "$[%d]", seen);
        assert_int_equal(index, seen);
        assert_string_equal(element.path, path);
        assert_true(element.node->valuedouble == 10.0 + seen);
        seen++;
    }
    assert_int_equal(seen, 3);
    cJSON_Delete(tree);
    tree = parse("{\"a\":1}");
    node = NULL;
    assert_false(json_each(json_root(tree, "x"), &node, &index, &element));
    cJSON_Delete(tree);
}

static void test_u64(void **state)
{
    static const uint64_t values[] = {0, 1, 9007199254740993u, UINT64_MAX};
    static const char *const bad[] = {
        "\"18446744073709551616\"", "\"-1\"", "\"\"", "\"+1\"", "\" 1\"", "\"01\"", "\"0x1\"", "-1", "1.5", "null",
        "9007199254740994e0"};
    struct error err;
    uint64_t value = 0;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        cJSON *tree = cJSON_CreateObject();
        json_put_u64(tree, "seed", values[i]);
        assert_int_equal(json_read_u64(json_member(json_root(tree, "x"), "seed"), &value, &err), 0);
        assert_true(value == values[i]);
        cJSON_Delete(tree);
    }
    cJSON *tree = parse("123");
    assert_int_equal(json_read_u64(json_root(tree, "x"), &value, &err), 0);
    assert_true(value == 123);
    cJSON_Delete(tree);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tree = parse(bad[i]);
        assert_int_equal(json_read_u64(json_root(tree, "x"), &value, &err), EXIT_CODE_DATA);
        cJSON_Delete(tree);
    }
}

static void test_long_paths_and_values_are_cut(void **state)
{
    struct error err;
    char shown[JSON_SHOWN_MAX];
    char text[200];
    (void)state;
    cJSON *tree = parse("{\"a\":1}");
    struct json_at at = json_root(tree, "x.json");
    for (int i = 0; i < 100; i++)
        at = json_member(at, "aaaaaaaaaaaaaaaaaaaa");
    json_fail(at, &err, "%s", "end");
    assert_memory_equal(err.text, "x.json: $.aaaa", 14);
    assert_string_equal(err.text + strlen(err.text) - 5, ": end");
    cJSON_Delete(tree);
    memset(text, 'x', 59);
    strcpy(text + 59, "\xe2\x82\xac and more"); /* the cut would fall into the euro sign */
    json_shown(text, shown);
    assert_int_equal(strlen(shown), 62);
    assert_string_equal(shown + 59, "...");
}

static void test_read_file(void **state)
{
    char path[] = "/tmp/test_json_XXXXXX";
    struct error err;
    cJSON *tree = NULL;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(json_read_file(path, 100, &tree, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, ": empty"));
    assert_int_equal(write(fd, "[1,\n2", 5), 5);
    assert_int_equal(json_read_file(path, 100, &tree, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, ": line 2, column 2: the text ends too early"));
    assert_int_equal(json_read_file(path, 4, &tree, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, ": 5 bytes, the limit is 4"));
    assert_int_equal(write(fd, "]", 1), 1);
    assert_int_equal(json_read_file(path, 100, &tree, &err), 0);
    cJSON_Delete(tree);
    close(fd);
    unlink(path);
    assert_int_equal(json_read_file(path, 100, &tree, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "cannot be read: No such file"));
    assert_int_equal(json_read_file("/", 100, &tree, &err), EXIT_CODE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts_every_kind),
        cmocka_unit_test(test_refuses_bad_syntax),
        cmocka_unit_test(test_refuses_bad_numbers),
        cmocka_unit_test(test_names_the_place),
        cmocka_unit_test(test_keeps_numbers),
        cmocka_unit_test(test_refuses_bad_strings),
        cmocka_unit_test(test_keeps_strings),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_size_cap),
        cmocka_unit_test(test_clashing_keys),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_only_keys),
        cmocka_unit_test(test_read_int),
        cmocka_unit_test(test_read_others),
        cmocka_unit_test(test_case_sensitive_member),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_u64),
        cmocka_unit_test(test_long_paths_and_values_are_cut),
        cmocka_unit_test(test_read_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
