/* Keys of a config that were renamed: what an older release wrote is read, and written under the name of today. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "config/config.h"

#define BEGIN                                                                                                          \
    "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":1,\"n\":2,\"k\":3}],"

static int parse(const char *text, struct config *out, struct error *err)
{
    return config_parse(text, strlen(text), "c.json", out, err);
}

static void the_former_name_is_read_and_not_written(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse(BEGIN "\"verify\":{\"apart\":false}}", &c, &err), 0);
    assert_false(c.process_per_plugin);
    cJSON *tree = config_to_json(&c);
    char *text = json_print(tree, false);
    assert_non_null(strstr(text, "\"process_per_plugin\":false"));
    assert_null(strstr(text, "\"apart\""));
    free(text);
    cJSON_Delete(tree);
    config_free(&c);
}

static void a_fault_names_what_was_written(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse(BEGIN "\"verify\":{\"apart\":1}}", &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "c.json: $.verify.apart: expected true or false, found 1");
}

static void both_names_are_one_too_many(void **state)
{
    static const char says[] = "c.json: $.verify: unknown key \"apart\"";
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse(BEGIN "\"verify\":{\"apart\":true,\"process_per_plugin\":true}}", &c, &err), EXIT_CODE_DATA);
    assert_memory_equal(err.text, says, sizeof says - 1);
    assert_int_equal(parse(BEGIN "\"stop\":{\"apart\":true}}", &c, &err), EXIT_CODE_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_former_name_is_read_and_not_written),
                                       cmocka_unit_test(a_fault_names_what_was_written),
                                       cmocka_unit_test(both_names_are_one_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
