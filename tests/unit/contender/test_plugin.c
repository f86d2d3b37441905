/* The loader: what it refuses and why, and how a plugin's hooks look through struct contender. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/file.h"
#include "contender/plugin.h"
#include "contender/plugin_exports.h"

static const struct device_info cpu = {.kind = "cpu", .device_bit = CUDAL2_ON_CPU, .ordinal = 7};

static void path_of(const char *name, char *out, size_t capacity)
{
    char here[512];
    struct error err;
    assert_int_equal(file_executable_directory(here, sizeof here, &err), 0);
    snprintf(out, capacity, "%s/plugins/%s.so", here, name);
}

static int open_named(const char *name, struct plugin *out, struct error *err)
{
    char path[1024];
    path_of(name, path, sizeof path);
    return plugin_open(path, &cpu, out, err);
}

static void assert_says(const struct error *err, const char *part)
{
    if (!strstr(err->text, part))
        fail_msg("expected \"%s\" in \"%s\"", part, err->text);
}

static void honest_plugin_multiplies(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    struct contender c;
    assert_int_equal(open_named("honest", &plugin, &err), 0);
    assert_true(plugin.usable);
    plugin_contender(&plugin, 0, ROLE_CANDIDATE, &c);
    assert_string_equal(c.name, "honest-nn");
    assert_string_equal(c.family, "honest");
    assert_true(c.has_layout_suffix);
    assert_true(c.available);
    assert_int_equal(c.role, ROLE_CANDIDATE);
    assert_null(c.ops->list_variants);

    float a[] = {1, 2, 3, 4, 5, 6};
    float b[] = {1, 0, 2, 1, 0, 3};
    float out[4] = {-1, -1, -1, -1};
    struct cudal2_operands set = {a, b, out};
    struct cudal2_setup setup = {.problem = {.m = 2, .n = 2, .k = 3, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32},
                                 .sets = &set,
                                 .n_sets = 1};
    char why[CUDAL2_WHY];
    char json[64];
    void *state;
    assert_int_equal(c.ops->setup(&c, &setup, &state, why), CUDAL2_OK);
    assert_int_equal(c.ops->launch(&c, state, 0, why), CUDAL2_OK);
    const float expected[] = {5, 11, 14, 23};
    assert_memory_equal(out, expected, sizeof expected);
    assert_int_equal(c.ops->describe(&c, state, json, sizeof json), CUDAL2_OK);
    assert_string_equal(json, "{}");
    c.ops->teardown(&c, state);
}

static void setup_error_keeps_its_reason(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    struct contender c;
    struct cudal2_setup setup = {
        .problem = {.m = 1, .n = 1, .k = 1, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32}};
    char why[CUDAL2_WHY];
    void *state = &setup;
    assert_int_equal(open_named("bad_setup", &plugin, &err), 0);
    plugin_contender(&plugin, 0, ROLE_BASELINE, &c);
    assert_int_equal(c.ops->setup(&c, &setup, &state, why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "this setup always fails");
    assert_null(state);
}

static void probe_refusal_is_loaded_but_unusable(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    struct contender c;
    assert_int_equal(open_named("bad_probe", &plugin, &err), 0);
    assert_false(plugin.usable);
    plugin_contender(&plugin, 0, ROLE_CANDIDATE, &c);
    assert_false(c.available);
    assert_string_equal(c.reason, "refuses device bits 1, ordinal 7");
}

static void other_abi_is_refused(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    assert_int_equal(open_named("bad_abi", &plugin, &err), EXIT_CODE_DATA);
    assert_says(&err, "built for plugin ABI 1002, this program speaks 1 to 2");
}

static void missing_symbol_is_refused(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    assert_int_equal(open_named("bad_symbol", &plugin, &err), EXIT_CODE_DATA);
    assert_says(&err, "does not export both");
}

static void extra_export_is_refused_by_name(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    assert_int_equal(open_named("bad_export", &plugin, &err), EXIT_CODE_DATA);
    assert_says(&err, "\"cublasCreate_v2\"");
}

static void missing_file_is_refused(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct error err;
    assert_int_equal(open_named("there_is_no_such_plugin", &plugin, &err), EXIT_CODE_DATA);
    assert_says(&err, "cannot be read");
    assert_int_equal(plugin_check_exports("/", &err), EXIT_CODE_DATA);
    assert_int_equal(plugin_check_exports("/dev/null", &err), EXIT_CODE_DATA);
}

static void check_bytes(const char *bytes, size_t length, const char *expected)
{
    char path[] = "/tmp/test_plugin_XXXXXX";
    struct error err;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    int rc = plugin_check_exports(path, &err);
    unlink(path);
    assert_int_equal(rc, EXIT_CODE_DATA);
    if (expected)
        assert_says(&err, expected);
}

static void text_is_not_a_plugin(void **unused)
{
    (void)unused;
    check_bytes("hello", 5, "no ELF header");
    static const char big[256] = "#!/bin/sh\n";
    check_bytes(big, sizeof big, "no ELF header");
}

/* Every prefix of a good plugin: refused, or (once all that the loader reads is there) accepted; never a crash. */
static void truncated_plugin_is_refused(void **unused)
{
    (void)unused;
    char path[1024];
    char *bytes;
    size_t length;
    struct error err;
    path_of("honest", path, sizeof path);
    assert_int_equal(file_read(path, 1u << 24, &bytes, &length, &err), 0);
    for (size_t n = 1; n < 1024; n += 7)
        check_bytes(bytes, n, NULL);
    free(bytes);
}

/* One byte changed at a time in headers and tables: any verdict will do, a crash or a sanitizer report will not. */
static void damaged_plugin_does_no_harm(void **unused)
{
    (void)unused;
    char path[1024];
    char *bytes;
    size_t length;
    struct error err;
    char copy[] = "/tmp/test_plugin_XXXXXX";
    path_of("honest", path, sizeof path);
    assert_int_equal(file_read(path, 1u << 24, &bytes, &length, &err), 0);
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, length, 0), (ssize_t)length);
    unsigned refused = 0;
    for (size_t at = 0; at < length && at < 0x3000; at++) {
        char flipped = (char)(bytes[at] ^ 0x81);
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
        refused += plugin_check_exports(copy, &err) != 0;
        assert_int_equal(pwrite(fd, bytes + at, 1, (off_t)at), 1);
    }
    assert_true(refused > 50);
    assert_int_equal(plugin_check_exports(copy, &err), 0);
    close(fd);
    unlink(copy);
    free(bytes);
}

static void family_is_the_name_without_its_own_layout(void **unused)
{
    (void)unused;
    char family[CONTENDER_NAME_MAX];
    struct cudal2_contender c = {.name = "cublaslt-heuristic-tn", .layout = CUDAL2_TN};
    assert_true(plugin_family(&c, family));
    assert_string_equal(family, "cublaslt-heuristic");
    c.layout = CUDAL2_NN;
    assert_false(plugin_family(&c, family));
    assert_string_equal(family, "cublaslt-heuristic-tn");
    c.name = "torch.matmul";
    assert_false(plugin_family(&c, family));
    assert_string_equal(family, "torch.matmul");
    c.name = "-nn";
    assert_false(plugin_family(&c, family));
}

/* --- contender_supports --- */

static struct contender gpu_contender(void)
{
    struct contender c = {.available = true};
    c.is = (struct cudal2_contender){.devices = CUDAL2_ON_CUDA,
                                     .dtypes = CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16),
                                     .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                     .min_cc = 80,
                                     .max_cc = 90,
                                     .m_multiple = 64,
                                     .k_multiple = 8};
    return c;
}

static void assert_refused(const struct contender *c, const struct device_info *d, const struct cudal2_problem *p,
                           const char *reason)
{
    char why[CUDAL2_WHY] = "stale";
    bool supported = contender_supports(c, d, p, why);
    assert_string_equal(why, reason);
    assert_int_equal(supported, reason[0] == '\0');
}

static void supports_says_what_is_wrong(void **unused)
{
    (void)unused;
    struct device_info gpu = {.device_bit = CUDAL2_ON_CUDA, .cc = 90};
    struct contender c = gpu_contender();
    struct cudal2_problem p = {.m = 128, .n = 100, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    assert_refused(&c, &gpu, &p, "");
    assert_refused(&c, &cpu, &p, "runs on a CUDA GPU only");
    p.dtype = CUDAL2_F32;
    assert_refused(&c, &gpu, &p, "multiplies f16 and bf16 only, not f32");
    p.dtype = CUDAL2_BF16;
    p.accumulate = CUDAL2_ACC_F16;
    assert_refused(&c, &gpu, &p, "accumulates in f32 only, not f16 (--accumulate)");
    p.accumulate = CUDAL2_ACC_F32;
    gpu.cc = 75;
    assert_refused(&c, &gpu, &p, "needs compute capability 8.0 or higher, this GPU has 7.5");
    gpu.cc = 120;
    assert_refused(&c, &gpu, &p, "runs up to compute capability 9.0, this GPU has 12.0");
    gpu.cc = 80;
    p.m = 96;
    assert_refused(&c, &gpu, &p, "needs M to be a multiple of 64, not 96");
    p.m = 64;
    p.k = 12;
    assert_refused(&c, &gpu, &p, "needs K to be a multiple of 8, not 12");
    c.is.devices = CUDAL2_ON_CPU;
    assert_refused(&c, &gpu, &p, "runs on the CPU only");
    c.available = false;
    snprintf(c.reason, sizeof c.reason, "not built");
    assert_refused(&c, &gpu, &p, "not built");
}

static void supports_asks_about_leading_dimensions(void **unused)
{
    (void)unused;
    struct device_info gpu = {.device_bit = CUDAL2_ON_CUDA, .cc = 90};
    struct contender c = gpu_contender();
    struct cudal2_problem p = {
        .m = 128, .n = 100, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32, .ldc = 104};
    c.is.devices |= CUDAL2_ON_CPU;
    c.is.min_cc = c.is.max_cc = 0;
    assert_refused(&c, &cpu, &p, "takes packed matrices only, and this problem has leading dimensions");
    c.is.flags |= CUDAL2_STRIDES;
    assert_refused(&c, &cpu, &p, "");
    assert_refused(&c, &gpu, &p, "leading dimensions are measured on the CPU device only");
    p.ldc = p.lda = p.ldb = 0;
    p.beta = 1;
    assert_refused(&c, &cpu, &p, "takes an alpha of 1 and a beta of 0 only, and this problem has others");
    c.is.flags |= CUDAL2_SCALES;
    assert_refused(&c, &cpu, &p, "");
    assert_refused(&c, &gpu, &p, "alpha and beta are measured on the CPU device only");
    p.beta = 0;
    p.alpha = -1;
    assert_refused(&c, &gpu, &p, "alpha and beta are measured on the CPU device only");
}

/* It is handed the setup that it knows, and no bit means what it could not know of. */
static void old_plugin_is_taken_as_it_is(void **unused)
{
    (void)unused;
    struct plugin plugin;
    struct contender c;
    struct error err;
    char why[CUDAL2_WHY];
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, out[4] = {0};
    const struct cudal2_operands set = {a, b, out};
    const struct cudal2_setup setup = {
        .problem = {.m = 2, .n = 2, .k = 3, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32},
        .sets = &set,
        .n_sets = 1,
        .threads = 1};
    void *made = NULL;
    assert_int_equal(open_named("old_abi", &plugin, &err), 0);
    plugin_contender(&plugin, 0, ROLE_CANDIDATE, &c);
    assert_int_equal(c.is.flags, 0);
    assert_int_equal(c.ops->setup(&c, &setup, &made, why), CUDAL2_OK);
    assert_int_equal(c.ops->launch(&c, made, 0, why), CUDAL2_OK);
    c.ops->teardown(&c, made);
    assert_true(out[0] == 4 && out[1] == 5 && out[2] == 10 && out[3] == 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_plugin_multiplies),
        cmocka_unit_test(setup_error_keeps_its_reason),
        cmocka_unit_test(probe_refusal_is_loaded_but_unusable),
        cmocka_unit_test(other_abi_is_refused),
        cmocka_unit_test(missing_symbol_is_refused),
        cmocka_unit_test(extra_export_is_refused_by_name),
        cmocka_unit_test(missing_file_is_refused),
        cmocka_unit_test(text_is_not_a_plugin),
        cmocka_unit_test(truncated_plugin_is_refused),
        cmocka_unit_test(damaged_plugin_does_no_harm),
        cmocka_unit_test(family_is_the_name_without_its_own_layout),
        cmocka_unit_test(supports_says_what_is_wrong),
        cmocka_unit_test(supports_asks_about_leading_dimensions),
        cmocka_unit_test(old_plugin_is_taken_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
