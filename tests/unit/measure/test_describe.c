/* measure/bench: what a contender says of itself and JSON cannot hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "bench_fixture.h"

static struct fixture f;

/* What describe writes and JSON cannot hold is told in its place. */
static void a_description_that_is_no_json_says_so(void **state)
{
    static const char *const cases[][2] = {{"x\",\"b\":9007199254740993,\"\":\"", "an integer beyond 2^53"},
                                           {"x\",\"b\":NaN,\"y\":\"", "NaN is no number of JSON"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        fixture_open(&f, 1);
        strcpy(f.actors[0].instructions, cases[i][0]);
        fixture_start(&f);
        entrant_describe(&f.bench, &f.bench.entrants[0]);
        const cJSON *why = cJSON_GetObjectItem(f.bench.record->contenders[0].attributes, "describe_error");
        assert_true(cJSON_IsString(why) && strstr(why->valuestring, cases[i][1]));
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_description_that_is_no_json_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
