/* Leading dimensions in a config: read, checked against sizes, layouts and modes, and written back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "config_shapes.h"

static void both_spellings_are_read_and_written(void **state)
{
    struct config c, again;
    struct error err;
    (void)state;
    assert_int_equal(
        parse("{\"m\": 64, \"n\": 96, \"k\": 128, \"lda\": 136, \"ldc\": 96}, \"64x96x128:ldb=130\"", "", &c, &err), 0);
    assert_int_equal(c.shapes[0].lda, 136);
    assert_int_equal(c.shapes[0].ldc, 0); /* packed */
    assert_int_equal(c.shapes[1].ldb, 130);
    cJSON *tree = config_to_json(&c);
    char *text = json_print(tree, false);
    assert_non_null(
        strstr(text, "{\"m\":64,\"n\":96,\"k\":128,\"lda\":136},{\"m\":64,\"n\":96,\"k\":128,\"ldb\":130}"));
    assert_int_equal(config_parse(text, strlen(text), "again", &again, &err), 0);
    assert_true(shape_equal(&c.shapes[0], &again.shapes[0]) && shape_equal(&c.shapes[1], &again.shapes[1]));
    assert_false(shape_equal(&c.shapes[0], &c.shapes[1]));
    free(text);
    cJSON_Delete(tree);
    config_free(&again);
    config_free(&c);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    expect_refused("{\"m\": 64, \"n\": 96, \"k\": 128, \"lda\": 127}", "",
                   "c.json: $.shapes[0]: lda: expected 128 or more elements, found 127");
    expect_refused("{\"m\": 64, \"n\": 96, \"k\": 128, \"lda\": 0}", "",
                   "c.json: $.shapes[0].lda: expected an integer from 1 to 1048576, found 0");
    expect_refused("\"8x8x8\", \"64x96x128:ldb=100\"", "",
                   "c.json: $.shapes[1].ldb: layout tn needs 128 or more, found 100");
    expect_refused("\"64x96x128:ldb=95\"", ", \"layouts\": [\"nn\"]",
                   "c.json: $.shapes[0]: ldb: expected 96 or more elements, found 95");
    expect_refused("\"8x8x8:lda=16\"", ", \"modes\": [\"chain\"]",
                   "c.json: $.shapes[0]: mode chain takes packed problems only, without alpha and beta");
    expect_refused("\"8x8x8:lda=16\", \"8x8x8\", \"8x8x8:lda=16\"", "",
                   "c.json: $.shapes[2]: repeats $.shapes[0] (8x8x8)");
}

/* One layout alone needs less. */
static void layouts_decide(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse("\"64x96x128:ldb=100\"", ", \"layouts\": [\"nn\"]", &c, &err), 0);
    c.layouts |= CUDAL2_BIT(CUDAL2_TN); /* as an option may */
    assert_int_equal(config_check(&c, &err), EXIT_CODE_DATA);
    config_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_spellings_are_read_and_written),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(layouts_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
