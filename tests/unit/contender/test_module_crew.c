/* contender/module_crew.c: a list of kernels within a patience. Nothing begins too late, nobody waits too long, what is
 * in the cache is ready whatever the time, what was late is ready later, and each of two layouts gets kernels. */
#include "contender/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "h200_fixture.h"
#include "nvrtc_fixture.h"
#include "scratch_fixture.h"

enum { N = 4 };
static struct module_set *set;

static const char *const first[N] = {"tiny:BM=16,BN=16", "tiny:BM=16,BN=32", "tiny:BM=32,BN=16", "tiny:BM=16,BN=16"};
static const char *const second[N] = {"tiny:BM=64,BN=32", "tiny:BM=32,BN=64", "tiny:BM=64,BN=16", "gone:BM=16"};

static void compile_by(unsigned threads, const struct precompile_key *keys, struct module_patience patience,
                       bool *ready)
{
    const struct precompile_request request = {.dtype = CUDAL2_F16, .threads = threads, .keys = keys, .n_keys = N};
    module_set_compile_keys(set, &request, &patience, ready);
}

static void compile(const char *const *names, struct module_patience patience, bool ready[N])
{
    struct precompile_key keys[N];
    for (int i = 0; i < N; i++)
        keys[i] = (struct precompile_key){"cudal2", names[i], CUDAL2_TN, CUDAL2_ACC_F32};
    compile_by(2, keys, patience, ready);
}

static int count(const bool ready[N])
{
    int n = 0;
    for (int i = 0; i < N; i++)
        n += ready[i];
    return n;
}

static void nothing_begins_too_late(void **state)
{
    bool ready[N];
    (void)state;
    uint64_t began = clock_now_ns();
    compile(first, (struct module_patience){0, 60}, ready);
    assert_int_equal(count(ready), 0);
    assert_true(clock_now_ns() - began < 10000000000u);
}

static void one_kernel_is_one_job(void **state)
{
    bool ready[N];
    (void)state;
    require_nvrtc();
    compile(first, (struct module_patience){60, 120}, ready);
    assert_int_equal(count(ready), N); /* the fourth is the first */
}

static void what_is_kept_takes_no_time(void **state)
{
    bool ready[N];
    (void)state;
    require_nvrtc();
    compile(first, (struct module_patience){0, 60}, ready);
    assert_int_equal(count(ready), N);
}

/* A second layout, whose call begins when the time is over: all that the first call compiled for it is ready. */
static void the_cache_is_asked_for_all(void **state)
{
    struct precompile_key keys[N];
    bool ready[N];
    (void)state;
    require_nvrtc();
    for (int i = 0; i < N; i++)
        keys[i] = (struct precompile_key){"cudal2", first[i], CUDAL2_TN, CUDAL2_ACC_F32};
    for (int again = 0; again < 20; again++) {
        compile_by(1, keys, (struct module_patience){0, 0}, ready);
        assert_int_equal(count(ready), N);
        module_set_settle(set);
    }
}

/* Two layouts compile in turn. The first call ends with its own first kernel, the second waits for its own, which the
 * first call's threads compile still. */
static void each_layout_has_its_first(void **state)
{
    static const char *const names[N] = {"tiny:BM=16,BN=64", "tiny:BM=64,BN=64", "tiny:BM=32,BN=32",
                                         "tiny:BM=16,BN=16"};
    struct precompile_key keys[N], own[N];
    bool ready[N];
    (void)state;
    require_nvrtc();
    for (int i = 0; i < N; i++) {
        keys[i] = (struct precompile_key){"cudal2", names[i], i % 2 ? CUDAL2_TN : CUDAL2_NN, CUDAL2_ACC_F32};
        own[i] = (struct precompile_key){"cudal2", names[1], CUDAL2_TN, CUDAL2_ACC_F32};
    }
    compile_by(2, keys, (struct module_patience){60, 0}, ready);
    assert_true(ready[0]); /* whatever was ready before it */
    compile_by(2, own, (struct module_patience){0, 0}, ready);
    assert_int_equal(count(ready), N); /* one job */
    module_set_settle(set);
}

static void who_is_late_is_there_later(void **state)
{
    bool ready[N];
    (void)state;
    require_nvrtc();
    compile(second, (struct module_patience){60, 0}, ready);
    assert_in_range(count(ready), 1, N - 1); /* something to race with, however little the patience */
    module_set_settle(set);
    compile(second, (struct module_patience){0, 60}, ready);
    assert_int_equal(count(ready), N - 1);
    assert_false(ready[N - 1]);
}

/* Whoever closes a set while it compiles waits. */
static void a_set_is_closed_behind_its_threads(void **state)
{
    static const char *const third[N] = {"tiny:BM=64,BN=64", "tiny:BM=32,BN=32", "tiny:BM=64,BN=32",
                                         "tiny:BM=16,BN=64"};
    bool ready[N];
    (void)state;
    require_nvrtc();
    compile(third, (struct module_patience){60, 0}, ready);
    assert_true(count(ready) > 0);
}

static int open_all(void **state)
{
    int code = scratch_make_cache(state);
    set = open_cudal2();
    return code;
}

static int close_all(void **state)
{
    module_set_close(set);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_begins_too_late),
        cmocka_unit_test(one_kernel_is_one_job),
        cmocka_unit_test(what_is_kept_takes_no_time),
        cmocka_unit_test(the_cache_is_asked_for_all),
        cmocka_unit_test(each_layout_has_its_first),
        cmocka_unit_test(who_is_late_is_there_later),
        cmocka_unit_test(a_set_is_closed_behind_its_threads),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
