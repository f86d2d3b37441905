/* cli/devices and cli/spec: what --device means, and what of a command line a run sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/devices.h"
#include "cli/spec.h"

static int resolve(const char *text, int gpus, struct devices *d)
{
    struct error err = {0};
    int code = devices_resolve(text, gpus, d, &err);
    assert_true(code == 0 || err.text[0] != '\0');
    return code;
}

static void test_devices(void **state)
{
    struct devices d;
    (void)state;
    assert_int_equal(resolve("auto", 0, &d), 0);
    assert_false(d.on_cuda);
    assert_string_equal(d.spec[0], "cpu");
    assert_int_equal(resolve("auto", 4, &d), 0);
    assert_true(d.on_cuda);
    assert_int_equal(d.count, 1);
    assert_string_equal(d.spec[0], "cuda:0");
    assert_int_equal(resolve("cpu", 4, &d), 0);
    assert_false(d.on_cuda);
    assert_int_equal(resolve("cuda:3,0", 4, &d), 0);
    assert_int_equal(d.count, 2);
    assert_string_equal(d.spec[0], "cuda:3");
    assert_string_equal(d.spec[1], "cuda:0");
    assert_int_equal(resolve("cuda:all", 3, &d), 0);
    assert_int_equal(d.count, 3);
    assert_string_equal(d.spec[2], "cuda:2");
    assert_string_equal(d.lock[0], ""); /* the UUID is another question */
}

static void test_devices_refused(void **state)
{
    static const char *const bad[] = {"",         "gpu",     "cuda:",   "cuda:x",  "cuda:1,",
                                      "cuda:,1",  "cuda:-1", "cuda:+1", "cuda:1 ", "cuda:99999999999999999999",
                                      "cuda:0,0", "CPU"};
    struct devices d;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(resolve(bad[i], 4, &d), EXIT_CODE_USAGE);
    assert_true(d.on_cuda);
    assert_int_equal(resolve("cuda", 0, &d), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(resolve("cuda:0", 0, &d), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(resolve("cuda:4", 4, &d), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(resolve("cuda:all", 0, &d), EXIT_CODE_UNAVAILABLE);
}

/* ---- the spec ---- */

static struct options parse(const char *output, const char *device)
{
    static char *argv[8];
    struct options options;
    struct error err;
    char *const words[] = {(char *)"cudal2-bench", (char *)"run",  (char *)"--shape",  (char *)"64x64x64",
                           (char *)"--output",     (char *)output, (char *)"--device", (char *)device};
    memcpy(argv, words, sizeof words);
    assert_int_equal(options_parse(8, argv, &options, &err), 0);
    return options;
}

static void test_a_spec_is_settled(void **state)
{
    const struct options options = parse("there/x.json", "cpu");
    struct run_config made;
    struct run_spec *spec = NULL;
    struct error err = {0};
    (void)state;
    assert_int_equal(run_config_open(&options, &made, &err), 0);
    assert_int_equal(spec_make(&options, &made, options.output, &spec, &err), 0);
    assert_ptr_equal(spec->config, &made.config);
    assert_null(spec->config_path);
    assert_string_equal(spec->output, "there/x.json");
    assert_string_equal(spec->journal, "there/x.journal.jsonl");
    assert_string_equal(spec->program, RUN_PROGRAM);
    assert_int_equal(spec->devices.count, 1);
    assert_false(spec->devices.on_cuda);
    assert_string_equal(spec->devices.lock[0], "");
    assert_int_equal(spec->argc, 8);
    assert_string_equal(spec->argv[1], "run");
    assert_true(spec->lock_seconds > 0);
    assert_true(spec->pause_seconds >= 1); /* what a GPU may need after a fault */
    assert_false(spec->search || spec->temporary || spec->extends || spec->resume);
    free(spec);
    run_config_close(&made);
}

static void test_a_device_that_is_not_there(void **state)
{
    const struct options options = parse("x.json", "cuda:63");
    struct run_config made;
    struct run_spec *spec = NULL;
    struct error err = {0};
    (void)state;
    assert_int_equal(run_config_open(&options, &made, &err), 0); /* the config can be read all the same */
    assert_true(made.devices.on_cuda);
    assert_int_equal(spec_make(&options, &made, options.output, &spec, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "--device cuda"));
    assert_null(spec);
    run_config_close(&made);
}

static void test_an_output_that_is_no_file(void **state)
{
    const struct options options = parse("-", "cpu");
    struct run_config made;
    struct run_spec *spec = NULL;
    struct error err = {0};
    (void)state;
    assert_int_equal(run_config_open(&options, &made, &err), 0);
    assert_int_equal(spec_make(&options, &made, options.output, &spec, &err), EXIT_CODE_USAGE);
    assert_non_null(strstr(err.text, "--output -"));
    assert_null(spec);
    run_config_close(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_devices_refused),
        cmocka_unit_test(test_a_spec_is_settled),
        cmocka_unit_test(test_a_device_that_is_not_there),
        cmocka_unit_test(test_an_output_that_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
