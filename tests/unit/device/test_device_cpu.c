/* The CPU device: fills follow their contract, the reference product and comparison give exact values, no timing is
 * made up. */
#include "device/device.h"
#include "base/half.h"
#include "device/cpu_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct device *d;

static void *get(size_t bytes)
{
    struct error err;
    void *memory;
    if (d->ops->alloc(d, bytes, &memory, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal((uintptr_t)memory % 256, 0);
    return memory;
}

static void fill(void *memory, struct fill f)
{
    struct error err;
    assert_int_equal(d->ops->fill(d, memory, &f, &err), 0);
}

static void info_is_filled(void **state)
{
    (void)state;
    assert_string_equal(d->info.kind, "cpu");
    assert_int_equal(d->info.device_bit, CUDAL2_ON_CPU);
    assert_int_equal(d->info.timings, CUDAL2_BIT(TIMING_WALL));
    assert_true(d->info.threads >= 1);
    assert_true(d->info.name[0] != 0 && d->info.driver[0] != 0);
    assert_true(d->info.memory_bytes > (64u << 20));
    assert_null(d->stream);
}

static void normal_fill_is_normal(void **state)
{
    (void)state;
    enum { N = 400 };
    double sum = 0, squares = 0, fourth = 0, neighbours = 0, previous = 0;
    uint16_t *m = get(N * N * 2);
    fill(m, (struct fill){.kind = FILL_NORMAL, .dtype = CUDAL2_F16, .seed = 7, .rows = N, .cols = N});
    for (size_t i = 0; i < N * N; i++) {
        double x = (double)half_to_float(m[i]);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        neighbours += x * previous;
        previous = x;
        assert_true(fabs(x) < 6);
    }
    double n = N * N;
    /* four standard errors: 1/sqrt(n) = 0.0025 and sqrt(2/n), sqrt(96/n) */
    assert_true(fabs(sum / n) < 0.01);
    assert_true(fabs(squares / n - 1) < 0.0142);
    assert_true(fabs(fourth / n - 3) < 0.098);
    assert_true(fabs(neighbours / n) < 0.01);
    d->ops->release(d, m);
}

static void storage_order_does_not_change_the_matrix(void **state)
{
    (void)state;
    enum { R = 37, C = 53 };
    float *row = get(R * C * 4), *column = get(R * C * 4), *other = get(R * C * 4);
    struct fill f = {.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 99, .rows = R, .cols = C};
    size_t same = 0;
    fill(row, f);
    f.column_major = true;
    fill(column, f);
    for (size_t i = 0; i < R; i++)
        for (size_t j = 0; j < C; j++)
            assert_true(row[i * C + j] == column[j * R + i]);
    f.column_major = false;
    f.seed = 100;
    fill(other, f);
    for (size_t i = 0; i < R * C; i++)
        same += row[i] == other[i];
    assert_true(same < 3);
    d->ops->release(d, row);
    d->ops->release(d, column);
    d->ops->release(d, other);
}

/* The function is fixed: results of old runs are reproduced from their seeds. */
static void fill_values_are_pinned(void **state)
{
    (void)state;
    float m[4];
    fill(m, (struct fill){.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 1, .rows = 2, .cols = 2});
    uint64_t key = 1 ^ 0x5851f42d4c957f2du;
    for (int round = 0; round < 1; round++) {
        key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
        key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
        key ^= key >> 31;
    }
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t z = key + (i + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        double u1 = (double)((z >> 40) + 1) / 16777216, u2 = (double)(z & 0xffffff) / 16777216;
        double expected = sqrt(-2 * log(u1)) * cos(2 * 3.14159265358979323846 * u2);
        if (fabs((double)m[i] - expected) > 4e-6)
            fail_msg("element %d is %g, expected %g", (int)i, (double)m[i], expected);
    }
}

static void binary_and_poison(void **state)
{
    (void)state;
    enum { N = 300 };
    uint16_t *m = get(N * N * 2);
    double ones = 0;
    fill(m, (struct fill){.kind = FILL_BINARY, .dtype = CUDAL2_BF16, .seed = 3, .density = 0.25, .rows = N, .cols = N});
    for (size_t i = 0; i < N * N; i++) {
        float x = bfloat_to_float(m[i]);
        assert_true(x == 0 || x == 1);
        ones += (double)x;
    }
    assert_true(fabs(ones / (N * N) - 0.25) < 0.006);
    fill(m, (struct fill){.kind = FILL_BINARY, .dtype = CUDAL2_F16, .seed = 3, .density = 0, .rows = N, .cols = N});
    for (size_t i = 0; i < N * N; i++)
        assert_int_equal(m[i], 0);
    fill(m, (struct fill){.kind = FILL_BINARY, .dtype = CUDAL2_F16, .seed = 3, .density = 1, .rows = N, .cols = N});
    for (size_t i = 0; i < N * N; i++)
        assert_int_equal(m[i], 0x3c00);
    for (int dtype = 0; dtype < 3; dtype++) {
        enum cudal2_dtype t = (enum cudal2_dtype)dtype;
        float *p = get(12 * 4);
        fill(p, (struct fill){.kind = FILL_POISON, .dtype = t, .rows = 3, .cols = 4});
        for (size_t i = 0; i < 12; i++)
            assert_true(isnan(element_load(p, t, i)));
        d->ops->release(d, p);
    }
    d->ops->release(d, m);
}

/* Against a plain triple loop in double, at sizes that are no multiple of anything. */
static void reference_is_right(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1}, {4, 8, 16}, {5, 9, 33}, {3, 1, 7}, {17, 23, 129}, {64, 64, 64}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int dtype = 0; dtype < 3; dtype++) {
            int64_t m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
            enum cudal2_dtype t = (enum cudal2_dtype)dtype;
            struct cudal2_problem p = {.m = m, .n = n, .k = k, .dtype = t, .accumulate = CUDAL2_ACC_F32};
            void *a = get((size_t)(m * k) * 4), *nn = get((size_t)(k * n) * 4), *tn = get((size_t)(k * n) * 4);
            float *c0 = get((size_t)(m * n) * 4), *c1 = get((size_t)(m * n) * 4);
            struct fill fb = {.kind = FILL_NORMAL, .dtype = t, .seed = 2, .rows = k, .cols = n};
            struct error err;
            fill(a, (struct fill){.kind = FILL_NORMAL, .dtype = t, .seed = 1, .rows = m, .cols = k});
            fill(nn, fb);
            fb.column_major = true;
            fill(tn, fb);
            struct cudal2_operands on = {a, nn, NULL}, ot = {a, tn, NULL};
            assert_int_equal(d->ops->reference(d, &p, CUDAL2_NN, &on, c0, &err), 0);
            assert_int_equal(d->ops->reference(d, &p, CUDAL2_TN, &ot, c1, &err), 0);
            assert_memory_equal(c0, c1, (size_t)(m * n) * 4);
            for (int64_t i = 0; i < m; i++) {
                for (int64_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (int64_t l = 0; l < k; l++)
                        sum += (double)element_load(a, t, (size_t)(i * k + l)) *
                               (double)element_load(nn, t, (size_t)(l * n + j));
                    assert_true(fabs(sum - (double)c0[i * n + j]) < 1e-4);
                }
            }
            void *all[] = {a, nn, tn, c0, c1};
            for (size_t i = 0; i < 5; i++)
                d->ops->release(d, all[i]);
        }
    }
}

/* 2^24 + 1 is lost in fp32 and kept in fp64, and so is a difference of half a unit of the output. */
static void wide_reference_keeps_what_fp32_loses(void **state)
{
    (void)state;
    struct cudal2_problem p = {.m = 5, .n = 3, .k = 2, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    float a[10], nn[6], tn[6], narrow[15], c[15];
    double wide[2][15];
    struct comparison out;
    struct error err;
    for (size_t i = 0; i < 10; i++)
        a[i] = i % 2 ? 1 : 4096;
    for (size_t i = 0; i < 6; i++) {
        nn[i] = i < 3 ? 4096 : 1;
        tn[i] = i % 2 ? 1 : 4096;
    }
    assert_int_equal(d->ops->reference(d, &p, CUDAL2_NN, &(struct cudal2_operands){a, nn, NULL}, narrow, &err), 0);
    assert_int_equal(d->ops->reference_wide(d, &p, CUDAL2_NN, &(struct cudal2_operands){a, nn, NULL}, wide[0], &err),
                     0);
    assert_int_equal(d->ops->reference_wide(d, &p, CUDAL2_TN, &(struct cudal2_operands){a, tn, NULL}, wide[1], &err),
                     0);
    for (size_t i = 0; i < 15; i++) {
        assert_true(narrow[i] == 16777216);
        assert_true(wide[0][i] == 16777217 && wide[1][i] == 16777217);
        c[i] = 16777216;
    }
    assert_int_equal(d->ops->compare(d, &p, c, &(struct expectation){.wide = wide[0]}, &out, &err), 0);
    assert_true(out.max_abs_error == 1 && out.sum_sq_error == 15);
    assert_int_equal(out.checked, 15);
}

static void comparison_counts_exactly(void **state)
{
    (void)state;
    struct cudal2_problem p = {.m = 2, .n = 3, .k = 1, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    float reference[6] = {0, 1, 2047, 2048, 5, 7};
    uint16_t c[6];
    struct comparison out;
    struct error err;
    for (size_t i = 0; i < 6; i++)
        c[i] = half_from_float(reference[i]);
    assert_int_equal(
        d->ops->compare(d, &p, c, &(struct expectation){.reference = reference, .limit = 2048}, &out, &err), 0);
    assert_int_equal(out.checked, 5);
    assert_int_equal(out.covered, 4); /* a sum of 0 is checked but proves little */
    assert_int_equal(out.mismatched, 0);
    assert_int_equal(out.nan_count, 0);
    assert_true(out.first_index == UINT64_MAX && out.max_abs_error == 0);
    c[3] = half_from_float(4096); /* not below the limit: not part of the exact match, but in the sums */
    c[4] = half_from_float(3);
    c[5] = 0x7e00;
    assert_int_equal(
        d->ops->compare(d, &p, c, &(struct expectation){.reference = reference, .limit = 2048}, &out, &err), 0);
    assert_int_equal(out.checked, 5);
    assert_int_equal(out.mismatched, 2);
    assert_int_equal(out.nan_count, 1);
    assert_int_equal(out.first_index, 4);
    assert_int_equal(d->ops->compare(d, &p, c, &(struct expectation){.reference = reference, .limit = 0}, &out, &err),
                     0);
    assert_int_equal(out.checked, 6);
    assert_int_equal(out.mismatched, 1);
    assert_int_equal(out.first_index, 5);
    assert_true(out.max_abs_error == 2048);
    assert_true(out.sum_sq_error == 2048.0 * 2048 + 4);
    assert_true(out.sum_sq_reference == 1 + 2047.0 * 2047 + 2048.0 * 2048 + 25);
    reference[0] = -1; /* the sign of a sum does not matter, its size does */
    reference[1] = -2048;
    assert_int_equal(
        d->ops->compare(d, &p, c, &(struct expectation){.reference = reference, .limit = 2048}, &out, &err), 0);
    assert_int_equal(out.checked, 4);
}

static int sleeping_launch(void *context, size_t set, char *why)
{
    (void)why;
    ((size_t *)context)[0]++;
    ((size_t *)context)[1] = set;
    struct timespec t = {0, 5000000};
    nanosleep(&t, NULL);
    return CUDAL2_OK;
}

static int failing_launch(void *context, size_t set, char *why)
{
    (void)context;
    (void)set;
    strcpy(why, "the library said no");
    return CUDAL2_LIBRARY_ERROR;
}

static void only_wall_is_timed(void **state)
{
    (void)state;
    size_t seen[2] = {0, 0};
    struct device_work work = {sleeping_launch, seen, 0}, failing = {failing_launch, NULL, 0};
    struct device_shape shape = {.launches = 1, .n_sets = 1};
    struct device_segment *segment = (struct device_segment *)seen;
    struct error err;
    double ns = -1;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &segment, &err), EXIT_CODE_UNAVAILABLE);
    assert_null(segment);
    assert_int_equal(d->ops->time_event(d, &work, 0, &ns, &err), EXIT_CODE_UNAVAILABLE);
    assert_true(ns == -1);
    assert_int_equal(seen[0], 0);
    assert_int_equal(d->ops->time_wall(d, &work, 3, &ns, &err), 0);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 3);
    assert_true(ns >= 5e6 && ns < 5e9);
    assert_int_equal(d->ops->time_wall(d, &failing, 0, &ns, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "the library said no"));
}

static int unblocking_launch(void *context, size_t set, char *why)
{
    sigset_t one;
    (void)context, (void)set, (void)why;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    return CUDAL2_OK;
}

static volatile sig_atomic_t handled;

static void note_signal(int number)
{
    (void)number;
    handled++;
}

/* A handler that a contender wants to run on the launching thread behind its launch does not. */
static void launches_take_no_signals(void **state)
{
    const struct sigaction action = {.sa_handler = note_signal};
    const struct device_work work = {unblocking_launch, NULL, 0};
    struct host_state was = d->host;
    sigset_t before;
    struct error err;
    double ns;
    (void)state;
    handled = 0;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sigaction(SIGUSR1, &action, NULL);
    host_process_block_signals();
    host_state_read(&d->host);
    assert_int_equal(d->ops->time_wall(d, &work, 0, &ns, &err), EXIT_CODE_VERIFICATION);
    assert_string_equal(err.text, HOST_SIGNALS_UNBLOCKED);
    pthread_kill(pthread_self(), SIGUSR1);
    assert_int_equal(handled, 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(handled, 1);
    d->host = was;
}

static void memory_and_clock(void **state)
{
    (void)state;
    struct error err;
    uint64_t bytes = 0;
    void *memory = (void *)1;
    char from[1000], to[1000] = {0};
    memset(from, 42, sizeof from);
    assert_int_equal(d->ops->memory_free(d, &bytes, &err), 0);
    assert_true(bytes > (1u << 20));
    assert_int_not_equal(d->ops->alloc(d, SIZE_MAX - 10, &memory, &err), 0);
    assert_null(memory);
    memory = get(1000);
    assert_int_equal(d->ops->upload(d, memory, from, 1000, &err), 0);
    assert_int_equal(d->ops->download(d, to, memory, 1000, &err), 0);
    assert_memory_equal(from, to, 1000);
    d->ops->release(d, memory);
    assert_int_equal(d->ops->flush(d, &err), 0);
    assert_int_equal(d->ops->settle(d, &err), 0);
    uint64_t start = d->ops->now(d);
    uint64_t end = d->ops->wait_until(d, start + 3000000);
    assert_true(end >= start + 3000000 && end < start + 1000000000);
}

static void specs_of_open(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cpu:0", "cuda:99999"};
    struct device *other;
    struct error err;
    char why[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(device_open(bad[i], why, &other, &err), EXIT_CODE_USAGE);
        assert_null(other);
    }
    assert_int_equal(device_open("cpu", NULL, &other, &err), 0);
    other->ops->close(other);
    if (device_count_gpus() > 0)
        skip();
    assert_int_equal(device_open("cuda:0", NULL, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "cuda:0"));
    assert_int_equal(device_open("auto", why, &other, &err), 0);
    assert_string_equal(other->info.kind, "cpu");
    assert_true(why[0] != 0);
    other->ops->close(other);
}

static int open_device(void **state)
{
    (void)state;
    struct error err;
    return device_open_cpu(&d, &err);
}

static int close_device(void **state)
{
    (void)state;
    d->ops->close(d);
    return 0;
}

/* Packed operands beyond CPU_PACKED_BYTES: the product goes by slabs of rows and of columns. */
static void reference_by_slabs(void **state)
{
    const struct cudal2_problem p = {.m = 36, .n = 40, .k = 1 << 18, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    uint16_t *a = get((size_t)(p.m * p.k) * 2), *b = get((size_t)(p.k * p.n) * 2);
    float *narrow = get((size_t)(p.m * p.n) * sizeof *narrow);
    double *wide = get((size_t)(p.m * p.n) * sizeof *wide);
    struct error err;
    (void)state;
    assert_true(cpu_reference_scratch(&p) <= CPU_PACKED_BYTES && 4 * (p.m + p.n) * p.k > (int64_t)CPU_PACKED_BYTES);
    fill(a, (struct fill){FILL_BINARY, CUDAL2_F16, 3, 0.5, p.m, p.k, false, 0, 0});
    fill(b, (struct fill){FILL_BINARY, CUDAL2_F16, 4, 0.5, p.k, p.n, false, 0, 0});
    const struct cudal2_operands on = {a, b, NULL};
    assert_int_equal(d->ops->reference(d, &p, CUDAL2_NN, &on, narrow, &err), 0);
    assert_int_equal(d->ops->reference_wide(d, &p, CUDAL2_NN, &on, wide, &err), 0);
    for (int64_t i = 0; i < p.m; i += 5)
        for (int64_t j = i % 3; j < p.n; j += 13) {
            int64_t sum = 0;
            for (int64_t l = 0; l < p.k; l++)
                sum += a[i * p.k + l] != 0 && b[l * p.n + j] != 0;
            assert_true((int64_t)narrow[i * p.n + j] == sum && (int64_t)wide[i * p.n + j] == sum);
        }
    d->ops->release(d, a);
    d->ops->release(d, b);
    d->ops->release(d, narrow);
    d->ops->release(d, wide);
}

static void a_change_of_what_was_filled_is_seen(void **state)
{
    enum { N = 4096 };
    float *memory = get(N * sizeof *memory);
    struct cpu_filled filled = {memory, {.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 7, .rows = N, .cols = 1}};
    unsigned seen = 0;
    (void)state;
    fill(memory, filled.fill);
    for (uint64_t draw = 0; draw < 1000; draw++)
        assert_true(cpu_fill_holds(&filled, draw));
    for (size_t i = 0; i < N; i += 2) /* half of it, another finite value each */
        memory[i] += 1;
    for (uint64_t draw = 0; draw < 1000; draw++)
        seen += !cpu_fill_holds(&filled, draw);
    assert_in_range(seen, 980, 1000);
    filled.memory = NULL;
    assert_true(cpu_fill_holds(&filled, 0));
    d->ops->release(d, memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_by_slabs),
        cmocka_unit_test(info_is_filled),
        cmocka_unit_test(normal_fill_is_normal),
        cmocka_unit_test(storage_order_does_not_change_the_matrix),
        cmocka_unit_test(fill_values_are_pinned),
        cmocka_unit_test(binary_and_poison),
        cmocka_unit_test(reference_is_right),
        cmocka_unit_test(wide_reference_keeps_what_fp32_loses),
        cmocka_unit_test(comparison_counts_exactly),
        cmocka_unit_test(only_wall_is_timed),
        cmocka_unit_test(launches_take_no_signals),
        cmocka_unit_test(memory_and_clock),
        cmocka_unit_test(specs_of_open),
        cmocka_unit_test(a_change_of_what_was_filled_is_seen),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
