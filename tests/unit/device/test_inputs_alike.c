/* Inputs of checks (cpu_fill) and of timed launches (host_renew) as a contender could look at them: by no simple figure
 * can it tell one from the other, in any dtype. Large elements of 16-bit inputs are left out: only timed ones have them
 * (docs/lab/trust-details.md, "Spread inputs"). */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/cpu_math.h"
#include "device/host_check.h"

#define M 96
#define N 80
#define K 384
#define SETS 24
#define POOL 77

/* What a contender may ask of a matrix. */
enum figure { LEAST, LARGEST, DIFFERENT, ZERO_BITS, ROUND, BITS, NEGATIVE, SUM_SQ, FIGURES };
static const char *const names[] = {"least",         "largest",       "different values", "low mantissa bits of 0",
                                    "powers of two", "bits together", "negative ones",    "sum of squares"};

struct sets {
    double of[SETS][FIGURES];
};

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static unsigned count_bits(uint32_t v)
{
    return (unsigned)__builtin_popcount(v);
}

static void look_at(const void *matrix, enum cudal2_dtype dtype, size_t n, double *of)
{
    static const unsigned mantissas[] = {[CUDAL2_F16] = 10, [CUDAL2_BF16] = 7, [CUDAL2_F32] = 23};
    static uint32_t sizes[M * K];
    size_t width = dtype_bytes(dtype);
    uint32_t sign = width == 4 ? 0x80000000u : 0x8000u, mantissa = (1u << mantissas[dtype]) - 1;
    memset(of, 0, FIGURES * sizeof *of);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        memcpy(&bits, (const char *)matrix + i * width, width);
        double value = (double)element_load(matrix, dtype, i);
        sizes[i] = bits & ~sign;
        of[NEGATIVE] += (bits & sign) != 0;
        of[ZERO_BITS] += (bits & 3) == 0;
        of[ROUND] += (bits & mantissa) == 0;
        of[BITS] += count_bits(bits & mantissa);
        of[SUM_SQ] += value * value;
    }
    qsort(sizes, n, sizeof *sizes, by_value);
    for (size_t i = 0; i < n; i++)
        of[DIFFERENT] += i == 0 || sizes[i] != sizes[i - 1];
    of[LEAST] = sizes[0];
    of[LARGEST] = sizes[n - 1];
}

struct work {
    struct cudal2_problem p;
    enum cudal2_layout layout;
    struct device *cpu;
    float a[M * K], b[K * N], c[M * N], pool[HOST_POOL_ELEMENTS];
};

static void fill_checked(struct work *w, uint64_t seed)
{
    const struct fill a = {FILL_SPREAD_A, w->p.dtype, seed, 0, M, K, false, 0, POOL};
    const struct fill b = {FILL_SPREAD_B, w->p.dtype, seed + 1, 0, K, N, w->layout == CUDAL2_TN, 0, POOL};
    cpu_fill(1, w->a, &a);
    cpu_fill(1, w->b, &b);
}

static void fill_timed(struct work *w, uint64_t seed)
{
    struct error err = {0};
    const struct cudal2_operands operands = {w->a, w->b, w->c};
    const struct probe_renewal renewal = {.problem = w->p,
                                          .layout = w->layout,
                                          .operands = &operands,
                                          .pool = w->pool,
                                          .spoil = SPOIL_NONE,
                                          .seed = seed};
    assert_int_equal(host_renew(w->cpu, &renewal, &err), 0);
}

/* Means of the two differ by no more than their scatter lets them. */
static void expect_alike(struct sets of[2], const char *what)
{
    for (int f = 0; f < FIGURES; f++) {
        double mean[2] = {0}, square[2] = {0};
        for (int kind = 0; kind < 2; kind++)
            for (int i = 0; i < SETS; i++) {
                mean[kind] += of[kind].of[i][f] / SETS;
                square[kind] += pow(of[kind].of[i][f], 2) / SETS;
            }
        double variance = square[0] - mean[0] * mean[0] + square[1] - mean[1] * mean[1];
        double apart = fabs(mean[0] - mean[1]), most = 4.5 * sqrt(fmax(variance, 0) / SETS) + 1e-9 * fabs(mean[0]);
        if (apart > most)
            print_error("%s, %s: %.9g checked, %.9g timed, apart by %.3g, chance gives %.3g\n", what, names[f], mean[0],
                        mean[1], apart, most);
        assert_true(apart <= most);
    }
}

static void compare_in(struct work *w)
{
    static struct sets a[2], b[2];
    const struct fill pool = {FILL_POOL, w->p.dtype, POOL, 0, HOST_POOL_ELEMENTS, 1, false, 0, 0};
    cpu_fill(1, w->pool, &pool);
    for (int i = 0; i < SETS; i++)
        for (int timed = 0; timed < 2; timed++) {
            if (timed)
                fill_timed(w, 1000 + 7 * (uint64_t)i);
            else
                fill_checked(w, 1000 + 7 * (uint64_t)i);
            look_at(w->a, w->p.dtype, (size_t)M * K, a[timed].of[i]);
            look_at(w->b, w->p.dtype, (size_t)K * N, b[timed].of[i]);
        }
    expect_alike(a, "A");
    expect_alike(b, "B");
}

static void checked_inputs_look_as_timed_ones_do(void **state)
{
    struct work *w = calloc(1, sizeof *w);
    struct error err = {0};
    (void)state;
    assert_non_null(w);
    assert_int_equal(device_open_cpu(&w->cpu, &err), 0);
    for (int dtype = CUDAL2_F16; dtype <= CUDAL2_F32; dtype++)
        for (int layout = CUDAL2_NN; layout <= CUDAL2_TN; layout++) {
            w->p = (struct cudal2_problem){
                .m = M, .n = N, .k = K, .dtype = (enum cudal2_dtype)dtype, .accumulate = CUDAL2_ACC_F32};
            w->layout = (enum cudal2_layout)layout;
            compare_in(w);
        }
    w->cpu->ops->close(w->cpu);
    free(w);
}

/* The pool that checks draw from is the one that timed launches draw from, element for element. */
static void checked_inputs_are_stretches_of_the_pool(void **state)
{
    static float pool[HOST_POOL_ELEMENTS], a[4 * FILL_STRETCH];
    const struct fill whole = {FILL_POOL, CUDAL2_F32, POOL, 0, HOST_POOL_ELEMENTS, 1, false, 0, 0};
    const struct fill some = {FILL_SPREAD_A, CUDAL2_F32, 9, 0, 1, 4 * FILL_STRETCH, false, 0, POOL};
    (void)state;
    cpu_fill(1, pool, &whole);
    cpu_fill(1, a, &some);
    for (uint64_t i = 0; i < 4 * FILL_STRETCH; i++) {
        uint64_t bits = fill_bits(fill_key(9), i / FILL_STRETCH);
        int exponent = fill_exponent(fill_spread_key(9), i, FILL_SPREAD_32);
        float wanted = ldexpf(pool[fill_pool_place(bits, i)], exponent);
        assert_true(a[i] == (bits >> 63 ? -wanted : wanted));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checked_inputs_look_as_timed_ones_do),
        cmocka_unit_test(checked_inputs_are_stretches_of_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
