/* The other baselines as far as a machine without a GPU can tell: libtorch multiplies on the CPU; the cuBLAS plugins
 * load, declare themselves, say which library is mapped, and fail with a named status where there is no GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/json.h"
#include "plugin_fixture.h"

static const struct device_info cpu = {.device_bit = CUDAL2_ON_CPU};
static const struct device_info gpu = {.device_bit = CUDAL2_ON_CUDA, .cc = 90};

static void assert_versions(const struct plugin *plugin, const char *key)
{
    char text[8192];
    cJSON *tree = NULL;
    struct error err;
    assert_int_equal(plugin->is->versions(text, sizeof text), CUDAL2_OK);
    if (json_parse(text, strlen(text), sizeof text, plugin->path, &tree, &err) != 0)
        fail_msg("%s", err.text);
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(tree, key);
    const cJSON *path = cJSON_GetObjectItemCaseSensitive(tree, "path");
    assert_true(cJSON_IsString(version) && strchr(version->valuestring, '.'));
    assert_true(cJSON_IsString(path) && path->valuestring[0] == '/');
    cJSON_Delete(tree);
}

static void torch_multiplies_single_and_bfloat(void **unused)
{
    (void)unused;
    struct plugin plugin;
    char why[CUDAL2_WHY] = "";
    if (!fixture_open("torch", CUDAL2_ON_CPU, &plugin))
        skip();
    struct contender c = fixture_contender(&plugin, "torch.matmul");
    assert_string_equal(c.family, "torch.matmul");
    assert_false(c.has_layout_suffix);
    assert_int_equal(c.is.flags & CUDAL2_ACC_WIDER, CUDAL2_ACC_WIDER);
    assert_int_equal(
        fixture_multiply(
            &c, (struct cudal2_problem){.m = 33, .n = 65, .k = 17, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32},
            2, why),
        CUDAL2_OK);
    assert_int_equal(
        fixture_multiply(
            &c, (struct cudal2_problem){.m = 16, .n = 24, .k = 16, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32},
            1, why),
        CUDAL2_OK);
    assert_int_equal(c.is.flags & CUDAL2_SCALES, CUDAL2_SCALES);
    for (int i = 0; i < 2; i++) {
        const struct cudal2_problem scaled = {.m = 17,
                                              .n = 35,
                                              .k = 33,
                                              .dtype = CUDAL2_F32,
                                              .accumulate = CUDAL2_ACC_F32,
                                              .ldc = i == 0 ? 0 : 40,
                                              .alpha = -0.5,
                                              .beta = i * 1.25};
        assert_int_equal(fixture_multiply(&c, scaled, 1, why), CUDAL2_OK);
    }
    assert_versions(&plugin, "torch");
}

/* Half on the CPU depends on the version: it multiplies, or says that it does not. */
static void torch_half_is_right_or_unsupported(void **unused)
{
    (void)unused;
    struct plugin plugin;
    char why[CUDAL2_WHY] = "";
    if (!fixture_open("torch", CUDAL2_ON_CPU, &plugin))
        skip();
    struct contender c = fixture_contender(&plugin, "torch.matmul");
    int status = fixture_multiply(
        &c, (struct cudal2_problem){.m = 16, .n = 24, .k = 16, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}, 1,
        why);
    if (status != CUDAL2_OK) {
        assert_int_equal(status, CUDAL2_UNSUPPORTED);
        assert_non_null(strstr(why, "not implemented"));
        assert_null(strchr(why, '\n'));
    }
}

static void cublas_declares_itself(void **unused)
{
    (void)unused;
    struct plugin plugin;
    char why[CUDAL2_WHY];
    if (!fixture_open("cublas", CUDAL2_ON_CPU, &plugin))
        skip();
    assert_true(plugin.usable);
    struct contender c = fixture_contender(&plugin, "cublas-tn");
    assert_string_equal(c.family, "cublas");
    struct cudal2_problem half = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    assert_true(contender_supports(&c, &gpu, &half, why));
    assert_false(contender_supports(&c, &cpu, &half, why));
    assert_string_equal(why, "runs on a CUDA GPU only");
    assert_versions(&plugin, "cublas");
}

static void bfloat_with_half_accumulation_is_unsupported(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cublas", "cublas-nn", "cublaslt", "cublaslt-heuristic-nn"};
    struct cudal2_setup setup = {
        .problem = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F16}};
    for (size_t i = 0; i < 4; i += 2) {
        struct plugin plugin;
        char why[CUDAL2_WHY] = "";
        void *state;
        if (!fixture_open(names[i], CUDAL2_ON_CPU, &plugin))
            skip();
        struct contender c = fixture_contender(&plugin, names[i + 1]);
        assert_int_equal(c.ops->setup(&c, &setup, &state, why), CUDAL2_UNSUPPORTED);
        assert_non_null(strstr(why, "bf16 with f32 accumulation only"));
    }
}

/* Without a driver the first library call fails; its name and status must come up. */
static void failures_name_call_and_status(void **unused)
{
    (void)unused;
    static const char *const names[] = {"cublas", "cublas-nn", "cublaslt", "cublaslt-heuristic-tn"};
    struct cudal2_operands set = {0};
    struct cudal2_setup setup = {
        .problem = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .sets = &set,
        .n_sets = 1};
    if (device_count_gpus() > 0)
        skip();
    for (size_t i = 0; i < 4; i += 2) {
        struct plugin plugin;
        char why[CUDAL2_WHY] = "";
        void *state;
        if (!fixture_open(names[i], CUDAL2_ON_CPU, &plugin))
            skip();
        struct contender c = fixture_contender(&plugin, names[i + 1]);
        assert_int_equal(c.ops->setup(&c, &setup, &state, why), CUDAL2_LIBRARY_ERROR);
        if (!strstr(why, "cublas") || !strstr(why, ": "))
            fail_msg("no call and status in \"%s\"", why);
        assert_null(state);
    }
}

static void cublaslt_has_two_families(void **unused)
{
    (void)unused;
    struct plugin plugin;
    if (!fixture_open("cublaslt", CUDAL2_ON_CPU, &plugin))
        skip();
    struct contender heuristic = fixture_contender(&plugin, "cublaslt-heuristic-nn");
    struct contender tuning = fixture_contender(&plugin, "cublaslt-autotuning-tn");
    assert_string_equal(heuristic.family, "cublaslt-heuristic");
    assert_string_equal(tuning.family, "cublaslt-autotuning");
    assert_null(heuristic.ops->list_variants);
    assert_non_null(tuning.ops->list_variants);
    struct contender wide = fixture_contender(&plugin, "cublaslt-autotuning-32f-nn");
    assert_string_equal(wide.family, "cublaslt-autotuning-32f");
    assert_true(wide.has_layout_suffix);
    assert_versions(&plugin, "cublaslt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torch_multiplies_single_and_bfloat),
        cmocka_unit_test(torch_half_is_right_or_unsupported),
        cmocka_unit_test(cublas_declares_itself),
        cmocka_unit_test(bfloat_with_half_accumulation_is_unsupported),
        cmocka_unit_test(failures_name_call_and_status),
        cmocka_unit_test(cublaslt_has_two_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
