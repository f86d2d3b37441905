/* Kernels of the harness compile for every architecture we claim; compile errors name file and line; the cache works.
 */
#include "compile/compile.h"
#include "compile/kernels.h"
#include "compile/nvrtc.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

static char kernels[1024]; /* the repository's kernel directory */

static int compile(const char *path, int cc, const struct compile_define *defines, size_t n, struct compile_result *out,
                   struct error *err)
{
    struct compile_request request = {path, kernels, cc, defines, n};
    return compile_cubin(&request, out, err);
}

static void harness_kernels_compile(void **state)
{
    (void)state;
    static const char *const names[] = {"fill",    "flush",   "blocker",   "null",    "probe",
                                        "product", "compare", "reference", "compare", "reference"};
    static const char *const entries[] = {"fill",         "flush_read", "blocker",   "null_kernel", "digest",
                                          "compare_rows", "compare",    "reference", "compare",     "reference"};
    require_nvrtc();
    for (size_t i = 0; i < 10; i++) {
        for (int64_t variant = 0; variant < 6; variant++) {
            char path[1200];
            struct compile_define defines[] = {{"DTYPE", variant / 2}, {"LAYOUT_TN", variant % 2}, {"WIDE", i >= 8}};
            int cc = variant % 2 ? 90 : 80;
            struct compile_result result;
            struct error err;
            snprintf(path, sizeof path, "%s/harness/%s.cu", kernels, names[i]);
            if (compile(path, cc, defines, 3, &result, &err) != 0)
                fail_msg("%s sm_%d: %s\n%s", names[i], cc, err.text, result.log ? result.log : "");
            struct compile_usage usage = compile_usage_of(result.log, entries[i]);
            assert_true(result.length > 64);
            assert_memory_equal(result.cubin, "\177ELF", 4);
            assert_true(usage.registers > 0);
            if (strcmp(names[i], "reference") != 0) /* never timed; on sm_80 it spills 68 bytes */
                assert_int_equal(usage.spill_store_bytes, 0);
            if (strstr(result.log, "warning"))
                fail_msg("%s sm_%d: %s", names[i], cc, result.log);
            compile_result_free(&result);
        }
    }
}

static void error_names_file_and_line(void **state)
{
    (void)state;
    struct compile_result result;
    struct error err;
    require_nvrtc();
    scratch_write("broken.cu", "extern \"C\" __global__ void f(int *p)\n{\n    *p = missing;\n}\n");
    assert_int_equal(compile(scratch_path("broken.cu"), 80, NULL, 0, &result, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "broken.cu(3): error"));
    assert_non_null(strstr(err.text, "missing"));
    assert_non_null(result.log);
    assert_null(result.cubin);
    compile_result_free(&result);
}

static void error_in_header_names_the_header(void **state)
{
    (void)state;
    struct compile_result result;
    struct error err;
    require_nvrtc();
    scratch_write("bad.cuh", "\nint x = ;\n");
    scratch_write("uses_bad.cu", "#include \"bad.cuh\"\n");
    assert_int_equal(compile(scratch_path("uses_bad.cu"), 80, NULL, 0, &result, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "bad.cuh(2): error"));
    compile_result_free(&result);
}

static void missing_header_names_the_including_line(void **state)
{
    (void)state;
    struct compile_result result;
    struct error err;
    require_nvrtc();
    scratch_write("lonely.cu", "\n\n#include \"nowhere.cuh\"\n");
    assert_int_equal(compile(scratch_path("lonely.cu"), 80, NULL, 0, &result, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "lonely.cu(3)"));
    assert_non_null(strstr(err.text, "nowhere.cuh"));
    compile_result_free(&result);
}

static const char good_source[] = "#include \"width.cuh\"\n"
                                  "extern \"C\" __global__ void f(u32 *p, const __grid_constant__ tensor_map map)\n"
                                  "{ p[threadIdx.x] = WIDTH + BM + (u32)map.opaque[threadIdx.x]; }\n";

static void cache_follows_content(void **state)
{
    (void)state;
    struct compile_define small[] = {{"BM", 16}}, large[] = {{"BM", 32}};
    struct compile_result first, again, other_define, other_arch, other_header;
    struct error err;
    require_nvrtc();
    scratch_write("width.cuh", "#define WIDTH 1\n");
    scratch_write("good.cu", good_source);
    assert_int_equal(compile(scratch_path("good.cu"), 90, small, 1, &first, &err), 0);
    assert_int_equal(compile(scratch_path("good.cu"), 90, small, 1, &again, &err), 0);
    assert_int_equal(compile(scratch_path("good.cu"), 90, large, 1, &other_define, &err), 0);
    assert_int_equal(compile(scratch_path("good.cu"), 80, small, 1, &other_arch, &err), 0);
    scratch_write("width.cuh", "#define WIDTH 2\n");
    assert_int_equal(compile(scratch_path("good.cu"), 90, small, 1, &other_header, &err), 0);
    assert_false(first.cached);
    assert_true(again.cached);
    assert_string_equal(first.key, again.key);
    assert_string_equal(first.hash, again.hash);
    assert_string_equal(first.log, again.log);
    assert_false(other_define.cached);
    assert_false(other_arch.cached);
    assert_false(other_header.cached);
    assert_string_not_equal(first.hash, other_define.hash);
    assert_string_not_equal(first.hash, other_header.hash);
    compile_result_free(&first);
    compile_result_free(&again);
    compile_result_free(&other_define);
    compile_result_free(&other_arch);
    compile_result_free(&other_header);
}

/* A header counts into the key however its name is reached. */
static void headers_count_however_they_are_spelled(void **state)
{
    static const char *const spellings[] = {"#include",       "#/* a */include", "%:include",
                                            "# \\\n include", "#inc\\\nlude",    "/*\n*/ #\vinclude/**/"};
    struct compile_result one, two;
    struct error err;
    char text[256];
    (void)state;
    require_nvrtc();
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        snprintf(text, sizeof text, "%s \"v.cuh\"\nextern \"C\" __global__ void f(int *p) { *p = V; }\n", spellings[i]);
        scratch_write("spelled.cu", text);
        scratch_write("v.cuh", "#define V 1\n");
        if (compile(scratch_path("spelled.cu"), 90, NULL, 0, &one, &err) != 0)
            fail_msg("%s: %s", spellings[i], err.text);
        scratch_write("v.cuh", "#define V 2\n");
        assert_int_equal(compile(scratch_path("spelled.cu"), 90, NULL, 0, &two, &err), 0);
        assert_false(two.cached);
        assert_string_not_equal(one.key, two.key);
        assert_string_not_equal(one.hash, two.hash);
        compile_result_free(&one);
        compile_result_free(&two);
    }
}

/* NVRTC would open any file of the machine that a source names. */
static void nothing_else_is_read(void **state)
{
    static const struct {
        const char *text, *shown;
    } sources[] = {
        {"#include <stdint.h>\n", "#include <stdint.h>"},
        {"#include \"/etc/passwd\"\n", "#include \"/etc/passwd\""},
        {"#include </etc/passwd>\n", "#include </etc/passwd>"},
        {"#include \"../v.cuh\"\n", "#include \"../v.cuh\""},
        {"#define H \"/etc/passwd\"\n#include H\n", "spelled.cu(2): #include H"},
        {"#define I(x) <x>\n#include I(/etc/passwd)\n", "#include I(/etc/passwd)"},
        {"#/**/include <a.h>\n", "#/**/include <a.h>"},
        {"\n#inc\\\nlude <a.h>\n", "spelled.cu(2): #include <a.h>"},
        {"%:include <a.h>\n", "%:include <a.h>"},
        {"#\vinclude <a.h>\n", "include <a.h>"},
        {"/*\n*/#include <a.h>\n", "spelled.cu(2): #include <a.h>"},
        {"#include_next \"/etc/passwd\"\n", "#include_next"},
        {"#import \"v.cuh\"\n", "#import"},
        {"#embed \"/etc/passwd\"\n", "#embed"},
        {"#if __has_include(\"/etc/passwd\")\n#endif\n", "__has_include(\"/etc/passwd\")"},
        {"#define C(a, b) a##b\n#if C(__has_,include)(\"/etc/passwd\")\n#endif\n", "spelled.cu(2): __has_,include"},
        {"#define C(a, b) a%:\\\n%:b\n#define D C(_,_has_include)\n", "spelled.cu(3): _,_has_include"},
        {"#include \"paste.cuh\"\n#if C(__has_em,bed)(<a>)\n#endif\n", "spelled.cu(2): __has_em,bed"},
        {"#include \"piece.cuh\"\n#include \"paste.cuh\"\n", "piece.cuh(1): __has_inc"},
        {"#if 0\n'\n#endif\n#include <a.h>\n", "spelled.cu(4): #include <a.h>"},
        {"#define C(a, b) a##b \"\n#if C(__has_em,bed)(<a>) //\"\n#endif\n", "spelled.cu(2): __has_em,bed"},
        {"#define C(a, b) a##b\nchar s[] = R\"(\" )\";\n#if C(_,x) // \"\n", "spelled.cu(3): _,x"},
        {"#define C(a, b) a##b\nint n = 1'0;\nint m = C(_,x) + 1'0;\n", "spelled.cu(3): _,x"},
        {"#define C(a, b) a##b\nchar s[] = \"\?\?/\"; int C(_,x); //\"\n", "spelled.cu(2): _,x"},
        {"#define C(a, b) a##b /* \" */\nint C(_,x); /* \" */\n", "spelled.cu(2): _,x"},
        {"#include\n", "#include"},
        {"#include \"v.cuh\n", "#include \"v.cuh"},
    };
    struct kernel_source source;
    struct error err;
    (void)state;
    scratch_write("v.cuh", "#define V 1\n");
    scratch_write("paste.cuh", "#define C(a, b) a##b\n");
    scratch_write("piece.cuh", "#define P __has_inc\n");
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        scratch_write("spelled.cu", sources[i].text);
        if (kernel_source_read(scratch_path("spelled.cu"), kernels, &source, &err) != EXIT_CODE_DATA)
            fail_msg("%s was read", sources[i].text);
        if (strstr(err.text, sources[i].shown) == NULL || strstr(err.text, "only #include \"name\" is read") == NULL)
            fail_msg("%s", err.text);
    }
    scratch_write("spelled.cu", "int x = '#'; // #define include\n#define S(x) #x\n#pragma unroll\nint _;\n");
    assert_int_equal(kernel_source_read(scratch_path("spelled.cu"), kernels, &source, &err), 0);
    kernel_source_free(&source);
    scratch_write("spelled.cu", "#define C(a, b) a##b\nint C(_x, y), __hash, has_include;\n"
                                "const char *s = \"arrive.b64 _, [%0]; \\\"_\"; char c = '_'; // _\n");
    assert_int_equal(kernel_source_read(scratch_path("spelled.cu"), kernels, &source, &err), 0);
    kernel_source_free(&source);
}

static void refuses_what_it_cannot_do(void **state)
{
    (void)state;
    struct compile_define long_name[] = {{"A_NAME_THAT_NEVER_ENDS_A_NAME_THAT_NEVER_ENDS_A_NAME_THAT_NEVER_ENDS_A_NAME_"
                                          "THAT_NEVER_ENDS_A_NAME_THAT_NEVER_ENDS",
                                          1}};
    struct compile_result result;
    struct error err;
    require_nvrtc();
    scratch_write("fine.cu", "extern \"C\" __global__ void f(void) {}\n");
    assert_int_equal(compile(scratch_path("fine.cu"), 33, NULL, 0, &result, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "sm_33"));
    compile_result_free(&result);
    assert_int_equal(compile(scratch_path("fine.cu"), 80, long_name, 1, &result, &err), EXIT_CODE_DATA);
    compile_result_free(&result);
    assert_int_equal(compile(scratch_path("absent.cu"), 80, NULL, 0, &result, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "absent.cu"));
    compile_result_free(&result);
}

static void usage_reads_the_right_function(void **state)
{
    (void)state;
    const char *log = "ptxas info    : 0 bytes gmem\n"
                      "ptxas info    : Compiling entry function 'one' for 'sm_80'\n"
                      "ptxas info    : Function properties for one\n"
                      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
                      "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 360 bytes cmem[0]\n"
                      "ptxas info    : Compiling entry function 'two' for 'sm_80'\n"
                      "ptxas info    : Function properties for two\n"
                      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                      "ptxas info    : Used 10 registers, used 0 barriers, 352 bytes cmem[0]\n"
                      "ptxas info    : Compiling entry function 'three' for 'sm_90a'\n"
                      "ptxas info    : Function properties for three\n" /* as NVRTC 13 writes it */
                      "ptxas         .     256 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
                      "ptxas info    : Used 34 registers, used 0 barriers, 256 bytes cumulative stack size\n";
    struct compile_usage three = compile_usage_of(log, "three");
    struct compile_usage one = compile_usage_of(log, "one"), two = compile_usage_of(log, "two");
    struct compile_usage none = compile_usage_of(log, "on");
    assert_int_equal(one.registers, 255);
    assert_int_equal(one.shared_bytes, 1024);
    assert_int_equal(one.stack_bytes, 8);
    assert_int_equal(one.spill_store_bytes, 12);
    assert_int_equal(one.spill_load_bytes, 16);
    assert_int_equal(two.registers, 10);
    assert_int_equal(two.shared_bytes, 0);
    assert_int_equal(two.spill_store_bytes, 0);
    assert_int_equal(none.registers, 0);
    assert_int_equal(three.registers, 34);
    assert_int_equal(three.stack_bytes, 256);
    assert_int_equal(three.spill_store_bytes, 24);
    assert_int_equal(three.spill_load_bytes, 32);
}

static void directory_must_hold_the_prelude(void **state)
{
    (void)state;
    char found[512];
    struct error err;
    assert_int_equal(kernel_directory_find(scratch, found, sizeof found, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, scratch));
    assert_int_equal(kernel_directory_find(kernels, found, sizeof found, &err), 0);
    assert_string_equal(found, kernels);
}

/* Tests run from build/tests/, two below the repository, or from its root. */
static int find_kernels(void **state)
{
    (void)state;
    struct error err;
    char directory[512], beside[600];
    if (file_executable_directory(directory, sizeof directory, &err) != 0)
        return -1;
    snprintf(beside, sizeof beside, "%s/../../kernels", directory);
    if (kernel_directory_find(beside, kernels, sizeof kernels, &err) != 0 &&
        kernel_directory_find("kernels", kernels, sizeof kernels, &err) != 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    return scratch_make_cache(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harness_kernels_compile),
        cmocka_unit_test(error_names_file_and_line),
        cmocka_unit_test(error_in_header_names_the_header),
        cmocka_unit_test(missing_header_names_the_including_line),
        cmocka_unit_test(cache_follows_content),
        cmocka_unit_test(headers_count_however_they_are_spelled),
        cmocka_unit_test(nothing_else_is_read),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(usage_reads_the_right_function),
        cmocka_unit_test(directory_must_hold_the_prelude),
    };
    return cmocka_run_group_tests(tests, find_kernels, scratch_remove);
}
