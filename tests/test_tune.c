/* tune/tune: a measuring config becomes a tuning one, or is refused with what to say instead. */
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "worker/cell.h"

#define HEAD                                                                                                           \
    "{\"schema\":\"cudal2-bench/"                                                                                      \
    "config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":32,\"n\":32,\"k\":32},"                           \
    "{\"m\":64,\"n\":64,\"k\":64}],\"dtype\":\"f16\","

static struct config config;
static struct error err;

static void parse(const char *rest)
{
    char text[1000];
    snprintf(text, sizeof text, HEAD "%s}", rest);
    if (config_parse(text, strlen(text), "t", &config, &err))
        fail_msg("%s", err.text);
}

static void a_measuring_config_is_adjusted(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f32\"],\"modes\":[\"offline\",\"server\"],\"aa\":true,\"baselines\":[\"torch.matmul\","
          "\"cublas\","
          "\"cublaslt-autotuning\"],\"candidates\":[\"cudal2\"],\"limits\":{\"launch_seconds\":10,\"tune_seconds\":3}");
    if (tune_adjust(&config, &err))
        fail_msg("%s", err.text);
    assert_string_equal(config.baselines[0], "cublaslt-autotuning");
    assert_null(config.baselines[1]);
    assert_int_equal(config.modes, CUDAL2_BIT(MODE_OFFLINE));
    assert_false(config.aa);
    assert_true(config.verify);
    assert_true(config.stop.min_blocks / config.stop.group_blocks >= 12); /* half of the groups choose, half time */
    assert_true(config.limits.launch_seconds == 5);                       /* tightened */
    assert_true(config.limits.tune_seconds == 3);                         /* never loosened */
    config_free(&config);
}

static void other_baselines_stay_without_the_yardstick(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"server\"],\"baselines\":[\"cublas\",\"openblas\"],\"candidates\":["
          "\"x\"]");
    assert_int_equal(tune_adjust(&config, &err), 0);
    assert_string_equal(config.baselines[1], "openblas");
    assert_int_equal(config.modes, CUDAL2_BIT(MODE_SERVER));
    config_free(&config);
}

static void a_choice_that_is_missing_is_asked_for(void **state)
{
    (void)state;
    parse("\"accumulate\":[\"f16\",\"f32\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"x\"]");
    assert_int_equal(tune_adjust(&config, &err), EXIT_CODE_USAGE);
    assert_non_null(strstr(err.text, "--accumulate"));
    config_free(&config);
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"]");
    assert_int_equal(tune_adjust(&config, &err), EXIT_CODE_USAGE);
    assert_non_null(strstr(err.text, "no candidate"));
    config_free(&config);
}

static int ready(const struct run_director *director, const char *env)
{
    cJSON *tree = NULL;
    if (json_parse(env, strlen(env), 4000, "env", &tree, &err))
        fail_msg("%s", err.text);
    int code = director->ready(director->context, tree, &err);
    cJSON_Delete(tree);
    return code;
}

/* A candidate without a search space races what it lists itself; each cell says so. */
static void a_plain_candidate_is_sent_off_alone(void **state)
{
    struct cell_request cell = {.problem = {32, 32, 32, CUDAL2_F16, CUDAL2_ACC_F16}};
    struct tune_request request = {.config = &config, .kernel_directory = "kernels"};
    struct tuner *tuner;
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"./x.so\"]");
    assert_int_equal(tune_adjust(&config, &err), 0);
    assert_int_equal(tune_open(&request, &tuner, &err), 0);
    const struct run_director *director = tune_director(tuner);
    assert_int_equal(ready(director, "{\"device\":{\"name\":\"some CPU\",\"kind\":\"cpu\",\"cc\":null}}"), 0);
    assert_int_equal(director->request(director->context, &cell, &err), 0);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(cell.search, "*")));
    assert_int_equal(cJSON_GetArraySize(cell.search), 1);
    assert_int_equal(cell.finalists, TUNE_FINALISTS);
    assert_true(cell.finalists <= CELL_MAX_FINALISTS);
    tune_close(tuner);
    config_free(&config);
}

static void an_environment_without_a_device_is_refused(void **state)
{
    struct tune_request request = {.config = &config};
    struct tuner *tuner;
    (void)state;
    parse("\"accumulate\":[\"f16\"],\"modes\":[\"offline\"],\"baselines\":[\"cublas\"],\"candidates\":[\"./x.so\"]");
    assert_int_equal(tune_open(&request, &tuner, &err), 0);
    assert_int_equal(ready(tune_director(tuner), "{\"device\":{}}"), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "device.name"));
    tune_close(tuner);
    config_free(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measuring_config_is_adjusted),
        cmocka_unit_test(other_baselines_stay_without_the_yardstick),
        cmocka_unit_test(a_choice_that_is_missing_is_asked_for),
        cmocka_unit_test(a_plain_candidate_is_sent_off_alone),
        cmocka_unit_test(an_environment_without_a_device_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
