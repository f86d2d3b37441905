/* run/plan and run/devices: which cells in which order, seeds that do not move, and one run a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "record/record.h"
#include "run/devices.h"
#include "run/plan.h"
#include "scratch_fixture.h"

static struct shape shapes[] = {{.m = 64, .n = 128, .k = 256, .label = "tall"}, {.m = 32, .n = 32, .k = 32}};

static struct config make_config(void)
{
    return (struct config){
        .shapes = shapes,
        .n_shapes = 2,
        .dtype_native = true,
        .accumulates = CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32),
        .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
        .modes = CUDAL2_BIT(MODE_OFFLINE) | CUDAL2_BIT(MODE_SERVER),
        .stop = {.min_blocks = 32, .max_blocks = 200},
        .gap = {.mean_ns = 2e6},
    };
}

static void key_of(const struct plan *p, size_t i, char key[RECORD_KEY_MAX])
{
    record_key(&p->cells[i].problem, p->cells[i].mode, key);
}

static void test_order_on_cuda(void **state)
{
    static const char *const expected[] = {"offline/f16-f16-64x128x256", "offline/f16-f16-32x32x32",
                                           "offline/f16-f32-64x128x256", "offline/f16-f32-32x32x32",
                                           "server/f16-f16-64x128x256",  "server/f16-f16-32x32x32",
                                           "server/f16-f32-64x128x256",  "server/f16-f32-32x32x32"};
    struct config config = make_config();
    struct plan p;
    struct error err;
    (void)state;
    assert_int_equal(plan_build(&config, true, 7, &p, &err), 0);
    assert_int_equal(p.n_cells, 8);
    for (size_t i = 0; i < 8; i++) {
        char key[RECORD_KEY_MAX];
        key_of(&p, i, key);
        assert_string_equal(key, expected[i]);
        assert_string_equal(p.cells[i].label, i % 2 ? "" : "tall");
        assert_true(p.cells[i].cost_seconds > 0);
        assert_int_equal(plan_find(&p, &p.cells[i].problem, p.cells[i].mode), (long)i);
    }
    struct cudal2_problem absent = p.cells[0].problem;
    absent.k++;
    assert_int_equal(plan_find(&p, &absent, MODE_OFFLINE), -1);
    plan_free(&p);
    assert_null(p.cells);
}

static void test_native_is_f32_on_the_cpu(void **state)
{
    struct config config = make_config();
    struct plan p;
    struct error err;
    (void)state;
    assert_int_equal(plan_build(&config, false, 7, &p, &err), 0);
    assert_int_equal(p.n_cells, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(p.cells[i].problem.dtype, CUDAL2_F32);
        assert_int_equal(p.cells[i].problem.accumulate, CUDAL2_ACC_F32);
    }
    plan_free(&p);
}

static void test_bf16_accumulates_in_f32(void **state)
{
    struct config config = make_config();
    struct plan p;
    struct error err;
    (void)state;
    config.dtype_native = false;
    config.dtype = CUDAL2_BF16;
    assert_int_equal(plan_build(&config, true, 7, &p, &err), 0);
    assert_int_equal(p.n_cells, 4);
    assert_int_equal(p.cells[0].problem.accumulate, CUDAL2_ACC_F32);
    plan_free(&p);
}

/* A cell keeps its seed when other cells come, go or change places; a shard sees what the whole run sees. */
static void test_seed_belongs_to_the_cell(void **state)
{
    struct config both = make_config(), one = make_config();
    struct plan a, b;
    struct error err;
    (void)state;
    one.shapes = &shapes[1];
    one.n_shapes = 1;
    one.modes = CUDAL2_BIT(MODE_SERVER);
    assert_int_equal(plan_build(&both, true, 7, &a, &err), 0);
    assert_int_equal(plan_build(&one, true, 7, &b, &err), 0);
    for (size_t i = 0; i < b.n_cells; i++) {
        long there = plan_find(&a, &b.cells[i].problem, b.cells[i].mode);
        assert_true(there >= 0);
        assert_true(a.cells[there].seed == b.cells[i].seed);
    }
    for (size_t i = 0; i < a.n_cells; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(a.cells[i].seed != a.cells[j].seed);
    plan_free(&a);
    plan_free(&b);
}

static void hash_of(const struct config *config, bool on_cuda, uint64_t seed, char hash[DIGEST_HEX])
{
    struct plan p;
    struct error err;
    assert_int_equal(plan_build(config, on_cuda, seed, &p, &err), 0);
    memcpy(hash, p.hash, DIGEST_HEX);
    plan_free(&p);
}

static void test_hash_tells_plans_apart(void **state)
{
    struct config config = make_config();
    char base[DIGEST_HEX], other[DIGEST_HEX];
    (void)state;
    hash_of(&config, true, 7, base);
    hash_of(&config, true, 7, other);
    assert_string_equal(base, other);
    hash_of(&config, true, 8, other);
    assert_string_not_equal(base, other);
    hash_of(&config, false, 7, other);
    assert_string_not_equal(base, other);
    shapes[0].m = 65;
    hash_of(&config, true, 7, other);
    shapes[0].m = 64;
    assert_string_not_equal(base, other);
}

static void test_server_costs_its_gaps(void **state)
{
    struct config config = make_config();
    struct plan p;
    struct error err;
    char *baselines[] = {"x", NULL};
    (void)state;
    memcpy(config.baselines, baselines, sizeof baselines);
    assert_int_equal(plan_build(&config, true, 7, &p, &err), 0);
    /* 2 layouts x 1.5 x 32 blocks x 2 ms of gaps at least */
    assert_true(p.cells[5].cost_seconds > 0.192);
    assert_true(p.cells[1].cost_seconds < p.cells[5].cost_seconds);
    plan_free(&p);
}

static double eta_at(double share, double factor, int workers, double startup)
{
    double done = 1000 * share;
    return plan_eta(done, 1000 - done, factor * done / workers + startup, workers);
}

static void test_eta_leaves_the_model_for_the_measured(void **state)
{
    (void)state;
    assert_float_equal(eta_at(0, 1, 1, 0), 1000, 1e-9);
    assert_float_equal(eta_at(0, 1, 4, 0), 250, 1e-9);
    assert_float_equal(eta_at(0.3, 1, 4, 0), 175, 1e-9);
    assert_float_equal(eta_at(1, 3, 1, 0), 0, 0);
    assert_true(eta_at(0.001, 1, 1, 30) < 1600);                             /* a slow first cell */
    assert_true(eta_at(0.5, 3, 1, 0) > 1400 && eta_at(0.5, 3, 1, 0) < 1500); /* truly 1500 */
    assert_float_equal(plan_eta(0, 0, 5, 1), 0, 0);
}

static void test_nothing_to_measure(void **state)
{
    struct config config = make_config();
    struct plan p;
    struct error err;
    (void)state;
    config.modes = 0;
    assert_int_equal(plan_build(&config, true, 7, &p, &err), EXIT_CODE_DATA);
    assert_null(p.cells);
}

/* ---- devices ---- */

/* What the file system does: locks as it should, says that it has none, or says yes to everybody. */
static enum { LOCKS, NO_LOCKS, VAIN_LOCKS } locking;

int flock(int fd, int operation)
{
    if (locking == LOCKS)
        return (int)syscall(SYS_flock, fd, operation);
    errno = ENOSYS;
    return locking == NO_LOCKS ? -1 : 0;
}

static void test_a_file_system_without_locks(void **state)
{
    static const char *const told[] = {
        [NO_LOCKS] = "(flock: Function not implemented)", [VAIN_LOCKS] = "(flock: granted to two at once)"};
    struct error err;
    int fd = -1;
    (void)state;
    for (locking = NO_LOCKS; locking <= VAIN_LOCKS; locking++) {
        assert_int_equal(devices_lock("GPU-3", 60, NULL, &fd, &err), EXIT_CODE_IO);
        assert_int_equal(fd, -1);
        assert_non_null(strstr(err.text, told[locking]));
        assert_non_null(strstr(err.text, "set CUDAL2_CACHE to a directory on a local disk"));
    }
    locking = LOCKS;
    assert_int_equal(devices_lock("GPU-3", 0.1, NULL, &fd, &err), 0);
    close(fd);
}

static void test_locks_have_one_order(void **state)
{
    const struct devices devices = {.count = 4, .lock = {"GPU-c", "GPU-a", "GPU-d", "GPU-b"}};
    static const int wanted[] = {1, 3, 0, 2};
    int order[DEVICES_MAX];
    (void)state;
    devices_lock_order(&devices, order);
    assert_memory_equal(order, wanted, sizeof wanted);
}

static void test_lock_keeps_a_second_run_out(void **state)
{
    struct error err;
    int first = -1, second = -1;
    volatile int stop = 0;
    (void)state;
    assert_int_equal(devices_lock("GPU-1", 0.1, &stop, &first, &err), 0);
    uint64_t start = clock_now_ns();
    assert_int_equal(devices_lock("GPU-1", 0.2, &stop, &second, &err), EXIT_CODE_TEMPORARY);
    assert_true(clock_now_ns() - start >= 200000000u);
    assert_int_equal(second, -1);
    assert_int_equal(devices_lock("GPU-2", 0.1, &stop, &second, &err), 0);
    close(second);
    stop = 2; /* a signal ends the wait at once */
    start = clock_now_ns();
    assert_int_equal(devices_lock("GPU-1", 60, &stop, &second, &err), EXIT_CODE_TEMPORARY);
    assert_true(clock_now_ns() - start < 10000000000u);
    close(first);
    assert_int_equal(devices_lock("GPU-1", 0.1, NULL, &first, &err), 0);
    close(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_on_cuda),
        cmocka_unit_test(test_native_is_f32_on_the_cpu),
        cmocka_unit_test(test_bf16_accumulates_in_f32),
        cmocka_unit_test(test_seed_belongs_to_the_cell),
        cmocka_unit_test(test_hash_tells_plans_apart),
        cmocka_unit_test(test_server_costs_its_gaps),
        cmocka_unit_test(test_eta_leaves_the_model_for_the_measured),
        cmocka_unit_test(test_nothing_to_measure),
        cmocka_unit_test(test_locks_have_one_order),
        cmocka_unit_test_setup_teardown(test_a_file_system_without_locks, scratch_make_cache, scratch_remove),
        cmocka_unit_test_setup_teardown(test_lock_keeps_a_second_run_out, scratch_make_cache, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
