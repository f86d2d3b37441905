/* result/run_info: the configuration, build and environment of a run as structs; what is of another type is refused by
 * file, path and what was expected, and nothing that a file may hold brings the reader down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "result/run_info.h"

static const char run_text[] =
    "{\"started\":\"then\",\"plan_hash\":\"p\",\"seed\":\"7\",\"config_hash\":\"c\",\"device\":\"cuda\",\"argv\":[1],"
    "\"build\":{\"commit\":\"0123\",\"flags\":5},"
    "\"config\":{\"protocol\":\"adaptive\",\"modes\":[\"offline\"],\"timing\":\"device\",\"accumulate\":[\"f32\"],"
    "\"layouts\":[\"nn\"],\"server\":{\"gap\":1},\"offline\":{},\"overlap\":\"off\",\"workspace_bytes\":9,"
    "\"tune\":{\"choice\":\"race\"},\"baselines\":[\"cublas\",\"/x/torch\"],\"candidates\":[\"mine\"],"
    "\"dtype\":\"native\"}}";

static const char env_text[] =
    "{\"device\":{\"kind\":\"cuda\",\"name\":\"H\",\"driver\":\"570.1\",\"power_limit_mw\":null,\"threads\":8},"
    "\"libraries\":{\"cublas\":{\"cublas\":\"13\",\"path\":\"/x\",\"plugin_name\":\"n\",\"settings\":{\"a\":1}},"
    "\"tuned\":{\"h200\":{\"commit\":\"abc\",\"hash\":\"def\",\"device\":\"H\"}},"
    "\"mine\":{\"plugin_digest\":\"aa\",\"set\":\"s\",\"kernels\":{\"k\":\"1\"},\"nvrtc\":\"13.0\"}},"
    "\"unavailable\":{\"torch\":\"no such file\",\"odd\":3}}";

static void a_run_is_read(void **state)
{
    struct run_info info;
    struct error err = {0};
    cJSON *json = cJSON_Parse(run_text);
    (void)state;
    if (run_info_read(json_root(json, "j"), &info, &err))
        fail_msg("%s", err.text);
    assert_string_equal(info.started, "then");
    assert_string_equal(info.device, "cuda");
    assert_string_equal(info.build.commit, "0123");
    assert_non_null(info.config.json);
    assert_string_equal(info.config.protocol, "adaptive");
    assert_string_equal(info.config.overlap, "off");
    assert_int_equal(info.config.n_candidates, 1);
    assert_int_equal(info.config.n_baselines, 2);
    assert_string_equal(info.config.baselines[1], "/x/torch");
    assert_true(info.config.workspace_bytes == 9);
    assert_int_equal(cJSON_GetArraySize(info.config.tune), 1);
    run_info_free(&info);
    assert_string_equal(info.config.protocol, "");
    cJSON_Delete(json);
}

static void an_environment_is_read(void **state)
{
    struct env_info info;
    struct error err = {0};
    cJSON *json = cJSON_Parse(env_text);
    (void)state;
    if (env_info_read(json_root(json, "j"), &info, &err))
        fail_msg("%s", err.text);
    assert_string_equal(info.device.driver, "570.1");
    assert_true(cJSON_IsNull(info.device.power_limit_mw));
    /* The tables are none of the libraries, and come wherever they stand. */
    assert_int_equal(info.libraries.n, 2);
    assert_string_equal(info.libraries.list[1].name, "mine");
    assert_string_equal(env_info_table(&info, "h200")->commit, "abc");
    assert_null(env_info_table(&info, "cublas"));
    assert_null(env_info_library(&info, "tuned"));
    /* Of a library's members those that say which code it is, or where, are no versions. */
    const struct result_library *cublas = env_info_library(&info, "cublas"), *mine = env_info_library(&info, "mine");
    assert_int_equal(cublas->n_versions, 2);
    assert_string_equal(cublas->versions[0].name, "cublas");
    assert_string_equal(cublas->versions[1].name, "settings");
    assert_null(cublas->plugin_digest);
    assert_int_equal(mine->n_versions, 1);
    assert_non_null(mine->kernels);
    assert_non_null(result_member_find(info.unavailable, info.n_unavailable, "odd"));
    assert_null(result_member_find(info.unavailable, info.n_unavailable, "cublas"));
    env_info_free(&info);
    cJSON_Delete(json);
}

static void what_is_absent_is_clear(void **state)
{
    struct run_info run;
    struct env_info env;
    struct error err = {0};
    cJSON *empty = cJSON_Parse("{\"build\":null,\"config\":null,\"libraries\":null,\"device\":null}");
    (void)state;
    cJSON_DeleteItemFromObject(empty, "device");
    assert_int_equal(run_info_read(json_root(empty, "j"), &run, &err), 0);
    assert_int_equal(env_info_read(json_root(empty, "j"), &env, &err), 0);
    assert_string_equal(run.build.commit, "");
    assert_null(run.config.json);
    assert_true(isnan(run.config.workspace_bytes) && isnan(env.device.threads));
    assert_string_equal(env.device.name, "");
    assert_null(env_info_library(&env, "cublas"));
    run_info_free(&run);
    env_info_free(&env);
    cJSON_Delete(empty);
}

/* `whole` with `from` replaced by `to`, read as a run or as an environment. */
static void refuse(const char *whole, const char *const edit[3])
{
    char text[2000];
    struct run_info run;
    struct env_info env;
    struct error err = {0};
    const char *at = strstr(whole, edit[0]);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, edit[1], at + strlen(edit[0]));
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    int code = whole == run_text ? run_info_read(json_root(json, "j: line 2"), &run, &err)
                                 : env_info_read(json_root(json, "j: line 2"), &env, &err);
    assert_int_equal(code, EXIT_CODE_DATA);
    if (strcmp(err.text, edit[2]) != 0)
        fail_msg("\"%s\" and not \"%s\"", err.text, edit[2]);
    cJSON_Delete(json);
}

static void other_types_are_refused(void **state)
{
    static const char *const runs[][3] = {
        {run_text, "[]", "j: line 2: $: expected an object, found an array"},
        {"\"then\"", "5", "j: line 2: $.started: expected a string, found 5"},
        {"{\"commit\":\"0123\",\"flags\":5}", "[]", "j: line 2: $.build: expected an object, found an array"},
        {"\"0123\"", "{}", "j: line 2: $.build.commit: expected a string, found an object"},
        {"\"adaptive\"", "null", "j: line 2: $.config.protocol: expected a string, found null"},
        {"[\"offline\"]", "{}", "j: line 2: $.config.modes: expected an array, found an object"},
        {"{\"gap\":1}", "[]", "j: line 2: $.config.server: expected an object, found an array"},
        {"{\"choice\":\"race\"}", "null", "j: line 2: $.config.tune: expected an object, found null"},
        {"\"/x/torch\"", "7", "j: line 2: $.config.baselines[1]: expected a string, found 7"},
        {"[\"mine\"]", "\"mine\"",
         "j: line 2: $.config.candidates: expected an array, found \"mine\" (write [\"mine\"])"},
    };
    static const char *const envs[][3] = {
        {env_text, "\"x\"", "j: line 2: $: expected an object, found \"x\""},
        {"\"570.1\"", "570", "j: line 2: $.device.driver: expected a string, found 570"},
        {"{\"a\":1}},", "{}},\"torch\":[],", "j: line 2: $.libraries.torch: expected an object, found an array"},
        {"{\"h200\":{\"commit\":\"abc\",\"hash\":\"def\",\"device\":\"H\"}}", "[]",
         "j: line 2: $.libraries.tuned: expected an object, found an array"},
        {"\"def\"", "null", "j: line 2: $.libraries.tuned.h200.hash: expected a string, found null"},
        {"{\"torch\":\"no such file\",\"odd\":3}", "[\"torch\"]",
         "j: line 2: $.unavailable: expected an object, found an array"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        refuse(run_text, runs[i]);
    for (size_t i = 0; i < sizeof envs / sizeof *envs; i++)
        refuse(env_text, envs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_read),
        cmocka_unit_test(an_environment_is_read),
        cmocka_unit_test(what_is_absent_is_clear),
        cmocka_unit_test(other_types_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
