/* Kernel sets on the fake device: variants of a problem, choices, compile and load errors, versions. No GPU: a kernel
 * is compiled for sm_90 and then cannot be loaded, which is what the last stage says. */
#include "contender/module.h"
#include "contender/manifest.h"
#include "compile/nvrtc.h"
#include "base/file.h"
#include "device/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

static char kernels[1024];
static struct device *device;

#define KERNEL(name, rest)                                                                                             \
    "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"" name "\",\"source\":\"" name                \
    ".cu\",\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\",\"f32\"],"                                  \
    "\"parameters\":{\"BM\":{\"values\":[16,32],\"default\":16}},\"grid\":[\"ceildiv(M,BM)\",\"1\",\"1\"],"            \
    "\"block\":[\"32\",\"1\",\"1\"],\"arguments\":[\"a\",\"b\",\"c\",\"m\"]," rest "}"

/* Two kernels: `any` does both layouts, `wide` only TN, only K % 8 == 0, and wants workspace. */
static void write_demo_set(void)
{
    static const char source[] = "extern \"C\" __global__ void gemm(const u16 *a, const u16 *b, u16 *c, int m)\n"
                                 "{ if (threadIdx.x < m && BM > 0) c[threadIdx.x] = a[0] + b[0] + ACC_F32; }\n";
    scratch_write("any.json", KERNEL("any", "\"layouts\":[\"nn\",\"tn\"],\"arch_min\":80"));
    scratch_write("any.cu", source);
    scratch_write("wide.json", KERNEL("wide", "\"layouts\":[\"tn\"],\"arch_min\":90,\"arch_max\":90,"
                                              "\"problem_constraints\":[{\"rule\":\"K % 8 == 0\",\"why\":\"rows\"}],"
                                              "\"workspace_bytes\":\"M*4\""));
    scratch_write("wide.cu", source);
    scratch_write("demo.json",
                  "{\"schema\":\"cudal2-bench/kernel-set\",\"schema_version\":1,\"name\":\"demo\","
                  "\"entries\":[{\"kernel\":\"wide\",\"when\":\"M*N <= 4096\",\"parameters\":{\"BM\":32}},"
                  "{\"kernel\":\"any\",\"when\":\"K < 1000\"},"
                  "{\"kernel\":\"any\",\"when\":\"LAYOUT_TN\"},"
                  "{\"kernel\":\"any\",\"when\":\"ACC_F32 && SM_COUNT == 132\",\"parameters\":{\"BM\":32}}]}");
}

static struct module_set *open_set(const char *name)
{
    struct module_set *set;
    struct error err;
    if (module_set_open(name, kernels, device, &set, &err) != 0)
        fail_msg("%s", err.text);
    return set;
}

static struct cudal2_operands operand_set;

static struct cudal2_setup setup_for(int64_t m, int64_t n, int64_t k, enum cudal2_layout layout)
{
    return (struct cudal2_setup){.problem = {.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16},
                                 .layout = layout,
                                 .sets = &operand_set,
                                 .n_sets = 1,
                                 .workspace_bytes = 256,
                                 .threads = 1};
}

static int list(const struct module_set *set, const struct cudal2_setup *setup, struct cudal2_variant *out, char *why)
{
    struct contender c;
    module_set_contender(set, setup->layout, &c);
    return c.ops->list_variants(&c, setup, out, 16, why);
}

static void variants_are_the_entries_that_fit(void **state)
{
    (void)state;
    struct module_set *set = open_set(scratch_path("demo.json"));
    struct cudal2_variant v[16];
    char why[CUDAL2_WHY] = "";
    struct cudal2_setup setup = setup_for(64, 64, 64, CUDAL2_TN);
    assert_int_equal(list(set, &setup, v, why), 2); /* any is listed once although two entries name it */
    assert_string_equal(v[0].key, "wide:BM=32");
    assert_string_equal(v[1].key, "any:BM=16");
    setup.problem.accumulate = CUDAL2_ACC_F32;
    assert_int_equal(list(set, &setup, v, why), 3);
    assert_string_equal(v[2].key, "any:BM=32");
    setup = setup_for(64, 64, 64, CUDAL2_NN);
    assert_int_equal(list(set, &setup, v, why), 1);
    setup = setup_for(64, 64, 63, CUDAL2_TN);
    assert_int_equal(list(set, &setup, v, why), 1);
    setup = setup_for(65, 63, 64, CUDAL2_TN);
    assert_int_equal(list(set, &setup, v, why), 1); /* wide would need 260 bytes of workspace */
    assert_string_equal(v[0].key, "any:BM=16");
    setup = setup_for(64, 64, 4096, CUDAL2_NN);
    assert_int_equal(list(set, &setup, v, why), -CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "no entry of the set fits"));
    module_set_close(set);
}

static void list_respects_capacity(void **state)
{
    (void)state;
    struct module_set *set = open_set(scratch_path("demo.json"));
    struct cudal2_setup setup = setup_for(64, 64, 64, CUDAL2_TN);
    struct cudal2_variant v[1];
    struct contender c;
    char why[CUDAL2_WHY];
    module_set_contender(set, CUDAL2_TN, &c);
    assert_int_equal(c.ops->list_variants(&c, &setup, v, 1, why), 1);
    module_set_close(set);
}

static void contenders_declare_what_the_kernels_can(void **state)
{
    (void)state;
    struct module_set *set = open_set(scratch_path("demo.json"));
    struct contender nn, tn;
    module_set_contender(set, CUDAL2_NN, &nn);
    module_set_contender(set, CUDAL2_TN, &tn);
    assert_string_equal(module_set_name(set), "demo");
    assert_string_equal(nn.name, "demo-nn");
    assert_string_equal(tn.name, "demo-tn");
    assert_string_equal(tn.family, "demo");
    assert_true(nn.available && tn.available && tn.has_layout_suffix);
    assert_int_equal(tn.role, ROLE_CANDIDATE);
    assert_int_equal(tn.is.layout, CUDAL2_TN);
    assert_int_equal(tn.is.dtypes, CUDAL2_BIT(CUDAL2_F16));
    assert_int_equal(tn.is.accumulates, CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32));
    assert_int_equal(tn.is.min_cc, 80);
    assert_int_equal(tn.is.max_cc, 0);
    assert_int_equal(tn.is.devices, CUDAL2_ON_CUDA);
    module_set_close(set);
}

static void unusable_sets_say_why(void **state)
{
    (void)state;
    struct contender c;
    struct module_set *set = open_set(scratch_path("wide.json"));
    module_set_contender(set, CUDAL2_NN, &c);
    assert_false(c.available);
    assert_non_null(strstr(c.reason, "layout nn"));
    device->info.cc = 80;
    module_set_contender(set, CUDAL2_TN, &c);
    device->info.cc = 90;
    assert_false(c.available);
    assert_non_null(strstr(c.reason, "sm_80"));
    device->info.device_bit = CUDAL2_ON_CPU;
    module_set_contender(set, CUDAL2_TN, &c);
    device->info.device_bit = CUDAL2_ON_CUDA;
    assert_false(c.available);
    assert_non_null(strstr(c.reason, "CUDA"));
    module_set_close(set);
}

static int try_setup(const char *path, const struct cudal2_setup *setup, char *why)
{
    struct module_set *set = open_set(path);
    struct contender c;
    void *state = (void *)1;
    module_set_contender(set, setup->layout, &c);
    int status = c.ops->setup(&c, setup, &state, why);
    assert_null(state);
    module_set_close(set);
    return status;
}

static void a_compile_error_is_told_apart(void **state)
{
    (void)state;
    char why[CUDAL2_WHY] = "";
    struct cudal2_setup setup = setup_for(64, 64, 64, CUDAL2_NN);
    require_nvrtc();
    scratch_write("broken.json", KERNEL("broken", "\"layouts\":[\"nn\"]"));
    scratch_write("broken.cu", "extern \"C\" __global__ void gemm(u16 *c)\n{\n    *c = BM + BN;\n}\n");
    assert_int_equal(try_setup(scratch_path("broken.json"), &setup, why), CUDAL2_LIBRARY_ERROR);
    if (strncmp(why, "compile_error: broken.cu(3): error", 34) != 0 || !strstr(why, "BN"))
        fail_msg("%s", why);
}

static void a_good_kernel_gets_as_far_as_loading(void **state)
{
    (void)state;
    char why[CUDAL2_WHY] = "";
    struct cudal2_setup setup = setup_for(64, 64, 64, CUDAL2_TN);
    require_nvrtc();
    assert_int_equal(try_setup(scratch_path("demo.json"), &setup, why), CUDAL2_LIBRARY_ERROR);
    if (strncmp(why, "load_error: ", 12) != 0 || !strstr(why, "not a CUDA device"))
        fail_msg("%s", why);
    setup.variant = "any:BM=32"; /* legal values that no entry of this problem names: a tuner's choice */
    assert_int_equal(try_setup(scratch_path("demo.json"), &setup, why), CUDAL2_LIBRARY_ERROR);
    assert_memory_equal(why, "load_error: ", 12);
}

static void bad_variants_are_refused(void **state)
{
    (void)state;
    char why[CUDAL2_WHY] = "";
    struct cudal2_setup setup = setup_for(64, 64, 64, CUDAL2_NN);
    setup.variant = "any:BM=17";
    assert_int_equal(try_setup(scratch_path("demo.json"), &setup, why), CUDAL2_BAD_VARIANT);
    assert_non_null(strstr(why, "any:BM=17"));
    setup.variant = "wide:BM=16"; /* known, but not in this layout */
    assert_int_equal(try_setup(scratch_path("demo.json"), &setup, why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "layout nn"));
}

static void assert_set_refused(const char *name, const char *text, const char *says)
{
    struct module_set *set = NULL;
    struct error err = {0};
    if (text)
        scratch_write(name, text);
    if (module_set_open(scratch_path(name), kernels, device, &set, &err) != EXIT_CODE_DATA)
        fail_msg("%s was accepted", name);
    assert_null(set);
    if (!strstr(err.text, says))
        fail_msg("\"%s\" does not say \"%s\"", err.text, says);
}

#define SET(entries)                                                                                                   \
    "{\"schema\":\"cudal2-bench/kernel-set\",\"schema_version\":1,\"name\":\"bad\",\"entries\":[" entries "]}"

static void bad_sets_name_the_place(void **state)
{
    (void)state;
    struct module_set *set;
    struct error err;
    assert_set_refused("absent.json", NULL, "absent.json");
    assert_set_refused("bad.json", "{}", "schema");
    assert_set_refused("bad.json", SET(""), "$.entries");
    assert_set_refused("bad.json", SET("{\"kernel\":\"nothing\"}"), "$.entries[0].kernel");
    assert_set_refused("bad.json", SET("{\"kernel\":\"../any\"}"), "not a kernel's name");
    assert_set_refused("bad.json", SET("{\"kernel\":\"any\",\"when\":\"BM > 1\"}"), "unknown name BM");
    assert_set_refused("bad.json", SET("{\"kernel\":\"any\",\"when\":\"M >\"}"), "$.entries[0].when");
    assert_set_refused("bad.json", SET("{\"kernel\":\"any\",\"parameters\":{\"BX\":1}}"), "no parameter");
    assert_set_refused("bad.json", SET("{\"kernel\":\"any\"},{\"kernel\":\"any\",\"parameters\":{\"BM\":17}}"),
                       "$.entries[1].parameters.BM");
    assert_set_refused("bad.json", SET("{\"kernel\":\"any\",\"if\":\"1\"}"), "if");
    scratch_write("nosource.json", KERNEL("nosource", "\"layouts\":[\"nn\"]"));
    assert_set_refused("nosource.json", NULL, "nosource.cu");
    assert_int_equal(module_set_open("no-such-set", kernels, device, &set, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "no-such-set"));
}

static void versions_follow_sources(void **state)
{
    (void)state;
    char before[1024], after[1024], small[16];
    struct module_set *set = open_set(scratch_path("demo.json"));
    assert_int_equal(module_set_versions(set, before, sizeof before), 0);
    assert_int_equal(module_set_versions(set, small, sizeof small), -1);
    module_set_close(set);
    scratch_write("any.cu", "#include \"extra.cuh\"\nextern \"C\" __global__ void gemm(u16 *c) {}\n");
    scratch_write("extra.cuh", "\n");
    set = open_set(scratch_path("demo.json"));
    assert_int_equal(module_set_versions(set, after, sizeof after), 0);
    module_set_close(set);
    assert_string_not_equal(before, after);
    scratch_write("extra.cuh", "\n\n");
    set = open_set(scratch_path("demo.json"));
    assert_int_equal(module_set_versions(set, before, sizeof before), 0);
    module_set_close(set);
    assert_string_not_equal(before, after);
    cJSON *tree = cJSON_Parse(before);
    assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "kernels"), "wide"));
    cJSON_Delete(tree);
}

/* Every variant that the shipped set offers for shapes of all classes compiles for sm_90a; of each shape one, but in
 * make test-all. (make cuda-check compiles every kernel.) */
static void the_shipped_set_compiles(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{64, 64, 64},       {64, 64, 16384},   {256, 256, 1024}, {33, 17, 65},
                                        {1024, 1024, 1024}, {4096, 256, 4096}, {4096, 4096, 64}, {16384, 16384, 16384}};
    struct module_set *set;
    char why[CUDAL2_WHY] = "";
    require_nvrtc();
    set = open_set("cudal2");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int layout = 0; layout < 2; layout++) {
            struct cudal2_setup setup = setup_for(shapes[i][0], shapes[i][1], shapes[i][2], (enum cudal2_layout)layout);
            struct cudal2_variant v[16];
            struct contender c;
            setup.problem.accumulate = layout == 0 ? CUDAL2_ACC_F16 : CUDAL2_ACC_F32;
            setup.workspace_bytes = (size_t)1 << 32;
            module_set_contender(set, (enum cudal2_layout)layout, &c);
            int n = c.ops->list_variants(&c, &setup, v, 16, why);
            if (n < 1)
                fail_msg("%lld x %lld x %lld: %s", (long long)shapes[i][0], (long long)shapes[i][1],
                         (long long)shapes[i][2], why);
            for (int j = 0; j < (getenv("CUDAL2_SLOW") ? n : 1); j++) {
                void *ignored;
                setup.variant = v[j].key;
                (void)c.ops->setup(&c, &setup, &ignored, why);
                if (strncmp(why, "load_error: a kernel cannot be loaded", 37) != 0)
                    fail_msg("%s: %s", v[j].key, why);
            }
        }
    }
    module_set_close(set);
}

static int prepare(void **state)
{
    (void)state;
    struct error err;
    struct fake_script script = {0};
    char directory[512];
    if (file_executable_directory(directory, sizeof directory, &err) != 0)
        return -1;
    snprintf(kernels, sizeof kernels, "%s/../../kernels", directory);
    char found[1024];
    if (kernel_directory_find(kernels, found, sizeof found, &err) != 0) {
        if (kernel_directory_find("kernels", found, sizeof found, &err) != 0)
            return -1;
        snprintf(kernels, sizeof kernels, "kernels");
    }
    return scratch_make_cache(state) || fake_open(&script, &device, &err) ? -1 : 0;
}

static int fresh_files(void **state)
{
    (void)state;
    write_demo_set();
    return 0;
}

static int finish(void **state)
{
    device->ops->close(device);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(variants_are_the_entries_that_fit, fresh_files),
        cmocka_unit_test_setup(list_respects_capacity, fresh_files),
        cmocka_unit_test_setup(contenders_declare_what_the_kernels_can, fresh_files),
        cmocka_unit_test_setup(unusable_sets_say_why, fresh_files),
        cmocka_unit_test_setup(a_compile_error_is_told_apart, fresh_files),
        cmocka_unit_test_setup(a_good_kernel_gets_as_far_as_loading, fresh_files),
        cmocka_unit_test_setup(bad_variants_are_refused, fresh_files),
        cmocka_unit_test_setup(bad_sets_name_the_place, fresh_files),
        cmocka_unit_test_setup(versions_follow_sources, fresh_files),
        cmocka_unit_test(the_shipped_set_compiles),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
