/* The registry: which contenders a request gives, in which order, and what becomes of those that cannot be loaded. The
 * plugin directory is the default one of this program: the plugins built from tests/fixtures/plugins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "compile/kernels.h"
#include "contender/contender.h"
#include "contender/naming.h"
#include "scratch_fixture.h"

#define BOTH (CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN))

static struct device *device;

static struct registry *open_registry(const char *const *baselines, const char *const *candidates, uint32_t layouts)
{
    struct registry_request request = {.baselines = baselines, .candidates = candidates, .layouts = layouts};
    struct registry *r = NULL;
    struct error err;
    if (registry_open(&request, device, &r, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("expected \"%s\" in \"%s\"", part, text);
}

static void request_order_is_kept(void **unused)
{
    (void)unused;
    const char *first[] = {"honest", "nothing-of-this-name", NULL};
    const char *second[] = {"there.is.none", NULL};
    struct registry *r = open_registry(first, second, BOTH);
    assert_int_equal(registry_count(r), 3);
    assert_string_equal(registry_at(r, 0)->name, "honest-nn");
    assert_true(registry_at(r, 0)->available);
    assert_int_equal(registry_at(r, 0)->role, ROLE_BASELINE);
    assert_string_equal(registry_at(r, 1)->name, "nothing-of-this-name");
    assert_string_equal(registry_at(r, 1)->family, "nothing-of-this-name");
    assert_false(registry_at(r, 1)->available);
    assert_false(registry_at(r, 1)->has_layout_suffix);
    assert_says(registry_at(r, 1)->reason, "nothing.so");
    assert_false(registry_at(r, 2)->available);
    assert_int_equal(registry_at(r, 2)->role, ROLE_CANDIDATE);
    assert_true(registry_at(r, 2)->reason[0] != '\0');
    registry_close(r);
}

/* A set of the kernel directory is raced against as it races. */
static void a_set_is_a_baseline_too(void **unused)
{
    (void)unused;
    const char *names[] = {"one", "two", NULL};
    const struct registry_request request = {.baselines = names, .layouts = BOTH, .kernel_directory = scratch};
    struct registry *r = NULL;
    struct error err;
    assert_int_equal(file_make_directories(scratch_path("sets"), &err), 0);
    assert_int_equal(file_make_directories(scratch_path("harness"), &err), 0);
    scratch_write(KERNEL_PRELUDE, "");
    scratch_write("sets/one.json", "{"); /* it is read, and is none */
    assert_int_equal(registry_open(&request, device, &r, &err), 0);
    assert_int_equal(registry_count(r), 2);
    assert_says(registry_at(r, 0)->reason, "sets/one.json");
    assert_int_equal(registry_at(r, 0)->role, ROLE_BASELINE);
    assert_says(registry_at(r, 1)->reason, "two.so");
    registry_close(r);
}

static void layouts_that_are_not_raced_are_left_out(void **unused)
{
    (void)unused;
    const char *names[] = {"honest", NULL};
    struct registry *r = open_registry(names, NULL, CUDAL2_BIT(CUDAL2_TN));
    assert_int_equal(registry_count(r), 0);
    registry_close(r);
}

static void plugin_by_path_gives_all_its_contenders(void **unused)
{
    (void)unused;
    char here[512];
    char honest[1024];
    char refused[1024];
    char missing[1024];
    struct error err;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(honest, sizeof honest, "%s/plugins/honest.so", here);
    snprintf(refused, sizeof refused, "%s/plugins/bad_abi.so", here);
    snprintf(missing, sizeof missing, "%s/plugins/none.so", here);
    const char *candidates[] = {honest, refused, missing, NULL};
    struct registry *r = open_registry(NULL, candidates, BOTH);
    assert_int_equal(registry_count(r), 3);
    assert_string_equal(registry_at(r, 0)->name, "honest-nn");
    assert_int_equal(registry_at(r, 0)->role, ROLE_CANDIDATE);
    assert_string_equal(registry_at(r, 1)->name, "bad_abi");
    assert_false(registry_at(r, 1)->available);
    assert_says(registry_at(r, 1)->reason, "ABI 1002");
    assert_string_equal(registry_at(r, 2)->name, "none");
    assert_says(registry_at(r, 2)->reason, "cannot be read");
    registry_close(r);
}

static void probe_refusal_keeps_names_and_reason(void **unused)
{
    (void)unused;
    char here[512];
    char path[1024];
    struct error err;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(path, sizeof path, "%s/plugins/bad_probe.so", here);
    const char *candidates[] = {path, NULL};
    struct registry *r = open_registry(NULL, candidates, BOTH);
    assert_int_equal(registry_count(r), 1);
    assert_string_equal(registry_at(r, 0)->name, "bad-probe-nn");
    assert_false(registry_at(r, 0)->available);
    assert_says(registry_at(r, 0)->reason, "refuses");
    registry_close(r);
}

static void unknown_family_of_a_plugin_is_unavailable(void **unused)
{
    (void)unused;
    const char *names[] = {"honest-other", NULL};
    struct registry *r = open_registry(names, NULL, BOTH);
    assert_int_equal(registry_count(r), 1);
    assert_string_equal(registry_at(r, 0)->name, "honest-other");
    assert_false(registry_at(r, 0)->available);
    assert_says(registry_at(r, 0)->reason, "honest.so has no contender family of this name");
    registry_close(r);
}

static void other_device_makes_unavailable(void **unused)
{
    (void)unused;
    const char *names[] = {"honest", NULL};
    uint32_t bit = device->info.device_bit;
    device->info.device_bit = CUDAL2_ON_CUDA;
    struct registry *r = open_registry(names, NULL, BOTH);
    device->info.device_bit = bit;
    assert_int_equal(registry_count(r), 1);
    assert_false(registry_at(r, 0)->available);
    assert_string_equal(registry_at(r, 0)->reason, "runs on the CPU only");
    registry_close(r);
}

static void one_name_twice_is_an_error(void **unused)
{
    (void)unused;
    const char *names[] = {"honest", NULL};
    struct registry_request request = {.baselines = names, .candidates = names, .layouts = BOTH};
    struct registry *r;
    struct error err;
    assert_int_equal(registry_open(&request, device, &r, &err), EXIT_CODE_DATA);
    assert_null(r);
    assert_says(err.text, "\"honest-nn\"");
}

static struct contender named(const char *family, const char *layout, enum contender_role role)
{
    struct contender c = {.role = role, .has_layout_suffix = layout[0] != '\0'};
    snprintf(c.name, sizeof c.name, "%s%s", family, layout);
    snprintf(c.family, sizeof c.family, "%s", family);
    return c;
}

static void strangers_take_no_name_of_others(void **unused)
{
    const struct contender list[] = {named("cublas", "-nn", ROLE_BASELINE), named("mine", "-nn", ROLE_CANDIDATE)};
    const struct {
        const char *family, *layout, *says; /* says NULL: allowed */
    } rows[] = {
        {"cublas", "-nn", "\"cublas-nn\""},
        {"CUBLAS", "-tn", "\"cublas-nn\""},
        {"mine", "-nn", "\"mine-nn\""},
        {"mine", "-tn", NULL},
        {"cublas-max", "", "tables"},
        {"x-Max", "", "tables"},
        {"x-max", "-nn", NULL},
        {"strongest", "", "tables"},
        {"Strongest", "-tn", "tables"},
        {"strongest2", "-tn", NULL},
        {"other", "", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct contender c = named(rows[i].family, rows[i].layout, ROLE_CANDIDATE);
        char reason[CUDAL2_WHY] = "";
        assert_int_equal(naming_is_wrong(list, 2, &c, reason), rows[i].says != NULL);
        if (rows[i].says)
            assert_says(reason, rows[i].says);
    }
    char name[CONTENDER_NAME_MAX] = "Mine-nn";
    naming_apart(list, 2, name);
    assert_string_equal(name, "Mine-nn~2");
}

/* A baseline by name, and a stranger's file that calls itself the same: the baseline stays. */
static void a_file_of_a_taken_name_is_left_out(void **unused)
{
    char directory[400], path[512];
    const char *names[] = {"honest", NULL}, *paths[] = {path, NULL};
    struct error err;
    (void)unused;
    assert_int_equal(file_executable_directory(directory, sizeof directory, &err), 0);
    snprintf(path, sizeof path, "%s/plugins/honest.so", directory);
    struct registry *r = open_registry(names, paths, BOTH);
    assert_int_equal(registry_count(r), 2);
    assert_string_equal(registry_at(r, 0)->name, "honest-nn");
    assert_true(registry_at(r, 0)->available);
    assert_string_equal(registry_at(r, 1)->name, "honest");
    assert_false(registry_at(r, 1)->available);
    assert_says(registry_at(r, 1)->reason, "rename it");
    registry_close(r);
}

/* As keys of a result they could not be read back. */
static void names_that_differ_in_case_are_an_error(void **unused)
{
    (void)unused;
    const char *first[] = {"nobody", NULL}, *second[] = {"NoBody", NULL};
    struct registry_request request = {.baselines = first, .candidates = second, .layouts = BOTH};
    struct registry *r;
    struct error err;
    assert_int_equal(registry_open(&request, device, &r, &err), EXIT_CODE_DATA);
    assert_says(err.text, "\"NoBody\"");
}

static void missing_manifest_names_itself(void **unused)
{
    (void)unused;
    const char *candidates[] = {"./no/such/kernel.json", NULL};
    struct registry *r = open_registry(NULL, candidates, BOTH);
    assert_int_equal(registry_count(r), 1);
    assert_string_equal(registry_at(r, 0)->name, "kernel");
    assert_false(registry_at(r, 0)->available);
    registry_close(r);
}

/* ---- plugins of strangers ---- */

static char told[512];

static void note_loading(void *context, const char *plugin)
{
    assert_ptr_equal(context, told);
    strncat(told, plugin[0] ? plugin : ".", sizeof told - strlen(told) - 2);
    strcat(told, " ");
}

static struct registry *open_watched(const char *const *names, const struct plugin_refusal *refused, size_t n)
{
    struct registry_request request = {.candidates = names,
                                       .layouts = BOTH,
                                       .loading = note_loading,
                                       .loading_context = told,
                                       .refused = refused,
                                       .n_refused = n};
    struct registry *r = NULL;
    struct error err;
    told[0] = '\0';
    if (registry_open(&request, device, &r, &err) != 0)
        fail_msg("%s", err.text);
    return r;
}

static void somebody_is_told_whose_code_runs(void **unused)
{
    (void)unused;
    const char *names[] = {"honest", "none", "bad_probe", NULL};
    struct registry *r = open_watched(names, NULL, 0);
    assert_string_equal(told, "honest . bad_probe . ");
    free(registry_versions(r));
    assert_string_equal(told, "honest . bad_probe . honest . bad_probe . ");
    registry_close(r);
}

/* This one would end the test: it aborts in a constructor. */
static void refused_plugin_is_not_loaded(void **unused)
{
    (void)unused;
    const char *names[] = {"bad_load_crash", "honest", NULL};
    const struct plugin_refusal refused[] = {{"bad_load_crash", VERDICT_CRASH, "killed by signal 6"}};
    struct registry *r = open_watched(names, refused, 1);
    assert_string_equal(told, "honest . ");
    assert_int_equal(registry_count(r), 2);
    assert_string_equal(registry_at(r, 0)->name, "bad_load_crash");
    assert_false(registry_at(r, 0)->available);
    assert_int_equal(registry_at(r, 0)->verdict, VERDICT_CRASH);
    assert_says(registry_at(r, 0)->reason, "killed by signal 6");
    assert_true(registry_at(r, 1)->available);
    assert_int_equal(registry_at(r, 1)->verdict, VERDICT_OK);
    registry_close(r);
}

static void files_of_one_name_do_not_answer_for_each_other(void **unused)
{
    (void)unused;
    char here[900], elsewhere[1000];
    struct error err;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(elsewhere, sizeof elsewhere, "%s/../tests/plugins/honest.so", here);
    const char *names[] = {"honest", elsewhere, NULL};
    const struct plugin_refusal refused[] = {{"honest", VERDICT_CRASH, "x"}};
    struct registry *r = open_watched(names, refused, 1);
    assert_string_equal(told, "honest~2 . ");
    assert_int_equal(registry_count(r), 2);
    assert_string_equal(registry_at(r, 0)->name, "honest");
    assert_string_equal(registry_at(r, 1)->name, "honest-nn");
    registry_close(r);
}

static void versions_identify_each_plugin_file(void **unused)
{
    (void)unused;
    const char *names[] = {"honest", NULL};
    struct registry *r = open_registry(names, NULL, BOTH);
    char *text = registry_versions(r);
    cJSON *tree = NULL;
    struct error err;
    assert_non_null(text);
    assert_int_equal(json_parse(text, strlen(text), 1u << 16, "versions", &tree, &err), 0);
    const cJSON *plugin = cJSON_GetObjectItemCaseSensitive(tree, "honest");
    const cJSON *digest = cJSON_GetObjectItemCaseSensitive(plugin, "plugin_digest");
    assert_true(cJSON_IsString(digest));
    assert_int_equal(strlen(digest->valuestring), 32);
    cJSON_Delete(tree);
    free(text);
    registry_close(r);
}

static int open_device(void **unused)
{
    (void)unused;
    struct error err;
    return device_open_cpu(&device, &err);
}

static int close_device(void **unused)
{
    (void)unused;
    device->ops->close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_order_is_kept),
        cmocka_unit_test_setup_teardown(a_set_is_a_baseline_too, scratch_make, scratch_remove),
        cmocka_unit_test(layouts_that_are_not_raced_are_left_out),
        cmocka_unit_test(plugin_by_path_gives_all_its_contenders),
        cmocka_unit_test(probe_refusal_keeps_names_and_reason),
        cmocka_unit_test(unknown_family_of_a_plugin_is_unavailable),
        cmocka_unit_test(other_device_makes_unavailable),
        cmocka_unit_test(one_name_twice_is_an_error),
        cmocka_unit_test(strangers_take_no_name_of_others),
        cmocka_unit_test(a_file_of_a_taken_name_is_left_out),
        cmocka_unit_test(names_that_differ_in_case_are_an_error),
        cmocka_unit_test(missing_manifest_names_itself),
        cmocka_unit_test(somebody_is_told_whose_code_runs),
        cmocka_unit_test(refused_plugin_is_not_loaded),
        cmocka_unit_test(files_of_one_name_do_not_answer_for_each_other),
        cmocka_unit_test(versions_identify_each_plugin_file),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
