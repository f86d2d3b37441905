/*
 * Kernels that come compiled: each fault of a cubin, a fat binary or PTX has its one verdict without a GPU, and what
 * the manifest says of arguments reaches the driver. The binaries are made here by NVRTC, which the test needs.
 */
#include "base/file.h"
#include "base/half.h"
#include "contender/inspect.h"
#include "contender/module_set.h"
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"
#include "scratch_fixture.h"

/* Takes every kind of argument; multiplies in fp16 with fp16 sums. */
static const char source[] =
    "struct view { const u16 *at; int m; signed char small; long long stride; short last; };\n"
    "extern \"C\" __global__ void gemm(const u16 *a, const u16 *b, u16 *c, int m, long long stride, float alpha,\n"
    "    signed char flag, double beta, u16 half, void *scratch, void *none, const __grid_constant__ tensor_map map,\n"
    "    const __grid_constant__ view rows)\n"
    "{\n"
    "    extern __shared__ u32 shared[];\n"
    "    u32 x = a[threadIdx.x], y = b[threadIdx.x], z = 0, w = 0;\n"
    "    asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2, %2, %2}, {%3, %3}, \"\n"
    "                 \"{%0, %1};\" : \"+r\"(z), \"+r\"(w) : \"r\"(x), \"r\"(y));\n"
    "    shared[threadIdx.x] = z + w + (u32)map.opaque[0];\n"
    "    c[threadIdx.x] = (u16)(shared[m] + stride + flag + half + (int)alpha + (int)beta + (scratch == none) + "
    "rows.at[rows.m] + rows.last);\n"
    "}\n"
    "extern \"C\" __global__ void other(u16 *c) { *c = 1; }\n";

#define VIEW "{\"struct\":[\"b\",{\"int32\":\"M\"},{\"int8\":3},{\"int64\":\"K\"},{\"int16\":\"-2\"}]}"
#define ARGUMENTS                                                                                                      \
    "\"a\",\"b\",\"c\",\"m\",{\"int64\":\"LAYOUT_TN ? K : N\"},{\"float32\":1},{\"int8\":\"-M\"},{\"float64\":-0.5},"  \
    "{\"float16\":1.5},{\"workspace\":\"M*4\"},\"null\",{\"tensor_map\":\"a\",\"box\":[\"64\",\"16\"]}," VIEW

struct told {
    const char *source, *entry, *shared, *arguments;
};

static const struct told plain = {"one.cubin", "gemm", "1024", ARGUMENTS};

static void write_manifest(const struct told *t)
{
    char text[2000];
    snprintf(text, sizeof text,
             "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"one\",\"source\":\"%s\",\"entry\":"
             "\"%s\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\"],\"layouts\":[\"nn\"],"
             "\"grid\":[\"1\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],\"shared_bytes\":\"%s\","
             "\"workspace_bytes\":\"M*8\",\"arguments\":[%s]}",
             t->source, t->entry, t->shared, t->arguments);
    scratch_write("one.json", text);
}

static void write_bytes(const char *name, const void *bytes, size_t length)
{
    struct error err;
    if (file_write_atomic(scratch_path(name), bytes, length, &err))
        fail_msg("%s", err.text);
}

static void make_cubin(int cc, struct compile_result *made)
{
    struct error err;
    scratch_write("one.cu", source);
    const struct compile_request request = {scratch_path("one.cu"), getenv("CUDAL2_KERNELS"), cc, NULL, 0};
    if (compile_cubin(&request, made, &err))
        fail_msg("%s", err.text);
}

/* one.cubin, for sm_90a. */
static int write_cubin(void **state)
{
    struct compile_result made;
    (void)state;
    make_cubin(90, &made);
    write_bytes("one.cubin", made.cubin, made.length);
    compile_result_free(&made);
    return 0;
}

static void inspect_on(int cc, struct inspection *out)
{
    static const struct cudal2_problem problem = {.m = 64, .n = 64, .k = 64};
    struct module_set *set = NULL;
    const struct chip *chip;
    struct error err;
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%d", cc);
    assert_int_equal(chip_find(arch, &chip, &err), 0);
    struct device described = {.info = chip_info(chip)};
    const struct inspect_request request = {.chip = chip,
                                            .dtypes = 7,
                                            .accumulates = 3,
                                            .layouts = 3,
                                            .problems = &problem,
                                            .n_problems = 1,
                                            .most = 4,
                                            .threads = 1};
    if (module_set_open(scratch_path("one.json"), getenv("CUDAL2_KERNELS"), &described, &set, &err) ||
        inspect_set(set, &request, out, &err))
        fail_msg("%s", err.text);
    module_set_close(set);
    assert_int_equal(out->n, 1);
}

static void expect_on(int cc, enum verdict verdict, const char *why)
{
    struct inspection found;
    inspect_on(cc, &found);
    const struct inspected *v = &found.items[0];
    if (v->verdict != verdict || !strstr(v->why, why))
        fail_msg("expected %s \"%s\", found %s \"%s\"", verdict_name(verdict), why, verdict_name(v->verdict), v->why);
    inspection_free(&found);
}

static void expect(const struct told *t, enum verdict verdict, const char *why)
{
    write_manifest(t);
    expect_on(90, verdict, why);
}

static void a_cubin_is_read_whole(void **state)
{
    struct inspection found;
    (void)state;
    write_manifest(&plain);
    inspect_on(90, &found);
    const struct inspected *v = &found.items[0];
    if (v->verdict != VERDICT_OK)
        fail_msg("%s: %s", verdict_name(v->verdict), v->why);
    assert_string_equal(v->instructions, "hmma.f16.f16"); /* from machine code: there is no PTX */
    assert_true(v->mix.count[MIX_TENSOR] > 0 && v->mix.count[MIX_OTHER] == 0);
    assert_true(v->mix.total > v->mix.count[MIX_TENSOR] && v->mix.total <= v->code.code_bytes / 16);
    assert_true(v->usage.registers >= 16 && v->usage.registers <= 64);
    assert_int_equal(v->code.n_parameters, 13);
    assert_int_equal(v->dynamic_bytes, 1024);
    inspection_free(&found);
}

static void each_fault_has_its_verdict(void **state)
{
    struct told t = plain;
    (void)state;
    t.entry = "gem";
    expect(&t, VERDICT_WRONG_ENTRY, "no kernel \"gem\" in the code, which has: ");
    t = plain;
    t.arguments = ARGUMENTS ",\"n\"";
    expect(&t, VERDICT_WRONG_ARGUMENTS, "takes 13 arguments, the manifest gives 14");
    t.arguments = "\"a\",\"b\",\"c\"";
    expect(&t, VERDICT_WRONG_ARGUMENTS, "takes 13 arguments, the manifest gives 3");
    t.arguments = "\"a\",\"b\",\"c\",\"m\",\"n\",{\"float32\":1},{\"int8\":1},{\"float64\":1},{\"float16\":1},\"null\","
                  "\"null\",{\"tensor_map\":\"a\",\"box\":[\"64\",\"16\"]}," VIEW;
    expect(&t, VERDICT_WRONG_ARGUMENTS,
           "argument 5 is of 8 bytes in the kernel, and the manifest gives a size, which has 4");
    t = plain;
    t.shared = "232449";
    expect(&t, VERDICT_OVER_LIMIT, "232449 bytes of shared memory (0 static, 232449 dynamic), and sm_90 has 232448");
    t.shared = "400000";
    expect(&t, VERDICT_OVER_LIMIT, "400000 bytes of shared memory (0 static, 400000 dynamic), and sm_90 has 232448");
    t.shared = "2147483647";
    expect(&t, VERDICT_OVER_LIMIT, "2147483647 bytes of shared memory (0 static, 2147483647 dynamic)");
    write_manifest(&plain);
    expect_on(80, VERDICT_WRONG_ARCH, "one.cubin: it is for sm_90a, and this is sm_80");
    expect_on(100, VERDICT_WRONG_ARCH, "one.cubin: it is for sm_90a, and this is sm_100");
}

static void what_is_cut_or_no_cubin_does_not_load(void **state)
{
    struct compile_result made;
    (void)state;
    make_cubin(90, &made);
    write_bytes("one.cubin", made.cubin, made.length / 2);
    expect(&plain, VERDICT_LOAD_ERROR, "one.cubin: the cubin is cut off or damaged");
    write_bytes("one.cubin", "", 0);
    expect(&plain, VERDICT_LOAD_ERROR, "one.cubin: this is no cubin");
    made.cubin[18] = 62; /* of x86-64 */
    write_bytes("one.cubin", made.cubin, made.length);
    expect(&plain, VERDICT_LOAD_ERROR, "one.cubin: this ELF file is not for an NVIDIA GPU");
    compile_result_free(&made);
    write_bytes("one.fatbin", "no", 2);
    struct told t = plain;
    t.source = "one.fatbin";
    expect(&t, VERDICT_LOAD_ERROR, "one.fatbin: this is no fat binary");
}

static void a_missing_file_is_named(void **state)
{
    struct told t = plain;
    struct module_set *set;
    struct error err;
    (void)state;
    t.source = "none.cubin";
    write_manifest(&t);
    assert_int_equal(module_set_open(scratch_path("one.json"), getenv("CUDAL2_KERNELS"), d, &set, &err),
                     EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "none.cubin"));
}

static void put(char *at, size_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        at[i] = (char)(value >> 8 * i);
}

/* Of one cubin, as nvcc -fatbin writes it. */
static void write_fatbin(const struct compile_result *made, int cc)
{
    size_t length = 16 + 64 + made->length;
    char *file = calloc(1, length);
    assert_non_null(file);
    put(file, 0xba55ed50, 4);
    put(file + 6, 16, 2);
    put(file + 8, length - 16, 8);
    put(file + 16, 2, 2);
    put(file + 20, 64, 4);
    put(file + 24, made->length, 8);
    put(file + 44, (size_t)cc, 4);
    memcpy(file + 80, made->cubin, made->length);
    write_bytes("one.fatbin", file, length);
    free(file);
}

static void a_fat_binary_has_a_part_for_the_gpu_or_not(void **state)
{
    struct compile_result made;
    struct told t = plain;
    (void)state;
    make_cubin(80, &made);
    write_fatbin(&made, 80);
    compile_result_free(&made);
    t.source = "one.fatbin";
    write_manifest(&t);
    expect_on(80, VERDICT_OK, "");
    expect_on(86, VERDICT_OK, "");
    expect_on(90, VERDICT_WRONG_ARCH, "one.fatbin: it has no code for sm_90: sm_80");
}

static const char ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                          ".visible .entry gemm(.param .u64 a, .param .u32 m)\n{\n    .reg .f32 %f<4>;\n"
                          "    .reg .u64 %p;\n    ld.param.u64 %p, [a];\n    ld.global.f32 %f1, [%p];\n"
                          "    fma.rn.f32 %f2, %f1, %f1, %f1;\n    st.global.f32 [%p], %f2;\n    ret;\n}\n";

static void ptx_is_assembled(void **state)
{
    struct compile_result made;
    struct error err;
    struct told t = {"one.ptx", "gemm", "0", "\"c\",\"m\""};
    (void)state;
    scratch_write("one.ptx", ptx);
    const struct compile_request request = {scratch_path("one.ptx"), NULL, 90, NULL, 0};
    int rc = compile_cubin(&request, &made, &err);
    if (rc == EXIT_CODE_UNAVAILABLE) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    char found[64];
    compile_instructions_of(made.log, found, sizeof found);
    assert_string_equal(found, "fma.f32");
    assert_true(compile_usage_of(made.log, "gemm").registers > 0);
    compile_result_free(&made);
    assert_int_equal(compile_cubin(&request, &made, &err), 0);
    assert_true(made.cached);
    compile_result_free(&made);
    expect(&t, VERDICT_OK, "");
    t.arguments = "\"c\"";
    expect(&t, VERDICT_WRONG_ARGUMENTS, "takes 2 arguments, the manifest gives 1");
    scratch_write("one.ptx", "this is no PTX\n");
    expect(&t, VERDICT_LOAD_ERROR, "one.ptx: this is no PTX");
    scratch_write("one.ptx", ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry gemm() {\n nonsense;\n");
    expect(&t, VERDICT_LOAD_ERROR, "one.ptx: ");
    scratch_write("one.ptx", ".version 8.6\n.target sm_100a\n");
    expect(&t, VERDICT_WRONG_ARCH, "one.ptx: it is for sm_100a, and this is sm_90");
}

/* ---- on a device ---- */

static const struct cudal2_problem usual = {
    .m = 64, .n = 96, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};

static int set_up_for(const struct cudal2_problem *problem, struct module_set **set, struct contender *c, void **made,
                      char *why)
{
    static struct cudal2_operands operands = {(void *)0x10000, (void *)0x20000, (void *)0x30000};
    const struct cudal2_setup setup = {.problem = *problem,
                                       .layout = CUDAL2_NN,
                                       .sets = &operands,
                                       .n_sets = 1,
                                       .workspace = (void *)0x40000,
                                       .workspace_bytes = 4096,
                                       .threads = 1};
    struct error err;
    if (module_set_open(scratch_path("one.json"), getenv("CUDAL2_KERNELS"), d, set, &err) != 0)
        fail_msg("%s", err.text);
    module_set_contender(*set, CUDAL2_NN, c);
    return c->ops->setup(c, &setup, made, why);
}

static int set_up(struct module_set **set, struct contender *c, void **made, char *why)
{
    return set_up_for(&usual, set, c, made, why);
}

static const void *address(size_t i)
{
    return *(void *const *)mock.last_arguments[i];
}

static void every_argument_reaches_the_launch(void **state)
{
    struct module_set *set;
    struct contender c;
    void *made;
    char why[CUDAL2_WHY] = "", described[1000];
    int64_t stride;
    float alpha;
    double beta;
    uint16_t half;
    (void)state;
    write_manifest(&plain);
    if (set_up(&set, &c, &made, why) != CUDAL2_OK || c.ops->launch(&c, made, 0, why) != CUDAL2_OK)
        fail_msg("%s", why);
    assert_ptr_equal(address(0), (void *)0x10000);
    assert_ptr_equal(address(2), (void *)0x30000);
    assert_int_equal(*(int32_t *)mock.last_arguments[3], 64);
    memcpy(&stride, mock.last_arguments[4], sizeof stride);
    assert_int_equal(stride, 96);
    memcpy(&alpha, mock.last_arguments[5], sizeof alpha);
    assert_true(alpha == 1.0f);
    assert_int_equal(*(int8_t *)mock.last_arguments[6], -64);
    memcpy(&beta, mock.last_arguments[7], sizeof beta);
    assert_true(beta == -0.5);
    memcpy(&half, mock.last_arguments[8], sizeof half);
    assert_true(half_to_float(half) == 1.5f);
    assert_ptr_equal(address(9), (void *)(0x40000 + 256));
    assert_null(address(10));
    const struct {
        const void *at;
        int32_t m;
        int8_t small;
        int64_t stride;
        int16_t last;
    } *view = mock.last_arguments[12];
    assert_ptr_equal(view->at, (void *)0x20000);
    assert_int_equal(view->m, 64);
    assert_int_equal(view->small, 3);
    assert_int_equal(view->stride, 128);
    assert_int_equal(view->last, -2);
    assert_int_equal(c.ops->describe(&c, made, described, sizeof described), CUDAL2_OK);
    assert_non_null(strstr(described, "\"instructions\":\"hmma.f16.f16\"")); /* what verify/instructions.c judges */
    c.ops->teardown(&c, made);
    module_set_close(set);
}

/* To a kernel that is given them, as arguments, as fields and in its map; another one does not take the problem. */
static void what_a_problem_has_beside_sizes_reaches_the_launch(void **state)
{
    struct cudal2_problem problem = usual;
    struct told t = plain;
    struct module_set *set;
    struct contender c;
    void *made;
    char why[CUDAL2_WHY] = "";
    int64_t stride;
    float alpha;
    double beta;
    uint16_t half;
    (void)state;
    problem.lda = 136;
    problem.ldb = 104;
    problem.ldc = 100;
    problem.alpha = -0.5;
    problem.beta = 1.25;
    t.arguments = "\"a\",\"b\",\"c\",\"m\",{\"int64\":\"LDB\"},{\"float32\":\"alpha\"},{\"int8\":\"-M\"},"
                  "{\"float64\":\"beta\"},{\"float16\":\"beta\"},{\"workspace\":\"M*4\"},\"null\","
                  "{\"tensor_map\":\"a\",\"box\":[\"64\",\"16\"]},"
                  "{\"struct\":[\"b\",{\"int32\":\"LDA\"},{\"int8\":3},{\"int64\":\"LDC\"},{\"int16\":\"-2\"}]}";
    write_manifest(&t);
    if (set_up_for(&problem, &set, &c, &made, why) != CUDAL2_OK || c.ops->launch(&c, made, 0, why) != CUDAL2_OK)
        fail_msg("%s", why);
    assert_int_equal(c.is.flags, CUDAL2_STRIDES | CUDAL2_SCALES);
    memcpy(&stride, mock.last_arguments[4], sizeof stride);
    assert_int_equal(stride, 104);
    memcpy(&alpha, mock.last_arguments[5], sizeof alpha);
    assert_true(alpha == -0.5f);
    memcpy(&beta, mock.last_arguments[7], sizeof beta);
    assert_true(beta == 1.25);
    memcpy(&half, mock.last_arguments[8], sizeof half);
    assert_true(half_to_float(half) == 1.25f);
    assert_int_equal(((const uint64_t *)mock.last_arguments[11])[2], 2 * 136);
    assert_int_equal(*(const int32_t *)((const char *)mock.last_arguments[12] + 8), 136);
    assert_int_equal(*(const int64_t *)((const char *)mock.last_arguments[12] + 16), 100);
    c.ops->teardown(&c, made);
    module_set_close(set);
    write_manifest(&plain);
    assert_int_equal(set_up_for(&problem, &set, &c, &made, why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "is not given LDA, LDB and LDC"));
    module_set_close(set);
    problem.lda = problem.ldb = problem.ldc = 0;
    assert_int_equal(set_up_for(&problem, &set, &c, &made, why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "is not given alpha and beta"));
    module_set_close(set);
}

static void expect_setup(const struct told *t, int status, const char *says)
{
    struct module_set *set;
    struct contender c;
    void *made = NULL;
    char why[CUDAL2_WHY] = "";
    write_manifest(t);
    assert_int_equal(set_up(&set, &c, &made, why), status);
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
    module_set_close(set);
}

/* Before the driver sees it. */
static void a_fault_ends_the_setup_with_its_word(void **state)
{
    struct compile_result made;
    struct told t = plain;
    (void)state;
    t.entry = "gem";
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "load_error: there is no kernel \"gem\"");
    t = plain;
    t.arguments = "\"a\"";
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "load_error: wrong_arguments: the kernel takes 13");
    t = plain;
    t.shared = "232449";
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "load_error: over_limit: 232449 bytes of shared memory");
    t.shared = "400000";
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "load_error: over_limit: 400000 bytes of shared memory");
    make_cubin(80, &made);
    write_bytes("one.cubin", made.cubin, made.length);
    expect_setup(&plain, CUDAL2_UNSUPPORTED, "wrong_arch: one.cubin: it is for sm_80, and this is sm_90");
    write_bytes("one.cubin", made.cubin, made.length / 2);
    expect_setup(&plain, CUDAL2_LIBRARY_ERROR, "load_error: one.cubin: the cubin is cut off");
    compile_result_free(&made);
}

static void numbers_that_do_not_fit_are_told(void **state)
{
    struct told t = plain;
    (void)state;
    t.arguments = "\"a\",\"b\",\"c\",\"m\",{\"int64\":1},{\"float32\":1},{\"int8\":\"M*2\"},{\"float64\":1},"
                  "{\"float16\":1},\"null\",\"null\",{\"tensor_map\":\"a\",\"box\":[\"64\",\"16\"]}," VIEW;
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "the argument \"M*2\" is 128, which is no int8");
    t.arguments = "\"a\",\"b\",\"c\",\"m\",{\"int64\":1},{\"float32\":1},{\"int8\":1},{\"float64\":1},{\"float16\":1},"
                  "{\"workspace\":\"M*9\"},\"null\",{\"tensor_map\":\"a\",\"box\":[\"64\",\"16\"]}," VIEW;
    expect_setup(&t, CUDAL2_LIBRARY_ERROR, "\"M*9\" is 576, outside of the workspace of 512 bytes");
}

static int open_files(void **state)
{
    return mock_open(&d) == 0 && scratch_make(state) == 0 ? write_cubin(state) : -1;
}

static int close_files(void **state)
{
    d->ops->close(d);
    return scratch_remove(state);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_files, close_files)

int main(void)
{
    char cache[] = "/tmp/cudal2-binary-XXXXXX";
    const struct CMUnitTest tests[] = {TEST(a_cubin_is_read_whole),
                                       TEST(each_fault_has_its_verdict),
                                       TEST(what_is_cut_or_no_cubin_does_not_load),
                                       TEST(a_missing_file_is_named),
                                       TEST(a_fat_binary_has_a_part_for_the_gpu_or_not),
                                       TEST(ptx_is_assembled),
                                       TEST(every_argument_reaches_the_launch),
                                       TEST(what_a_problem_has_beside_sizes_reaches_the_launch),
                                       TEST(a_fault_ends_the_setup_with_its_word),
                                       TEST(numbers_that_do_not_fit_are_told)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
