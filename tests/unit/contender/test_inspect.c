/* contender/inspect: what is wrong between a kernel and its manifest is found without a GPU. Needs NVRTC. */
#include "contender/inspect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

#define SOURCE(attributes, arguments)                                                                                  \
    "extern \"C\" __global__ void " attributes " gemm(" arguments ") { if (threadIdx.x == BM) c[0] = a[0]; }\n"
#define FITS "const u16 *a, const u16 *b, u16 *c, int m"

struct launch {
    const char *block, *cluster, *shared, *rule;
};

static const struct launch plain = {"BM", "1", "0", "1"};

static void write_kernel(const char *source, const struct launch *l)
{
    char text[1200];
    snprintf(
        text, sizeof text,
        "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"one\",\"source\":\"one.cu\",\"entry\":"
        "\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\",\"f32\"],\"layouts\":[\"nn\",\"tn\"],"
        "\"parameters\":{\"BM\":{\"values\":[32,64,128],\"default\":64},\"EARLY\":{\"values\":[0,1],\"default\":0,"
        "\"launch\":true}},\"constraints\":[{\"rule\":\"%s\",\"why\":\"too large\"}],\"grid\":[\"4*ceildiv(M,BM)\","
        "\"1\",\"1\"],\"block\":[\"%s\",\"1\",\"1\"],\"cluster\":[\"%s\",\"1\",\"1\"],\"shared_bytes\":\"%s\","
        "\"early\":\"EARLY\",\"arguments\":[\"a\",\"b\",\"c\",\"m\"]}",
        l->rule, l->block, l->cluster, l->shared);
    scratch_write("one.json", text);
    scratch_write("one.cu", source);
}

static void inspect_file(const char *name, int cc, size_t most, struct inspection *out)
{
    static const struct cudal2_problem problems[] = {{.m = 64, .n = 64, .k = 64}, {.m = 1000, .n = 8, .k = 8}};
    struct error err;
    const struct chip *chip;
    char arch[16];
    struct module_set *set = NULL;
    snprintf(arch, sizeof arch, "sm_%d", cc);
    assert_int_equal(chip_find(arch, &chip, &err), 0);
    struct device described = {.info = chip_info(chip)};
    if (module_set_open(scratch_path(name), "kernels", &described, &set, &err))
        fail_msg("%s", err.text);
    const struct inspect_request request = {.chip = chip,
                                            .dtypes = 7,
                                            .accumulates = 3,
                                            .layouts = 3,
                                            .problems = problems,
                                            .n_problems = 2,
                                            .most = most,
                                            .threads = 2};
    if (inspect_set(set, &request, out, &err))
        fail_msg("%s", err.text);
    module_set_close(set);
}

static void inspect_most(int cc, size_t most, struct inspection *out)
{
    inspect_file("one.json", cc, most, out);
}

/* An entry that is meant for none of the shapes has the launch of another, and a limit that it breaks there counts
 * where it breaks it on each. */
static void an_entry_is_launched_outside_of_its_when(void **state)
{
    struct launch l = plain;
    struct inspection found;
    (void)state;
    scratch_write("set.json",
                  "{\"schema\":\"cudal2-bench/kernel-set\",\"schema_version\":1,\"name\":\"s\",\"entries\":"
                  "[{\"kernel\":\"one\",\"when\":\"M > 5000\"},{\"kernel\":\"one\",\"when\":\"M > 500\"}]}");
    write_kernel(SOURCE("", FITS), &l);
    inspect_file("set.json", 90, 100, &found);
    assert_int_equal(found.n, 8);
    assert_int_equal(found.items[0].verdict, VERDICT_OK);
    assert_int_equal(found.items[0].taken, 0);
    assert_int_equal(found.items[0].threads, 64);
    assert_non_null(strstr(found.items[0].why, "no shape here has M > 5000"));
    assert_int_equal(found.items[4].taken, 1);
    assert_string_equal(found.items[4].why, "");
    inspection_free(&found);
    for (int all = 0; all < 2; all++) {
        l.shared = all ? "233000" : "233000 - M"; /* sm_90 has 232448: enough for the second shape, with M 1000 */
        write_kernel(SOURCE("", FITS), &l);
        inspect_file("set.json", 90, 100, &found);
        assert_int_equal(found.items[0].verdict, all ? VERDICT_OVER_LIMIT : VERDICT_OK);
        inspection_free(&found);
    }
}

static void expect_all(int cc, enum verdict verdict, const char *why)
{
    struct inspection found;
    inspect_most(cc, 100, &found);
    assert_true(found.n > 0);
    for (size_t i = 0; i < found.n; i++) {
        if (found.items[i].verdict != verdict || !strstr(found.items[i].why, why))
            fail_msg("%s: expected %s \"%s\", found %s \"%s\"", found.items[i].variant.key, verdict_name(verdict), why,
                     verdict_name(found.items[i].verdict), found.items[i].why);
    }
    inspection_free(&found);
}

static void a_good_kernel_passes_in_every_variant(void **state)
{
    (void)state;
    struct inspection found;
    write_kernel(SOURCE("", FITS), &plain);
    inspect_most(90, 100, &found);
    assert_int_equal(found.n, 24); /* 3 x 2 values, 2 types, 2 layouts */
    assert_int_equal(found.legal, 24);
    assert_true(found.all_seen);
    for (size_t i = 0; i < found.n; i++) {
        assert_int_equal(found.items[i].verdict, VERDICT_OK);
        assert_int_equal(found.items[i].taken, 2);
        assert_true(found.items[i].usage.registers > 0 && found.items[i].code.code_bytes > 0);
    }
    assert_string_equal(found.items[0].variant.key, "one:BM=64,EARLY=0"); /* the defaults first */
    assert_int_equal(found.items[0].threads, 64);
    inspection_free(&found);
    inspect_most(90, 5, &found);
    assert_int_equal(found.n, 5);
    assert_int_equal(found.legal, 24);
    inspection_free(&found);
}

static void illegal_combinations_are_left_out(void **state)
{
    (void)state;
    struct inspection found;
    struct launch l = plain;
    l.rule = "BM < 100";
    write_kernel(SOURCE("", FITS), &l);
    inspect_most(90, 100, &found);
    assert_int_equal(found.legal, 16);
    inspection_free(&found);
    l.rule = "0";
    write_kernel(SOURCE("", FITS), &l);
    inspect_most(90, 100, &found);
    assert_int_equal(found.legal, 0);
    assert_non_null(strstr(found.none, "too large"));
    inspection_free(&found);
}

static void what_does_not_compile_names_file_and_line(void **state)
{
    (void)state;
    write_kernel("\nextern \"C\" __global__ void gemm(" FITS ") { nonsense; }\n", &plain);
    expect_all(90, VERDICT_COMPILE_ERROR, "one.cu(2): error: identifier \"nonsense\"");
}

static void an_entry_of_another_name(void **state)
{
    (void)state;
    write_kernel("extern \"C\" __global__ void other(u16 *c) { *c = 1; }\n", &plain);
    expect_all(90, VERDICT_WRONG_ENTRY, "no kernel \"gemm\" in the code, which has: other");
}

static void other_arguments(void **state)
{
    (void)state;
    write_kernel(SOURCE("", "const u16 *a, const u16 *b, u16 *c, int m, int n"), &plain);
    expect_all(90, VERDICT_WRONG_ARGUMENTS, "takes 5 arguments, the manifest gives 4");
    write_kernel(SOURCE("", "const u16 *a, const u16 *b, u16 *c, long long m"), &plain);
    expect_all(90, VERDICT_WRONG_ARGUMENTS,
               "argument 4 is of 8 bytes in the kernel, and the manifest gives a size, which has 4");
}

static void launches_beyond_a_limit(void **state)
{
    struct launch l = plain;
    (void)state;
    l.block = "2048";
    write_kernel(SOURCE("", FITS), &l);
    expect_all(90, VERDICT_WRONG_LAUNCH, "block[0]: \"2048\" is 2048, expected 1 to 1024, at 64x64x64");
    l.block = "256";
    write_kernel(SOURCE("__launch_bounds__(128)", FITS), &l);
    expect_all(90, VERDICT_OVER_LIMIT, "256 threads in a block, and the kernel was compiled for 128 at most");
    l = plain;
    l.shared = "102400";
    write_kernel(SOURCE("", FITS), &l);
    expect_all(90, VERDICT_OK, "");
    expect_all(89, VERDICT_OVER_LIMIT,
               "102400 bytes of shared memory (0 static, 102400 dynamic), and sm_89 has 101376");
    l = plain;
    l.cluster = "2";
    write_kernel(SOURCE("", FITS), &l);
    expect_all(90, VERDICT_OK, "");
    expect_all(80, VERDICT_OVER_LIMIT, "2 blocks in a cluster, and sm_80 takes 1");
    write_kernel(SOURCE("__cluster_dims__(4)", FITS), &l);
    expect_all(90, VERDICT_OVER_LIMIT, "a cluster of 2x1x1, and the kernel was compiled for 4x1x1");
}

/* 90 values that live at once, and a multiprocessor has 64 registers for each of 1024 threads. */
static void more_registers_than_there_are(void **state)
{
    struct launch l = plain;
    (void)state;
    l.block = "1024";
    write_kernel("extern \"C\" __global__ void gemm(" FITS ") {\n"
                 "float x[90]; for (int i = 0; i < 90; i++) x[i] = a[i * m];\n"
                 "for (int r = 0; r < m; r++)\n#pragma unroll\nfor (int i = 0; i < 90; i++) x[i] = x[i] * x[(i + 7) % "
                 "90] + r;\nfloat s = 0; for (int i = 0; i < 90; i++) s += x[i] * i; c[threadIdx.x] = s; }\n",
                 &l);
    expect_all(90, VERDICT_OVER_LIMIT, "1024 threads of ");
}

/* One of NVRTC's own; its section headers lie near its end. */
static void a_real_cubin_that_is_cut(void **state)
{
    (void)state;
    struct compile_result made;
    struct cubin_entry entry;
    struct error err;
    const struct compile_define define = {"BM", 32};
    write_kernel(SOURCE("", FITS), &plain);
    const struct compile_request request = {scratch_path("one.cu"), "kernels", 90, &define, 1};
    if (compile_cubin(&request, &made, &err))
        fail_msg("%s", err.text);
    size_t refused = 0;
    for (size_t length = 0; length <= made.length; length++) {
        unsigned char *copy = malloc(length + 1); /* of its own length, for a sanitizer */
        assert_non_null(copy);
        memcpy(copy + 1, made.cubin, length);
        refused += cubin_read(copy + 1, length, "gemm", &entry, &err) != 0;
        free(copy);
    }
    assert_true(refused > made.length / 2 && refused <= made.length);
    assert_int_equal(entry.n_parameters, 4); /* whole */
    compile_result_free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_kernel_passes_in_every_variant),
        cmocka_unit_test(an_entry_is_launched_outside_of_its_when),
        cmocka_unit_test(illegal_combinations_are_left_out),
        cmocka_unit_test(what_does_not_compile_names_file_and_line),
        cmocka_unit_test(an_entry_of_another_name),
        cmocka_unit_test(other_arguments),
        cmocka_unit_test(launches_beyond_a_limit),
        cmocka_unit_test(more_registers_than_there_are),
        cmocka_unit_test(a_real_cubin_that_is_cut),
    };
    if (!has_nvrtc())
        return 0;
    return cmocka_run_group_tests(tests, scratch_make_cache, scratch_remove);
}
