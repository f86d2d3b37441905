/* compile/cubins: what was compiled ahead is taken before the cache and by the same key, and never when it is of
 * another source, damaged, or where workers write; asked.h's text is read back as it was. */
#include "compile/asked.h"
#include "compile/cubins.h"
#include "base/file.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

static const char source[] = "#include \"width.cuh\"\n"
                             "extern \"C\" __global__ void f(u32 *p) { p[threadIdx.x] = WIDTH + BM; }\n";
static struct compile_define defines[] = {{"BM", 16}};

/* A kernel directory of the test's own, so that its sources can change. */
static void write_kernels(void)
{
    scratch_write("kernels/harness/prelude.cuh", "typedef unsigned int u32;\n");
    scratch_write("kernels/width.cuh", "#define WIDTH 1\n");
    scratch_write("kernels/f.cu", source);
}

static struct compile_result compile(void)
{
    char path[128], kernels[128];
    struct compile_result result;
    struct error err;
    snprintf(path, sizeof path, "%s", scratch_path("kernels/f.cu"));
    snprintf(kernels, sizeof kernels, "%s", scratch_path("kernels"));
    const struct compile_request request = {path, kernels, 90, defines, 1};
    if (compile_cubin(&request, &result, &err) != 0)
        fail_msg("%s", err.text);
    return result;
}

/* Compiled into `cubins` beside the kernels; the cache is emptied by being another one. */
static void compile_ahead(char key[DIGEST_HEX])
{
    struct error err;
    write_kernels();
    defines[0].value++; /* a kernel that no earlier test has made */
    struct compile_result made = compile();
    assert_false(made.ahead);
    assert_int_equal(cubins_put(scratch_path("cubins"), &made, &err), 0);
    memcpy(key, made.key, DIGEST_HEX);
    compile_result_free(&made);
}

static const char *entry_path(const char *kind, const char *key)
{
    char name[128];
    snprintf(name, sizeof name, "cubins/%s/%s", kind, key);
    return scratch_path(name);
}

static void is_taken_before_the_cache(void **state)
{
    (void)state;
    char key[DIGEST_HEX];
    require_nvrtc();
    compile_ahead(key);
    struct compile_result again = compile();
    assert_true(again.ahead);
    assert_false(again.cached || again.damaged);
    assert_string_equal(again.key, key);
    assert_memory_equal(again.cubin, "\177ELF", 4);
    assert_non_null(strstr(again.log, "registers"));
    compile_result_free(&again);
    defines[0].value += 100; /* nobody has compiled that */
    again = compile();
    assert_false(again.ahead || again.cached || again.damaged);
    compile_result_free(&again);
    again = compile(); /* the cache serves what the directory has not */
    assert_true(again.cached);
    compile_result_free(&again);
}

static void another_header_is_another_kernel(void **state)
{
    (void)state;
    char key[DIGEST_HEX];
    require_nvrtc();
    compile_ahead(key);
    scratch_write("kernels/width.cuh", "#define WIDTH 2\n");
    struct compile_result other = compile();
    assert_false(other.ahead || other.cached || other.damaged);
    assert_string_not_equal(other.key, key);
    compile_result_free(&other);
}

static void a_cut_one_is_not_taken(void **state)
{
    static const char *const kinds[] = {"cubin", "cubin-log"};
    (void)state;
    char key[DIGEST_HEX];
    require_nvrtc();
    for (size_t i = 0; i < 2; i++) {
        compile_ahead(key);
        assert_int_equal(truncate(entry_path(kinds[i], key), 100), 0);
        struct compile_result anew = compile();
        assert_true(anew.damaged);
        assert_true(anew.cached); /* or compiled, in another cache */
        assert_memory_equal(anew.cubin, "\177ELF", 4);
        compile_result_free(&anew);
    }
}

/* What a worker could have written is not trusted more than the cache. */
static void not_in_the_cache(void **state)
{
    char path[256], within[256];
    (void)state;
    snprintf(within, sizeof within, "%s/within", getenv("CUDAL2_CACHE"));
    struct error err;
    assert_int_equal(file_make_directories(within, &err), 0);
    assert_int_equal(file_make_directories(scratch_path("cubins"), &err), 0);
    write_kernels();
    assert_true(cubins_find(scratch_path("kernels"), path, sizeof path));
    setenv(CUBINS_VARIABLE, within, 1);
    assert_false(cubins_find(scratch_path("kernels"), path, sizeof path));
    assert_string_equal(path, within);
    setenv(CUBINS_VARIABLE, scratch_path("nowhere"), 1);
    assert_false(cubins_find(scratch_path("kernels"), path, sizeof path));
    setenv(CUBINS_VARIABLE, CUBINS_NONE, 1);
    assert_false(cubins_find(scratch_path("kernels"), path, sizeof path));
    assert_string_equal(path, "");
    unsetenv(CUBINS_VARIABLE);
    assert_false(cubins_find(NULL, path, sizeof path));
    assert_string_equal(path, "");
}

static struct cubins_count look(void)
{
    struct cubins_count c;
    struct error err;
    char kernels[128];
    snprintf(kernels, sizeof kernels, "%s", scratch_path("kernels"));
    if (cubins_look(scratch_path("cubins"), kernels, &c, &err) != 0)
        fail_msg("%s", err.text);
    return c;
}

static void tells_what_can_be_used(void **state)
{
    (void)state;
    char key[DIGEST_HEX];
    static const char other[] = "NVRTC 1.2\nf.cu\n--std=c++17\n";
    struct error err;
    require_nvrtc();
    compile_ahead(key);
    struct cubins_count before = look();
    assert_true(before.usable >= 1 && before.bytes > 64);
    assert_int_equal(file_entry_put(entry_path("cubin-of", key), other, sizeof other - 1, &err), 0);
    struct cubins_count c = look();
    assert_int_equal(c.all, before.all);
    assert_int_equal(c.usable, before.usable - 1);
    assert_int_equal(c.other_nvrtc, 1);
    assert_int_equal(c.nvrtc[0] * 10 + c.nvrtc[1], 12);
    assert_int_equal(truncate(entry_path("cubin-of", key), 20), 0);
    c = look();
    assert_int_equal(c.other_nvrtc, 0);
    assert_int_equal(c.damaged, before.damaged + 1);
    scratch_write("kernels/width.cuh", "#define WIDTH 3\n");
    c = look();
    assert_int_equal(c.usable, 0);
    assert_int_equal(c.stale, before.usable - 1 + before.stale);
}

/* In a process that has not loaded NVRTC, and where there is none: what was compiled ahead serves, and nothing else. */
static int without_nvrtc(const char *directory, int64_t value)
{
    struct compile_result result;
    struct error err;
    char path[128], kernels[128];
    int version[2];
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || mount("none", "/usr/local", "tmpfs", 0, NULL) != 0 ||
        nvrtc_version(&version[0], &version[1], &err) == 0)
        return 77;
    snprintf(path, sizeof path, "%s/kernels/f.cu", directory);
    snprintf(kernels, sizeof kernels, "%s/kernels", directory);
    defines[0].value = value;
    const struct compile_request request = {path, kernels, 90, defines, 1};
    if (compile_cubin(&request, &result, &err) != 0 || !result.ahead)
        return 1;
    compile_result_free(&result);
    defines[0].value += 1000000;
    int code = compile_cubin(&request, &result, &err);
    compile_result_free(&result);
    return code == EXIT_CODE_UNAVAILABLE && strstr(err.text, "no NVRTC") ? 0 : 2;
}

static void no_compiler_is_needed(void **state)
{
    char key[DIGEST_HEX], value[32];
    int status;
    (void)state;
    require_nvrtc();
    compile_ahead(key);
    snprintf(value, sizeof value, "%lld", (long long)defines[0].value);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "test_cubins", scratch, value, (char *)NULL);
        _exit(3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip(); /* no namespaces here, or NVRTC elsewhere */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void what_was_asked_is_read_back(void **state)
{
    static const char *const bad[] = {
        "", "NVRTC 13\nf.cu\n-DX=1\n", "NVRTC 13.0", "NVRTC 13.0\n", "NVRTC 13.0\nf.cu\n", "NVRTC 13.0\nf.cu\n-DX=1"};
    struct asked *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    struct error err;
    (void)state;
    write_kernels();
    char path[128], kernels[128];
    snprintf(path, sizeof path, "%s", scratch_path("kernels/f.cu"));
    snprintf(kernels, sizeof kernels, "%s", scratch_path("kernels"));
    const struct compile_request request = {path, kernels, 90, defines, 1};
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(asked_fill(&request, (int[]){13, 1}, a, &err), 0);
    assert_string_equal(a->source, "f.cu"); /* wherever the kernel directory is */
    char *text = asked_text(a);
    assert_int_equal(asked_read(text, b, &err), 0);
    assert_memory_equal(a->nvrtc, b->nvrtc, sizeof a->nvrtc);
    assert_string_equal(a->source, b->source);
    assert_int_equal(a->n_options, b->n_options);
    for (int i = 0; i < a->n_options; i++)
        assert_string_equal(a->options[i], b->options[i]);
    free(text);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(asked_read(bad[i], b, &err), EXIT_CODE_DATA);
    free(a);
    free(b);
}

static int start(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    unsetenv(CUBINS_VARIABLE);
    return setenv("CUDAL2_CACHE", scratch_path("cache"), 1);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return without_nvrtc(argv[1], atoll(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_taken_before_the_cache), cmocka_unit_test(another_header_is_another_kernel),
        cmocka_unit_test(a_cut_one_is_not_taken),    cmocka_unit_test(not_in_the_cache),
        cmocka_unit_test(tells_what_can_be_used),    cmocka_unit_test(what_was_asked_is_read_back),
        cmocka_unit_test(no_compiler_is_needed),
    };
    return cmocka_run_group_tests(tests, start, scratch_remove);
}
