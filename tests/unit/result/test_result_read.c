/* result/read: broken values of a result are refused by file, path and what was expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

static const char whole[] =
    "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,"
    "\"run\":{\"n_cells\":1,\"complete\":true,\"missing\":[\"x\"],\"sittings\":[{}]},"
    "\"env\":[{\"device\":{\"name\":\"G\",\"driver\":\"1\",\"peak_flops\":1e15}}],"
    "\"summary\":{\"counts\":{\"cells\":1},\"convergence\":{\"share\":1,\"not_converged\":[{\"half_width\":0.1}]},"
    "\"speedups\":[{\"timing\":\"device\",\"n\":3,\"wins\":2,\"mean\":0.5,\"ci95\":[-1.5,2.5],\"sd\":null}],"
    "\"aa\":[{\"n\":1,\"false_alarm_rate\":0,\"mean_log_ratio\":-0.1}],\"left_out\":[{\"cells\":1}]},"
    "\"cells\":[{\"key\":\"a\",\"m\":64,\"n\":64,\"k\":64,\"env\":-1,\"blocks\":8,\"converged\":true,\"worst_half_"
    "width\":null,"
    "\"null_graph\":{\"n\":8,\"median_ns\":0},"
    "\"contenders\":{\"c-nn\":{\"status\":\"ok\",\"layout\":\"nn\",\"tflops\":1,\"early\":true,"
    "\"timings\":{\"device\":{\"n\":8,\"median_ns\":1000,\"sd_ns\":0},\"event\":null}}},"
    "\"speedups\":[{\"candidate\":\"c-max\",\"geomean\":0.25,\"mean_of_ratios\":0.26,\"ci95\":[0.2,0.3]},"
    "{\"geomean\":null,\"ci95\":null}],\"aa\":[{\"ci95\":[-0.01,0.02],\"excludes_one\":false}]}]}";

/* The whole with `from` replaced by `to`, once. */
static char *edited(const char *from, const char *to)
{
    const char *at = strstr(whole, from);
    assert_non_null(at);
    char *out = malloc(sizeof whole + strlen(to));
    assert_non_null(out);
    sprintf(out, "%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
    return out;
}

static void a_whole_result_passes(void **state)
{
    struct error err = {0};
    struct result *result = NULL;
    (void)state;
    if (result_parse("r.json", whole, strlen(whole), &result, &err))
        fail_msg("%s", err.text);
    result_free(result);
}

static void broken_values_are_refused(void **state)
{
    static const char *const bad[][3] = {
        {"\"median_ns\":1000", "\"median_ns\":-5",
         "$.cells[0].contenders[\"c-nn\"].timings.device.median_ns: expected a number from 0.001 to 1e+15, found -5"},
        {"\"median_ns\":1000", "\"median_ns\":0", ".device.median_ns: expected a number from 0.001 to 1e+15, found 0"},
        {"\"median_ns\":1000", "\"median_ns\":\"1000\"",
         ".median_ns: expected a number from 0.001 to 1e+15, found \"1"},
        {"\"median_ns\":1000", "\"median_ns\":1e300",
         ".median_ns: expected a number from 0.001 to 1e+15, found 1e+300"},
        {"\"n\":8,\"median_ns\":1000", "\"n\":null", ".timings.device.n: expected an integer"},
        {"\"sd_ns\":0", "\"sd_ns\":-1", ".sd_ns: expected a number from 0 to 1e+21, found -1"},
        {"\"event\":null", "\"event\":[]", ".timings.event: expected an object, found an array"},
        {"\"tflops\":1", "\"tflops\":\"fast\"", ".tflops: expected a number from 0 to 1e+21, found \"fast\""},
        {"\"early\":true", "\"early\":1", ".early: expected true or false, found 1"},
        {"\"status\":\"ok\"", "\"status\":{}", ".status: expected a string, found an object"},
        {"[0.2,0.3]", "[0.3,0.2]", "$.cells[0].speedups[0].ci95: expected the lower end first, found [0.3, 0.2]"},
        {"[0.2,0.3]", "[0.2]", "$.cells[0].speedups[0].ci95: expected two numbers, the lower end and the upper one"},
        {"[0.2,0.3]", "[0.2,0.3,0.4]", "$.cells[0].speedups[0].ci95: expected two numbers"},
        {"[0.2,0.3]", "[0.2,\"x\"]", "$.cells[0].speedups[0].ci95[1]: expected a number"},
        {"[0.2,0.3]", "0.2", "$.cells[0].speedups[0].ci95: expected two numbers"},
        {"[-0.01,0.02]", "[0.03,0.02]", "$.cells[0].aa[0].ci95: expected the lower end first"},
        {"[-1.5,2.5]", "[3.5,2.5]", "$.summary.speedups[0].ci95: expected the lower end first"},
        {"\"geomean\":0.25", "\"geomean\":-2", "$.cells[0].speedups[0].geomean: expected a number from -1"},
        {"\"candidate\":\"c-max\"", "\"candidate\":7", "$.cells[0].speedups[0].candidate: expected a string, found 7"},
        {"\"m\":64", "\"m\":0", "$.cells[0].m: expected an integer from 1"},
        {"\"m\":64", "\"m\":64.5", "$.cells[0].m: expected an integer from 1"},
        {"\"n\":64,", "", "$.cells[0].n: is missing: expected an integer from 1"},
        {"\"blocks\":8", "\"blocks\":-8", "$.cells[0].blocks: expected an integer from 0"},
        {"\"converged\":true", "\"converged\":\"yes\"", "$.cells[0].converged: expected true or false"},
        {"\"wins\":2", "\"wins\":-2", "$.summary.speedups[0].wins: expected an integer from 0"},
        {"\"n\":3,", "", "$.summary.speedups[0].n: is missing: expected an integer from 0"},
        {"\"share\":1", "\"share\":2", "$.summary.convergence.share: expected a number from 0 to 1, found 2"},
        {"\"missing\":[\"x\"]", "\"missing\":[4]", "$.run.missing[0]: expected a string, found 4"},
        {"\"driver\":\"1\"", "\"driver\":1", "$.env[0].device.driver: expected a string, found 1"},
        {"\"cells\":[{", "\"cells\":[7,{", "$.cells[0]: expected an object, found 7"},
        {"\"summary\":{", "\"sum\":{", "$.summary: is missing: expected an object"},
        {"\"cells\":[{", "\"cell\":[{", "$.cells: is missing: expected an array"},
        {"[{\"cells\":1}]", "{\"cells\":1}", "$.summary.left_out: expected an array, found an object"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        struct result *result = NULL;
        char *text = edited(bad[i][0], bad[i][1]);
        int code = result_parse("r.json", text, strlen(text), &result, &err);
        if (code != EXIT_CODE_DATA || strncmp(err.text, "r.json: $.", 10) != 0 || !strstr(err.text, bad[i][2]))
            fail_msg("%s: %d, \"%s\", expected \"%s\"", bad[i][1], code, err.text, bad[i][2]);
        assert_null(result);
        free(text);
    }
}

/* Of two blocks that hardly agree, as a run made it. */
static void a_wide_interval_is_read(void **state)
{
    struct error err = {0};
    struct result *result = NULL;
    char *text = edited("[0.2,0.3]", "[-1,4.98e21]");
    (void)state;
    if (result_parse("r.json", text, strlen(text), &result, &err))
        fail_msg("%s", err.text);
    result_free(result);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_whole_result_passes),
                                       cmocka_unit_test(a_wide_interval_is_read),
                                       cmocka_unit_test(broken_values_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
