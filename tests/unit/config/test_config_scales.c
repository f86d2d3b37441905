/* alpha and beta in a config: read, checked, told apart, and written back. */
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
    assert_int_equal(parse("{\"m\": 64, \"n\": 96, \"k\": 128, \"alpha\": 0.5, \"beta\": -1.25}, "
                           "\"64x96x128:beta=0.125\", {\"m\": 64, \"n\": 96, \"k\": 128, \"alpha\": 1, \"beta\": 0}",
                           "", &c, &err),
                     0);
    assert_true(c.shapes[0].alpha == 0.5 && c.shapes[0].beta == -1.25);
    assert_true(c.shapes[1].alpha == 0 && c.shapes[1].beta == 0.125);
    cJSON *tree = config_to_json(&c);
    char *text = json_print(tree, false);
    assert_non_null(strstr(text, "{\"m\":64,\"n\":96,\"k\":128,\"alpha\":0.5,\"beta\":-1.25},"
                                 "{\"m\":64,\"n\":96,\"k\":128,\"beta\":0.125},{\"m\":64,\"n\":96,\"k\":128}"));
    assert_int_equal(config_parse(text, strlen(text), "again", &again, &err), 0);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(shape_equal(&c.shapes[i], &again.shapes[j]), i == j);
    free(text);
    cJSON_Delete(tree);
    config_free(&again);
    config_free(&c);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    expect_refused("{\"m\": 8, \"n\": 8, \"k\": 8, \"alpha\": 0}", "",
                   "c.json: $.shapes[0].alpha: expected another number than 0, found 0");
    expect_refused("{\"m\": 8, \"n\": 8, \"k\": 8, \"beta\": 4.5}", "",
                   "c.json: $.shapes[0].beta: expected a number from -4 to 4, found 4.5");
    expect_refused("{\"m\": 8, \"n\": 8, \"k\": 8, \"beta\": 0.3}", "",
                   "c.json: $.shapes[0]: beta: expected a multiple of 1/8 from -4 to 4");
    expect_refused("{\"m\": 8, \"n\": 8, \"k\": 8, \"beta\": \"1\"}", "",
                   "c.json: $.shapes[0].beta: expected a number from -4 to 4, found \"1\"");
    expect_refused("\"8x8x8:beta=1\"", ", \"modes\": [\"chain\"]",
                   "c.json: $.shapes[0]: mode chain takes packed problems only, without alpha and beta");
    expect_refused("\"8x8x8:beta=1\", \"8x8x8\", \"8x8x8:beta=1.0\"", "",
                   "c.json: $.shapes[2]: repeats $.shapes[0] (8x8x8)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_spellings_are_read_and_written),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
