/* The expressions of manifests: values, precedence, laziness, and errors that say where. */
#include "contender/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct expr_variable variables[] = {{"M", 100}, {"BM", 16}, {"ZERO", 0}, {"_x9", -3}};
static const struct expr_scope scope = {variables, 4};

static int64_t value_of(const char *text)
{
    struct expr *e;
    struct error err;
    int64_t value = -999;
    if (expr_parse(text, &e, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(expr_text(e), text);
    if (expr_eval(e, &scope, &value, &err) != 0)
        fail_msg("%s", err.text);
    expr_free(e);
    return value;
}

static void values_and_precedence(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"7", 7},
                 {" 7 ", 7},
                 {"1+2*3", 7},
                 {"(1+2)*3", 9},
                 {"10-4-3", 3},
                 {"100/10/5", 2},
                 {"-7/2", -3},
                 {"-7%3", -1},
                 {"7 % 4 * 2", 6},
                 {"2 - -2", 4},
                 {"--5", 5},
                 {"!0 + !5", 1},
                 {"!!7", 1},
                 {"1 < 2 == 1", 1},
                 {"3 > 2 > 1", 0},
                 {"1 || 0 && 0", 1},
                 {"(1 || 0) && 0", 0},
                 {"2 && 3", 1},
                 {"0 || 9", 1},
                 {"1 ? 2 : 3", 2},
                 {"0 ? 2 : 0 ? 3 : 4", 4},
                 {"1 ? 0 ? 5 : 6 : 7", 6},
                 {"1 + 1 == 2 ? 10 : 20", 10},
                 {"5 <= 5", 1},
                 {"5 >= 6", 0},
                 {"5 != 5", 0},
                 {"min(3, -4)", -4},
                 {"max(3,-4)", 3},
                 {"max(min(9,5), 2)", 5},
                 {"min (1, 2)", 1},
                 {"ceildiv(M,BM)", 7},
                 {"ceildiv(96, BM)", 6},
                 {"ceildiv(-7,2)", -3},
                 {"ceildiv(7,-2)", -3},
                 {"ceildiv(-7,-2)", 4},
                 {"_x9 * 2", -6},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775807 - 1", INT64_MIN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (value_of(cases[i].text) != cases[i].value)
            fail_msg("%s is %lld, expected %lld", cases[i].text, (long long)value_of(cases[i].text),
                     (long long)cases[i].value);
}

static void only_the_needed_side_is_evaluated(void **state)
{
    (void)state;
    assert_int_equal(value_of("ZERO == 0 ? 1 : M/ZERO"), 1);
    assert_int_equal(value_of("ZERO != 0 ? M/ZERO : 2"), 2);
    assert_int_equal(value_of("ZERO && M/ZERO"), 0);
    assert_int_equal(value_of("1 || M/ZERO"), 1);
}

static void assert_parse_error(const char *text, int column, const char *says)
{
    struct expr *e = (struct expr *)1;
    struct error err;
    char expected[32];
    snprintf(expected, sizeof expected, "column %d of", column);
    if (expr_parse(text, &e, &err) != EXIT_CODE_DATA)
        fail_msg("\"%s\" was accepted", text);
    assert_null(e);
    if (!strstr(err.text, expected) || !strstr(err.text, says))
        fail_msg("\"%s\": got %s, expected %s ... %s", text, err.text, expected, says);
}

static void parse_errors_name_the_column(void **state)
{
    (void)state;
    assert_parse_error("", 1, "expected a value");
    assert_parse_error("   ", 4, "expected a value");
    assert_parse_error("1 +", 4, "expected a value");
    assert_parse_error("BM ** 2", 5, "expected a value");
    assert_parse_error("1 2", 3, "expected an operator");
    assert_parse_error("(1", 3, "expected ')'");
    assert_parse_error("1)", 2, "expected an operator");
    assert_parse_error("1 ? 2", 6, "expected ':'");
    assert_parse_error("1 : 2", 3, "expected an operator");
    assert_parse_error("min(1)", 6, "second argument");
    assert_parse_error("min(1,2,3)", 8, "after two arguments");
    assert_parse_error("2 + sqrt(4)", 5, "no such function");
    assert_parse_error("1 = 1", 3, "expected an operator");
    assert_parse_error("1.5", 2, "expected an integer");
    assert_parse_error("12abc", 3, "expected an integer");
    assert_parse_error("9223372036854775808", 19, "2^63");
    assert_parse_error("1 & 2", 3, "expected an operator");
    assert_parse_error("a_name_that_is_thirty_two_chars__", 34, "31 characters");
}

static void hostile_texts_are_refused(void **state)
{
    (void)state;
    struct expr *e;
    struct error err;
    char *deep = malloc(1000), *longer = malloc(3000);
    assert_true(deep && longer);
    memset(deep, '(', 900);
    deep[900] = 0;
    assert_int_equal(expr_parse(deep, &e, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "nested"));
    memset(deep, '-', 900);
    assert_int_equal(expr_parse(deep, &e, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "nested"));
    memset(longer, '1', 2000);
    longer[2000] = 0;
    assert_int_equal(expr_parse(longer, &e, &err), EXIT_CODE_DATA);
    for (int i = 0; i < 1000; i++)
        longer[i] = i % 2 ? '+' : '1';
    longer[999] = 0;
    longer[998] = '1';
    assert_int_equal(expr_parse(longer, &e, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "too long"));
    free(deep);
    free(longer);
}

static void assert_eval_error(const char *text, int column, const char *says)
{
    struct expr *e;
    struct error err;
    int64_t value;
    char expected[32];
    snprintf(expected, sizeof expected, "column %d of", column);
    assert_int_equal(expr_parse(text, &e, &err), 0);
    assert_int_equal(expr_eval(e, &scope, &value, &err), EXIT_CODE_DATA);
    if (!strstr(err.text, expected) || !strstr(err.text, says))
        fail_msg("\"%s\": got %s", text, err.text);
    expr_free(e);
}

static void evaluation_errors(void **state)
{
    (void)state;
    assert_eval_error("M / ZERO", 3, "division by zero");
    assert_eval_error("M % ZERO", 3, "division by zero");
    assert_eval_error("1 + ceildiv(M, ZERO)", 5, "division by zero");
    assert_eval_error("9223372036854775807 + 1", 21, "64 bits");
    assert_eval_error("9223372036854775807 * 2", 21, "64 bits");
    assert_eval_error("-9223372036854775807 - 2", 22, "64 bits");
    assert_eval_error("(-9223372036854775807 - 1) / -1", 28, "64 bits");
    assert_eval_error("-(-9223372036854775807 - 1)", 1, "64 bits");
    assert_eval_error("M + NOPE", 5, "unknown name NOPE");
}

static void check_finds_names_that_evaluation_would_skip(void **state)
{
    (void)state;
    struct expr *e;
    struct error err;
    int64_t value;
    assert_int_equal(expr_parse("1 || NOPE", &e, &err), 0);
    assert_int_equal(expr_eval(e, &scope, &value, &err), 0);
    assert_int_equal(expr_check(e, &scope, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "column 6 of"));
    expr_free(e);
    assert_int_equal(expr_parse("1 || M", &e, &err), 0);
    assert_int_equal(expr_check(e, &scope, &err), 0);
    expr_free(e);
    expr_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_precedence),
        cmocka_unit_test(only_the_needed_side_is_evaluated),
        cmocka_unit_test(parse_errors_name_the_column),
        cmocka_unit_test(hostile_texts_are_refused),
        cmocka_unit_test(evaluation_errors),
        cmocka_unit_test(check_finds_names_that_evaluation_would_skip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
