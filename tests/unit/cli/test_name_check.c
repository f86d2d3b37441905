/* cli/name_check: a misspelt contender is an error that names its place and the nearest name, before anything runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/name_check.h"
#include "command_line.h"

static char root[64], plugins[96], kernels[96];

static void put(const char *directory, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void touch(const char *directory, const char *name)
{
    put(directory, name, "");
}

/* A plugin directory and a kernel directory with two sets. */
static int make_directories(void **state)
{
    char command[512];
    (void)state;
    strcpy(root, "/tmp/cudal2-known-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(plugins, sizeof plugins, "%s/plugins", root);
    snprintf(kernels, sizeof kernels, "%s/kernels", root);
    snprintf(command, sizeof command, "mkdir -p %s %s/sets %s/harness", plugins, kernels, kernels);
    if (system(command) != 0)
        return -1;
    touch(plugins, "torch.so");
    touch(plugins, "cublaslt.so");
    touch(plugins, "vendor.so");
    touch(plugins, "notes.txt");
    touch(kernels, "harness/prelude.cuh");
    touch(kernels, "sets/cudal2.json");
    touch(kernels, "sets/other.json");
    touch(kernels, "tiny.json");
    put(root, "mine.json", "{\"schema\":\"cudal2-bench/kernel\"}");
    put(root, "result.json", "{\"schema\":\"cudal2-bench/result\"}");
    return 0;
}

static int remove_directories(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static int check(const char *lists, const char *arguments, struct error *err)
{
    char text[1024], line[512];
    struct options options;
    struct config config;
    snprintf(text, sizeof text,
             "{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"x\",\"shapes\":[{\"m\":1,\"n\":1,"
             "\"k\":1}]%s%s}",
             lists[0] ? "," : "", lists);
    snprintf(line, sizeof line, "-c c --plugins %s --kernels %s %s", plugins, kernels, arguments);
    accept(line, &options);
    assert_int_equal(config_parse(text, strlen(text), "c.json", &config, err), 0);
    err->text[0] = '\0';
    struct faults faults = {.count = 0};
    name_check_config(&options, &config, "c.json", &faults);
    int code = faults.first.code;
    if (code)
        *err = faults.first;
    faults_free(&faults);
    if (!code)
        code = options_apply(&options, &config, err);
    if (!code)
        code = name_check_options(&options, &config, err);
    config_free(&config);
    return code;
}

static void refuse(const char *lists, const char *arguments, int code, const char *message)
{
    struct error err;
    assert_int_equal(check(lists, arguments, &err), code);
    assert_string_equal(err.text, message);
}

static void pass(const char *lists, const char *arguments)
{
    struct error err;
    int code = check(lists, arguments, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(code, 0);
}

static void known_names_pass(void **state)
{
    (void)state;
    pass("", "");
    /* a family that is not built here is a contender that is not available, not a mistake */
    pass("\"baselines\":[\"torch.matmul\",\"cublas\",\"openblas\"],\"candidates\":[\"cudal2\",\"other\"]", "");
    pass("\"baselines\":[\"vendor\",\"vendor-fast\"],\"candidates\":[\"cublas\"]", "");
    pass("\"baselines\":[\"/no/such/file.so\"],\"candidates\":[\"set.json\"]", ""); /* may be on another machine */
    pass("\"candidates\":[\"tiny\"]", ""); /* a single kernel of the directory */
    pass("", "--baselines vendor,openblas --candidate other --candidate cudal2");
}

static void misspelt_names_name_their_place(void **state)
{
    (void)state;
    refuse("\"baselines\":[\"cublas\",\"cublass\"]", "", EXIT_CODE_DATA,
           "c.json: $.baselines[1]: there is no family or plugin \"cublass\" (did you mean cublas?)");
    refuse("\"baselines\":[\"cublaslt-hueristic\"]", "", EXIT_CODE_DATA,
           "c.json: $.baselines[0]: there is no family or plugin \"cublaslt-hueristic\" (did you mean "
           "cublaslt-heuristic?)");
    refuse("\"baselines\":[\"torch\"]", "", EXIT_CODE_DATA,
           "c.json: $.baselines[0]: there is no family or plugin \"torch\" (did you mean torch.matmul?)");
    refuse("\"candidates\":[\"cudal2\",\"othr\"]", "", EXIT_CODE_DATA,
           "c.json: $.candidates[1]: there is no family, kernel or plugin \"othr\" (did you mean other?)");
    refuse("\"candidates\":[\"xyzzy\"]", "", EXIT_CODE_DATA,
           "c.json: $.candidates[0]: there is no family, kernel or plugin \"xyzzy\" (see cudal2-bench list)");
    refuse("\"candidates\":[\"cudal2\",\"gemm.cu\"]", "", EXIT_CODE_DATA,
           "c.json: $.candidates[1]: \"gemm.cu\": expected a manifest (.json) that names it as its source "
           "(docs/any-kernel.md)");
    refuse("", "--candidate gemm.cubin", EXIT_CODE_USAGE,
           "--candidate: \"gemm.cubin\": expected a manifest (.json) that names it as its source "
           "(docs/any-kernel.md)");
    refuse("", "--baselines cublas,openblass", EXIT_CODE_USAGE,
           "--baselines: there is no family or plugin \"openblass\" (did you mean openblas?)");
    refuse("", "--candidate cudla2", EXIT_CODE_USAGE,
           "--candidate: there is no family, kernel or plugin \"cudla2\" (did you mean cudal2?)");
}

static void typed_paths_must_be_there(void **state)
{
    char line[256];
    (void)state;
    snprintf(line, sizeof line, "-k %s/vendor.so -b %s/torch.so", plugins, plugins);
    pass("", line);
    refuse("", "-k somewhere/else.json", EXIT_CODE_DATA,
           "--candidate: somewhere/else.json: cannot be read: No such file or directory");
    refuse("", "-b cublas,./vendor.so", EXIT_CODE_DATA,
           "--baselines: ./vendor.so: cannot be read: No such file or directory");
}

/* A result in a manifest's place would be missed in the table only after everything else is measured. */
static void typed_manifests_must_be_some(void **state)
{
    char line[256], message[400];
    struct error err;
    (void)state;
    snprintf(line, sizeof line, "-k %s/mine.json", root);
    pass("", line);
    snprintf(line, sizeof line, "-k %s/result.json", root);
    snprintf(message, sizeof message,
             "--candidate: %s/result.json: $.schema: expected one of cudal2-bench/kernel, cudal2-bench/kernel-set, "
             "found \"cudal2-bench/result\"",
             root);
    refuse("", line, EXIT_CODE_DATA, message);
    snprintf(line, sizeof line, "\"candidates\":[\"%s/result.json\"]", root);
    assert_int_equal(check(line, "", &err), 0); /* the run says it of the contender */
}

static void typed_tables_must_be_there(void **state)
{
    (void)state;
    pass("", "--tuned none");
    refuse("", "--tuned no/table.json", EXIT_CODE_DATA,
           "--tuned: no/table.json: cannot be read: No such file or directory");
}

static void directories_must_be_some(void **state)
{
    char line[256];
    struct options options;
    struct error err;
    (void)state;
    snprintf(line, sizeof line, "list --plugins %s --kernels %s", plugins, kernels);
    accept(line, &options);
    assert_int_equal(name_check_directories(&options, &err), 0);
    accept("list --plugins /no/such", &options);
    assert_int_equal(name_check_directories(&options, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text,
                        "--plugins: /no/such: No such file or directory (expected a directory of plugins, *.so)");
    accept("list --kernels /no/such", &options);
    assert_int_equal(name_check_directories(&options, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "--kernels: /no/such: No such file or directory (expected a directory"));
    accept("list", &options);
    assert_int_equal(name_check_directories(&options, &err), 0);
}

static void operands_and_list_are_checked(void **state)
{
    struct options options;
    struct error err;
    (void)state;
    accept("verify none.so", &options);
    assert_int_equal(name_check_operands(&options, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "none.so: cannot be read: No such file or directory");
    accept("list -k xyzzy.json", &options); /* no config there */
    assert_int_equal(name_check_options(&options, NULL, &err), EXIT_CODE_DATA);
    char line[200];
    snprintf(line, sizeof line, "verify xyzzy --kernels %s", kernels); /* a name, and no file */
    accept(line, &options);
    assert_int_equal(name_check_operands(&options, &err), EXIT_CODE_USAGE);
}

static void a_kernel_set_is_no_baseline(void **state)
{
    (void)state;
    refuse("\"baselines\":[\"cudal2\"]", "", EXIT_CODE_DATA,
           "c.json: $.baselines[0]: \"cudal2\" is a kernel, which is a candidate (or give the path of cudal2.json)");
}

/* Without a kernel directory nobody can tell which sets there are: the run itself says that it is missing. */
static void sets_are_unknown_without_their_directory(void **state)
{
    char kept[96];
    (void)state;
    memcpy(kept, kernels, sizeof kept);
    strcpy(kernels, "/no/such/directory");
    pass("\"candidates\":[\"anything\"]", "");
    memcpy(kernels, kept, sizeof kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_names_pass),
        cmocka_unit_test(misspelt_names_name_their_place),
        cmocka_unit_test(typed_paths_must_be_there),
        cmocka_unit_test(typed_manifests_must_be_some),
        cmocka_unit_test(typed_tables_must_be_there),
        cmocka_unit_test(directories_must_be_some),
        cmocka_unit_test(operands_and_list_are_checked),
        cmocka_unit_test(a_kernel_set_is_no_baseline),
        cmocka_unit_test(sets_are_unknown_without_their_directory),
    };
    return cmocka_run_group_tests(tests, make_directories, remove_directories);
}
