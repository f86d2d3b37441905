/* The references that every contender is held against, on the GPU: bit for bit what the CPU computes, whole for small
 * problems and in sampled elements for the largest, and fast enough to check 16384^3 in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/half.h"
#include "device/cpu_math.h"
#include "gpu_fixture.h"

#define LARGE 16384
#define SECONDS_MAX 10.0

/* One problem on the GPU, with the operands in host memory too. */
struct work {
    struct cudal2_problem p;
    enum cudal2_layout layout;
    struct cudal2_operands on_gpu, on_host;
    void *memory[3];
};

static void fill(void *memory, const struct fill *what)
{
    struct error err;
    check(gpu->ops->fill(gpu, memory, what, &err), &err);
}

static void *fetch(const void *memory, size_t bytes)
{
    struct error err;
    void *copy = malloc(bytes);
    assert_non_null(copy);
    check(gpu->ops->download(gpu, copy, memory, bytes, &err), &err);
    return copy;
}

static size_t size_of(const struct work *w, int which)
{
    const int64_t elements[] = {w->p.m * w->p.k, w->p.k * w->p.n, w->p.m * w->p.n};
    return (size_t)elements[which] * dtype_bytes(w->p.dtype);
}

static void work_open(struct work *w, enum fill_kind kind)
{
    for (int i = 0; i < 3; i++)
        w->memory[i] = take(size_of(w, i));
    fill(w->memory[0], &(struct fill){kind, w->p.dtype, 11, 0.4, w->p.m, w->p.k, false, 0, 0});
    fill(w->memory[1], &(struct fill){kind, w->p.dtype, 12, 0.4, w->p.k, w->p.n, w->layout == CUDAL2_TN, 0, 0});
    w->on_gpu = (struct cudal2_operands){w->memory[0], w->memory[1], w->memory[2]};
}

static void work_fetch(struct work *w)
{
    w->on_host = (struct cudal2_operands){fetch(w->memory[0], size_of(w, 0)), fetch(w->memory[1], size_of(w, 1)), NULL};
}

static void work_close(struct work *w)
{
    for (int i = 0; i < 3; i++)
        gpu->ops->release(gpu, w->memory[i]);
    union {
        const void *shown;
        void *owned;
    } pointer[] = {{.shown = w->on_host.a}, {.shown = w->on_host.b}};
    free(pointer[0].owned);
    free(pointer[1].owned);
}

/* Products of 16-bit values are exact in fp32, and of all in fp64; sums in the same order then agree to the last bit.
 */
static void whole(const struct cudal2_problem *p, enum cudal2_layout layout)
{
    struct error err;
    struct work w = {.p = *p, .layout = layout};
    size_t n = (size_t)(p->m * p->n);
    work_open(&w, FILL_NORMAL);
    work_fetch(&w);
    float *narrow = take(n * sizeof *narrow), *cpu_narrow = malloc(n * sizeof *cpu_narrow);
    double *wide = take(n * sizeof *wide), *cpu_wide = malloc(n * sizeof *cpu_wide);
    assert_int_equal(gpu->ops->reference(gpu, p, layout, &w.on_gpu, narrow, &err), 0);
    assert_int_equal(gpu->ops->reference_wide(gpu, p, layout, &w.on_gpu, wide, &err), 0);
    assert_int_equal(cpu_reference(2, p, layout, &w.on_host, cpu_narrow, &err), 0);
    assert_int_equal(cpu_reference_wide(2, p, layout, &w.on_host, cpu_wide, &err), 0);
    float *found = fetch(narrow, n * sizeof *found);
    double *found_wide = fetch(wide, n * sizeof *found_wide);
    if (p->dtype != CUDAL2_F32)
        assert_memory_equal(found, cpu_narrow, n * sizeof *found);
    assert_memory_equal(found_wide, cpu_wide, n * sizeof *found_wide);
    gpu->ops->release(gpu, narrow);
    gpu->ops->release(gpu, wide);
    free(cpu_narrow);
    free(cpu_wide);
    free(found);
    free(found_wide);
    work_close(&w);
}

/* What counts bits gives what multiplies. */
static void counted(const struct cudal2_problem *p, enum cudal2_layout layout)
{
    struct error err;
    struct work w = {.p = *p, .layout = layout};
    size_t bytes = (size_t)(p->m * p->n) * sizeof(float);
    work_open(&w, FILL_BINARY);
    float *sums = take(bytes), *counts = take(bytes);
    assert_int_equal(gpu->ops->reference(gpu, p, layout, &w.on_gpu, sums, &err), 0);
    assert_int_equal(gpu->ops->reference_binary(gpu, p, layout, &w.on_gpu, counts, &err), 0);
    float *expected = fetch(sums, bytes), *found = fetch(counts, bytes);
    assert_memory_equal(found, expected, bytes);
    free(expected);
    free(found);
    gpu->ops->release(gpu, sums);
    gpu->ops->release(gpu, counts);
    work_close(&w);
}

static const int64_t sizes[][3] = {{1, 1, 1},      {3, 5, 7},       {64, 64, 64},    {127, 129, 31},   {130, 9, 257},
                                   {128, 256, 64}, {200, 136, 264}, {300, 70, 1000}, {512, 1024, 4096}};

static void counts_are_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int dtype = 0; dtype < 3; dtype++)
            for (int layout = 0; layout < 2; layout++) {
                const struct cudal2_problem p = {.m = sizes[i][0],
                                                 .n = sizes[i][1],
                                                 .k = sizes[i][2],
                                                 .dtype = (enum cudal2_dtype)dtype,
                                                 .accumulate = CUDAL2_ACC_F32};
                counted(&p, (enum cudal2_layout)layout);
            }
}

static void small_problems_agree_to_the_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < sizeof sizes / sizeof sizes[0]; i++) /* the last takes the CPU too long */
        for (int dtype = 0; dtype < 3; dtype++)
            for (int layout = 0; layout < 2; layout++) {
                const struct cudal2_problem p = {.m = sizes[i][0],
                                                 .n = sizes[i][1],
                                                 .k = sizes[i][2],
                                                 .dtype = (enum cudal2_dtype)dtype,
                                                 .accumulate = CUDAL2_ACC_F32};
                whole(&p, (enum cudal2_layout)layout);
            }
}

/* The GPU's comparison against the CPU's, on an output with a NaN and wrong elements. */
static void comparison_agrees(void **state)
{
    struct error err;
    struct work w = {.p = {.m = 150, .n = 70, .k = 96, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}};
    size_t n = 150 * 70;
    (void)state;
    work_open(&w, FILL_BINARY);
    work_fetch(&w);
    float *narrow = take(n * sizeof *narrow), *host = malloc(n * sizeof *host);
    double *wide = take(n * sizeof *wide), *host_wide = malloc(n * sizeof *host_wide);
    uint16_t *c = malloc(n * sizeof *c);
    assert_int_equal(gpu->ops->reference(gpu, &w.p, CUDAL2_NN, &w.on_gpu, narrow, &err), 0);
    assert_int_equal(gpu->ops->reference_wide(gpu, &w.p, CUDAL2_NN, &w.on_gpu, wide, &err), 0);
    assert_int_equal(cpu_reference(2, &w.p, CUDAL2_NN, &w.on_host, host, &err), 0);
    assert_int_equal(cpu_reference_wide(2, &w.p, CUDAL2_NN, &w.on_host, host_wide, &err), 0);
    for (size_t i = 0; i < n; i++)
        c[i] = half_from_float(host[i] + (i % 1000 == 999 ? 1 : 0));
    c[4321] = 0x7e00;
    assert_int_equal(gpu->ops->upload(gpu, w.on_gpu.c, c, n * sizeof *c, &err), 0);
    const double limits[] = {2048, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct comparison a, b;
        const struct expectation ours = {i < 2 ? narrow : NULL, limits[i], i < 2 ? NULL : wide};
        const struct expectation theirs = {i < 2 ? host : NULL, limits[i], i < 2 ? NULL : host_wide};
        assert_int_equal(gpu->ops->compare(gpu, &w.p, w.on_gpu.c, &ours, &a, &err), 0);
        cpu_compare(2, &w.p, c, &theirs, &b);
        assert_true(a.checked == b.checked && a.covered == b.covered && a.mismatched == b.mismatched);
        assert_true(a.nan_count == 1 && a.first_index == b.first_index);
        assert_true(a.max_abs_error == b.max_abs_error && a.sum_sq_error == b.sum_sq_error);
        assert_true(a.sum_sq_reference == b.sum_sq_reference);
    }
    gpu->ops->release(gpu, narrow);
    gpu->ops->release(gpu, wide);
    free(host);
    free(host_wide);
    free(c);
    work_close(&w);
}

static double dot(const struct work *w, int64_t row, int64_t column)
{
    uint16_t *a = fetch((const uint16_t *)w->on_gpu.a + row * w->p.k, (size_t)w->p.k * 2);
    uint16_t *b = fetch((const uint16_t *)w->on_gpu.b + column * w->p.k, (size_t)w->p.k * 2);
    double sum = 0;
    for (int64_t i = 0; i < w->p.k; i++)
        sum += (double)half_to_float(a[i]) * (double)half_to_float(b[i]);
    free(a);
    free(b);
    return sum;
}

static double seconds_since(uint64_t start)
{
    return 1e-9 * (double)(clock_now_ns() - start);
}

/* Of either layout, the slower; whatever lies there is zero or not. */
static double seconds_of_counts(const struct work *w)
{
    struct error err;
    float *counts = take((size_t)(w->p.m * w->p.n) * sizeof *counts);
    double slower = 0;
    for (int layout = 0; layout < 2; layout++) {
        uint64_t start = clock_now_ns();
        assert_int_equal(gpu->ops->reference_binary(gpu, &w->p, (enum cudal2_layout)layout, &w->on_gpu, counts, &err),
                         0);
        double seconds = seconds_since(start);
        slower = seconds > slower ? seconds : slower;
    }
    gpu->ops->release(gpu, counts);
    return slower;
}

static void largest_problem_in_time(void **state)
{
    static const int64_t places[][2] = {{0, 0}, {1, 16383}, {8191, 8192}, {16383, 0}, {16383, 16383}, {127, 128}};
    struct error err;
    struct work w = {.p = {.m = LARGE, .n = LARGE, .k = LARGE, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                     .layout = CUDAL2_TN};
    size_t n = (size_t)LARGE * LARGE;
    (void)state;
    if (gpu->info.memory_bytes < (uint64_t)8 << 30)
        skip();
    work_open(&w, FILL_NORMAL);
    double *wide = take(n * sizeof *wide);
    float *narrow = take(n * sizeof *narrow);
    uint64_t start = clock_now_ns();
    assert_int_equal(gpu->ops->reference(gpu, &w.p, CUDAL2_TN, &w.on_gpu, narrow, &err), 0);
    double seconds = seconds_since(start);
    start = clock_now_ns();
    assert_int_equal(gpu->ops->reference_wide(gpu, &w.p, CUDAL2_TN, &w.on_gpu, wide, &err), 0);
    double wide_seconds = seconds_since(start);
    double counted_seconds = seconds_of_counts(&w);
    print_message(
        "16384^3: fp32 reference %.3f s (%.1f TFLOP/s), fp64 reference %.3f s (%.1f TFLOP/s), counts %.3f s\n", seconds,
        problem_flops(&w.p) / seconds / 1e12, wide_seconds, problem_flops(&w.p) / wide_seconds / 1e12, counted_seconds);
    assert_true(seconds < SECONDS_MAX && wide_seconds < SECONDS_MAX);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t at = (size_t)(places[i][0] * LARGE + places[i][1]);
        double expected = dot(&w, places[i][0], places[i][1]);
        double *found = fetch(wide + at, sizeof *found);
        float *rounded = fetch(narrow + at, sizeof *rounded);
        assert_true(*found == expected);
        assert_true((double)*rounded - expected < 0.01 && expected - (double)*rounded < 0.01);
        free(found);
        free(rounded);
    }
    gpu->ops->release(gpu, wide);
    gpu->ops->release(gpu, narrow);
    work_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_problems_agree_to_the_bit),
        cmocka_unit_test(counts_are_sums),
        cmocka_unit_test(comparison_agrees),
        cmocka_unit_test(largest_problem_in_time),
    };
    struct error err;
    if (device_open_cuda(0, &gpu, &err) != 0) {
        fprintf(stderr, "gpu_reference: %s\n", err.text);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpu->ops->close(gpu);
    return failed;
}
