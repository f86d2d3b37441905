/* Which timings a config asks for: one name, a list, or the older key; and what is refused. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

static int parse(const char *rest, struct config *c, struct error *err)
{
    char text[400];
    snprintf(text, sizeof text, "{\"shapes\":[{\"m\":1,\"n\":2,\"k\":3}],%s}", rest);
    return config_parse(text, strlen(text), "c.json", c, err);
}

static void accept_with(const char *rest, struct config *c)
{
    struct error err;
    if (parse(rest, c, &err))
        fail_msg("%s", err.text);
}

static void refuse_with(const char *rest, const char *message)
{
    struct config c;
    struct error err;
    assert_int_equal(parse(rest, &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, message);
}

/* Written out and read back, as a journal and a worker get it. */
static void assert_round_trip(const struct config *c)
{
    struct config back;
    struct error err;
    cJSON *tree = config_to_json(c);
    char *text = json_print(tree, false);
    assert_non_null(text);
    assert_int_equal(config_parse(text, strlen(text), "c.json", &back, &err), 0);
    assert_int_equal(back.headline, c->headline);
    assert_int_equal(back.timings, c->timings);
    config_free(&back);
    cJSON_free(text);
    cJSON_Delete(tree);
}

/* What stands beside the headline is taken if asked for; the others always. */
static void test_timings(void **state)
{
    struct config c;
    uint32_t usual = timing_defaults(), with_row = usual | CUDAL2_BIT(TIMING_DEVICE_ROW);
    static const struct {
        const char *text;
        enum timing headline;
        bool row;
    } of[] = {{"\"aa\": true", TIMING_DEVICE, false},
              {"\"timing\": \"event\"", TIMING_EVENT, false},
              {"\"timing\": \"device-row\"", TIMING_DEVICE_ROW, true},
              {"\"timing\": [\"device\", \"device-row\"]", TIMING_DEVICE, true},
              {"\"timing\": [\"device-row\", \"wall\"]", TIMING_DEVICE_ROW, true},
              {"\"timing\": [\"wall\"]", TIMING_WALL, false},
              /* of older configs */
              {"\"overlap\": \"none\"", TIMING_DEVICE, false},
              {"\"overlap\": \"launches\"", TIMING_DEVICE_ROW, true},
              {"\"overlap\": \"launches\", \"timing\": \"wall\"", TIMING_WALL, false}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        accept_with(of[i].text, &c);
        assert_int_equal(c.headline, of[i].headline);
        assert_int_equal(c.timings, of[i].row ? with_row : usual);
        assert_round_trip(&c);
        config_free(&c);
    }
    refuse_with("\"timing\": []", "c.json: $.timing: expected an array of at least 1, found 0");
    refuse_with("\"timing\": [\"device\", \"gpu\"]",
                "c.json: $.timing[1]: expected one of device, device-row, event, wall, found \"gpu\"");
    refuse_with("\"timing\": [\"wall\", \"wall\"]", "c.json: $.timing[1]: \"wall\" is there twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_timings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
