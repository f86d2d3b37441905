/* contender/module_precompile: after it every kernel of a set comes from the cache, the same as if compiled alone. */
#include "contender/module_set.h"
#include "compile/nvrtc.h"
#include "base/clock.h"
#include "device/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

static char kernels[1024];
static struct device *device;

#define KERNEL(name, layouts, accumulate)                                                                              \
    "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"" name                                        \
    "\",\"source\":\"one.cu\",\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[" accumulate "],"                \
    "\"layouts\":[" layouts "],\"parameters\":{\"BM\":{\"values\":[16,32,64],\"default\":16}},"                        \
    "\"terms\":{\"TILES\":\"ceildiv(M,BM)\"},\"grid\":[\"TILES\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],"         \
    "\"arguments\":[\"a\",\"b\",\"c\",\"m\"]}"

/* `both` in every form at two values of BM (8 kernels; one entry says so twice), `narrow` in one (1). */
static void write_set(const char *source)
{
    scratch_write("one.cu", source);
    scratch_write("both.json", KERNEL("both", "\"nn\",\"tn\"", "\"f16\",\"f32\""));
    scratch_write("narrow.json", KERNEL("narrow", "\"tn\"", "\"f32\""));
    scratch_write("set.json",
                  "{\"schema\":\"cudal2-bench/kernel-set\",\"schema_version\":1,\"name\":\"set\",\"entries\":["
                  "{\"kernel\":\"both\",\"when\":\"M < 0\"},{\"kernel\":\"both\"},"
                  "{\"kernel\":\"both\",\"parameters\":{\"BM\":32}},{\"kernel\":\"narrow\"}]}");
}

static const char good[] = "extern \"C\" __global__ void gemm(const u16 *a, const u16 *b, u16 *c, int m)\n"
                           "{ if (threadIdx.x < m) c[threadIdx.x] = a[0] + b[0] + ACC_F32 + BM + 2 * LAYOUT_TN; }\n";

static struct module_set *open_set(void)
{
    struct module_set *set;
    struct error err;
    if (module_set_open(scratch_path("set.json"), kernels, device, &set, &err) != 0)
        fail_msg("%s", err.text);
    return set;
}

static struct precompile_request request_all(unsigned threads)
{
    return (struct precompile_request){.dtype = CUDAL2_F16, .accumulates = 3, .layouts = 3, .threads = threads};
}

/* The kernel `both` with BM for one problem, compiled as setup does: with the names of a plan, the problem's own among
 * them. */
static void compile_one(const struct module_set *set, int layout, int64_t bm, struct compile_result *out)
{
    struct module_identity identity = {.kernel = 0, .accumulate = CUDAL2_ACC_F32, .layout = layout, .values = {bm}};
    const struct manifest_conditions conditions = {
        .problem = {.m = 512, .n = 256, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        .layout = (enum cudal2_layout)layout,
        .cc = device->info.cc,
        .sm_count = device->info.sm_count};
    struct manifest_plan plan;
    char why[CUDAL2_WHY] = "";
    assert_int_equal(manifest_plan(set->kernels[0], &conditions, identity.values, &plan, why), CUDAL2_OK);
    const struct expr_scope scope = {plan.names, plan.n_names};
    if (set_compile(set, &identity, &scope, out, why) != CUDAL2_OK)
        fail_msg("%s", why);
}

static void fills_the_cache(void **state)
{
    (void)state;
    struct compile_result before, after, other;
    write_set(good);
    struct module_set *set = open_set();
    setenv("CUDAL2_CACHE", "/dev/null/none", 1); /* alone, and not kept */
    compile_one(set, CUDAL2_TN, 32, &before);
    assert_false(before.cached);
    setenv("CUDAL2_CACHE", scratch, 1);
    struct precompile_request request = request_all(4);
    assert_int_equal(module_set_precompile(set, &request), 9);
    compile_one(set, CUDAL2_TN, 32, &after);
    assert_true(after.cached);
    assert_string_equal(after.key, before.key);
    assert_string_equal(after.hash, before.hash); /* the same machine code */
    compile_one(set, CUDAL2_NN, 32, &other);
    assert_true(other.cached);
    assert_string_not_equal(other.hash, after.hash);
    compile_result_free(&other);
    compile_one(set, CUDAL2_NN, 64, &other); /* no entry names this one */
    assert_false(other.cached);
    compile_result_free(&other);
    compile_result_free(&before);
    compile_result_free(&after);
    module_set_close(set);
}

static void only_what_the_run_asks_for(void **state)
{
    (void)state;
    write_set(good);
    struct module_set *set = open_set();
    struct precompile_request request = request_all(1);
    request.layouts = CUDAL2_BIT(CUDAL2_NN);
    assert_int_equal(module_set_precompile(set, &request), 4);
    request.accumulates = CUDAL2_BIT(CUDAL2_ACC_F16);
    assert_int_equal(module_set_precompile(set, &request), 2);
    request.dtype = CUDAL2_BF16; /* no kernel of the set does it */
    assert_int_equal(module_set_precompile(set, &request), 0);
    module_set_close(set);
}

/* What a tuning table names is compiled too, or alone; what it names of other sets is theirs. */
static void keys_are_compiled(void **state)
{
    (void)state;
    write_set(good);
    struct module_set *set = open_set();
    const struct precompile_key keys[] = {{"set", "both:BM=64", CUDAL2_NN, CUDAL2_ACC_F32},
                                          {"set", "both:BM=32", CUDAL2_NN, CUDAL2_ACC_F32}, /* an entry's */
                                          {"set", "no such kernel", CUDAL2_NN, CUDAL2_ACC_F32},
                                          {"other", "both:BM=64", CUDAL2_TN, CUDAL2_ACC_F32}};
    struct precompile_request request = request_all(2);
    struct compile_result one;
    request.keys = keys;
    request.n_keys = 4;
    for (request.turn = 0; request.turn < 3; request.turn++) { /* wherever it begins, it does all */
        request.keys_only = false;
        assert_int_equal(module_set_precompile(set, &request), 10);
        request.keys_only = true;
        assert_int_equal(module_set_precompile(set, &request), 2);
    }
    compile_one(set, CUDAL2_NN, 64, &one);
    assert_true(one.cached);
    compile_result_free(&one);
    compile_one(set, CUDAL2_TN, 64, &one);
    assert_false(one.cached);
    compile_result_free(&one);
    module_set_close(set);
}

/* When a kernel of the cache was written, in ns. */
static int64_t written(const char *key)
{
    char path[1200];
    struct stat file;
    snprintf(path, sizeof path, "%s/cubin/%s", getenv("CUDAL2_CACHE"), key);
    assert_int_equal(stat(path, &file), 0);
    return (int64_t)file.st_mtim.tv_sec * 1000000000 + file.st_mtim.tv_nsec;
}

/* One of the first jobs and one of the last: the second turn begins 0.618 of the way through, at the sixth of nine. */
static void turns_begin_elsewhere(void **state)
{
    (void)state;
    write_set(good);
    for (unsigned turn = 0; turn < 2; turn++) {
        struct module_set *set = open_set();
        struct precompile_request request = request_all(1);
        struct compile_result early, late;
        setenv("CUDAL2_CACHE", scratch_path(turn == 0 ? "turn0" : "turn1"), 1);
        request.turn = turn;
        assert_int_equal(module_set_precompile(set, &request), 9);
        compile_one(set, CUDAL2_NN, 16, &early);
        compile_one(set, CUDAL2_TN, 32, &late);
        assert_true(early.cached && late.cached);
        assert_int_equal(written(early.key) < written(late.key), turn == 0);
        compile_result_free(&early);
        compile_result_free(&late);
        module_set_close(set);
    }
    setenv("CUDAL2_CACHE", scratch, 1);
}

/* What somebody who watches is told. */
struct watched {
    atomic_size_t counted, good, refused, named;
};

static void on_counted(void *context, size_t n)
{
    struct watched *w = context;
    atomic_fetch_add(&w->counted, n);
}

static void on_told(void *context, const char *name, const struct compile_result *result, const char *why)
{
    struct watched *w = context;
    atomic_fetch_add(why ? &w->refused : &w->good, 1);
    if (why ? strstr(why, "one.cu(2)") != NULL : result->length > 64 && result->asked)
        atomic_fetch_add(&w->named,
                         strncmp(name, "both:BM=", 8) == 0 || strncmp(name, "narrow:BM=16 (tn, f32)", 22) == 0);
}

static void each_is_told(void **state)
{
    (void)state;
    write_set("#if BM == 32\n#error no\n#endif\nextern \"C\" __global__ void gemm(u16 *c) { *c = BM; }\n");
    struct module_set *set = open_set();
    struct watched w = {0};
    const struct compile_watch watch = {.context = &w, .counted = on_counted, .told = on_told};
    struct precompile_request request = request_all(3);
    request.watch = &watch;
    assert_int_equal(module_set_precompile(set, &request), 5);
    assert_int_equal(w.counted, 9);
    assert_int_equal(w.good, 5);
    assert_int_equal(w.refused, 4);
    assert_int_equal(w.named, 9);
    module_set_close(set);
}

static void what_does_not_compile_is_left_for_setup(void **state)
{
    (void)state;
    write_set("#if BM == 32\n#error no\n#endif\nextern \"C\" __global__ void gemm(u16 *c) { *c = BM; }\n");
    struct module_set *set = open_set();
    struct precompile_request request = request_all(3);
    assert_int_equal(module_set_precompile(set, &request), 5);
    module_set_close(set);
}

/* How long it takes is no verdict, since this machine may be busy: printed for docs and for whoever doubts it. A minute
 * of two cores: in make test-all. */
static void the_real_set(void **state)
{
    (void)state;
    struct module_set *set;
    struct error err;
    if (!getenv("CUDAL2_SLOW"))
        skip();
    if (module_set_open("cudal2", kernels, device, &set, &err) != 0)
        fail_msg("%s", err.text);
    struct precompile_request request = request_all(2);
    request.accumulates = CUDAL2_BIT(CUDAL2_ACC_F32);
    request.layouts = CUDAL2_BIT(CUDAL2_NN);
    uint64_t start = clock_now_ns();
    size_t n = module_set_precompile(set, &request);
    double cold = 1e-9 * (double)(clock_now_ns() - start);
    start = clock_now_ns();
    assert_int_equal(module_set_precompile(set, &request), n);
    print_message("%zu kernels on 2 threads: %.1f s cold, %.2f s cached\n", n, cold,
                  1e-9 * (double)(clock_now_ns() - start));
    assert_true(n > 0);
    module_set_close(set);
}

static int prepare(void **state)
{
    struct fake_script script = {0};
    struct error err;
    (void)state;
    if (kernel_directory_find(NULL, kernels, sizeof kernels, &err) != 0)
        snprintf(kernels, sizeof kernels, "kernels");
    return scratch_make_cache(state) || fake_open(&script, &device, &err) ? -1 : 0;
}

static int finish(void **state)
{
    device->ops->close(device);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_cache),   cmocka_unit_test(only_what_the_run_asks_for),
        cmocka_unit_test(keys_are_compiled), cmocka_unit_test(turns_begin_elsewhere),
        cmocka_unit_test(each_is_told),      cmocka_unit_test(what_does_not_compile_is_left_for_setup),
        cmocka_unit_test(the_real_set),
    };
    if (!has_nvrtc())
        return 0;
    return cmocka_run_group_tests(tests, prepare, finish);
}
