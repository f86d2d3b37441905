/* verify/deviation on simulated outputs in fp32: honest ones exceed their bounds on less than one set of inputs in a
 * hundred, and never by MODEL_FAR; those of cheats exceed them on every set. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "gaussian.h"
#include "measure/judge.h"
#include "verify/deviation.h"

#define MOST 65536

static struct {
    struct cudal2_problem p;
    struct random random;
    float a[MOST], b[MOST], sum_a[MOST], sum_b[MOST]; /* B by columns */
    float c[MOST], reference[MOST];
} s;

/* Spread by up to 2 in fp32 (FILL_SPREAD). */
static void draw_inputs(void)
{
    for (int64_t x = 0; x < s.p.k; x++) {
        int exponent = (int)random_below(&s.random, 3) - 1;
        for (int64_t i = 0; i < s.p.m; i++)
            s.a[i * s.p.k + x] = ldexpf((float)gaussian(&s.random), exponent);
        for (int64_t j = 0; j < s.p.n; j++)
            s.b[j * s.p.k + x] = ldexpf((float)gaussian(&s.random), -exponent);
    }
}

static float dot(const float *x, const float *y, int64_t k)
{
    float sum = 0;
    for (int64_t i = 0; i < k; i++)
        sum += x[i] * y[i];
    return sum;
}

static void multiply(const float *a, const float *b, int64_t k, float *c)
{
    for (int64_t i = 0; i < s.p.m; i++)
        for (int64_t j = 0; j < s.p.n; j++)
            c[i * s.p.n + j] = dot(a + i * s.p.k, b + j * s.p.k, k);
}

/* ---- honest ---- */

static void serial(void)
{
    multiply(s.a, s.b, s.p.k, s.c);
}

static void backwards(void)
{
    for (int64_t i = 0; i < s.p.m; i++)
        for (int64_t j = 0; j < s.p.n; j++) {
            float sum = 0;
            for (int64_t x = s.p.k - 1; x >= 0; x--)
                sum += s.a[i * s.p.k + x] * s.b[j * s.p.k + x];
            s.c[i * s.p.n + j] = sum;
        }
}

/* to[] = two quarters of a matrix of `lines` lines, the second times a sign. */
static void add_quarters(float *to, const float *from, int64_t lines, const int quarters[3])
{
    int64_t k = s.p.k;
    for (int64_t i = 0; i < lines / 2; i++)
        for (int64_t x = 0; x < k / 2; x++)
            to[i * (k / 2) + x] =
                from[(quarters[0] / 2 * (lines / 2) + i) * k + quarters[0] % 2 * (k / 2) + x] +
                (float)quarters[2] * from[(quarters[1] / 2 * (lines / 2) + i) * k + quarters[1] % 2 * (k / 2) + x];
}

/* Of each of the seven products: two quarters of A and of B with a sign, and what it counts in each quarter of C. */
static const struct {
    int a[3], b[3], to[4];
} sevenths[] = {
    {{0, 3, 1}, {0, 3, 1}, {1, 0, 0, 1}},  {{2, 3, 1}, {0, 0, 0}, {0, 0, 1, -1}}, {{0, 0, 0}, {2, 3, -1}, {0, 1, 0, 1}},
    {{3, 3, 0}, {1, 0, -1}, {1, 0, 1, 0}}, {{0, 1, 1}, {3, 0, 0}, {-1, 1, 0, 0}}, {{2, 0, -1}, {0, 2, 1}, {0, 0, 0, 1}},
    {{1, 3, -1}, {1, 3, 1}, {1, 0, 0, 0}},
};

static void strassen(void)
{
    int64_t m = s.p.m / 2, n = s.p.n / 2, k = s.p.k / 2;
    memset(s.c, 0, sizeof s.c);
    for (size_t t = 0; t < 7; t++) {
        add_quarters(s.sum_a, s.a, s.p.m, sevenths[t].a);
        add_quarters(s.sum_b, s.b, s.p.n, sevenths[t].b);
        for (int64_t at = 0; at < m * n; at++) {
            float sum = dot(s.sum_a + at / n * k, s.sum_b + at % n * k, k);
            for (int64_t q = 0; q < 4; q++)
                s.c[(q / 2 * m + at / n) * s.p.n + q % 2 * n + at % n] += (float)sevenths[t].to[q] * sum;
        }
    }
}

/* ---- cheats ---- */

/* Operands of so many bits in the rows from `first` on. */
static void multiply_rounded(int bits, int64_t first)
{
    memcpy(s.sum_a, s.a, sizeof s.a);
    for (int64_t i = first * s.p.k; i < s.p.m * s.p.k; i++)
        s.sum_a[i] = ldexpf(rintf(ldexpf(s.a[i], bits - 1 - ilogbf(s.a[i]))), ilogbf(s.a[i]) - bits + 1);
    multiply(s.sum_a, s.b, s.p.k, s.c);
}

static void eight_bits(void)
{
    multiply_rounded(8, 0);
}

static void sixteen_bits(void)
{
    multiply_rounded(16, 0);
}

static void eight_bits_in_a_row(void)
{
    multiply_rounded(8, s.p.m - 1);
}

static void sixteen_bits_in_a_row(void)
{
    multiply_rounded(16, s.p.m - 1);
}

static void less_of_k(void)
{
    multiply(s.a, s.b, s.p.k - (s.p.k + 19) / 20, s.c);
}

static void one_less_of_k(void)
{
    multiply(s.a, s.b, s.p.k - 1, s.c);
}

static void a_part_too_large(void)
{
    serial();
    for (int64_t i = 0; i < s.p.m * s.p.n; i++)
        s.c[i] *= 1.0001f;
}

static void a_row_of_before(void)
{
    static float before[MOST];
    serial();
    memcpy(before + s.p.n, s.c, (size_t)s.p.n * sizeof(float));
    memcpy(s.c, before, (size_t)s.p.n * sizeof(float));
    memcpy(before, before + s.p.n, (size_t)s.p.n * sizeof(float));
}

/* ---- judging ---- */

/* As in a cell without baselines, where bounds are the narrowest. */
static struct yardstick yardstick_of(void)
{
    return (struct yardstick){.bound = {MODEL_MAX_MARGIN * model_largest(&s.p), MODEL_RMS_MARGIN * model_honest(&s.p)}};
}

static struct deviation compare(void)
{
    struct comparison all = {0};
    double elements = (double)s.p.m * (double)s.p.n;
    multiply(s.a, s.b, s.p.k, s.reference);
    for (int64_t i = 0; i < s.p.m * s.p.n; i++) {
        double error = (double)s.c[i] - (double)s.reference[i];
        all.max_abs_error = fmax(all.max_abs_error, fabs(error));
        all.sum_sq_error += error * error;
        all.sum_sq_reference += pow((double)s.reference[i], 2);
    }
    return (struct deviation){.measured = true,
                              .largest = all.max_abs_error,
                              .rms = deviation_relative(&s.p, &all, elements),
                              .profile = NAN};
}

struct count {
    int over, far, over_single; /* single: over what the margins of the largest alone allow */
};

static struct count judge_draws(void (*contender)(void), int draws)
{
    struct count count = {0};
    struct yardstick yardstick = yardstick_of();
    char why[CUDAL2_WHY];
    for (int draw = 0; draw < draws; draw++) {
        draw_inputs();
        contender();
        struct deviation shown = compare();
        count.over_single += shown.largest > yardstick.bound[0];
        if (deviation_judge(&s.p, false, &shown, &yardstick, why) == VERDICT_OK)
            continue;
        count.over++;
        count.far += !deviation_is_doubtful(&s.p, &shown, &yardstick);
    }
    return count;
}

static void open_problem(int64_t m, int64_t n, int64_t k)
{
    s.p = (struct cudal2_problem){.m = m, .n = n, .k = k, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    random_seed(&s.random, 1);
}

/* Of the draws of Strassen's algorithm the margins of the largest alone accuse several. */
static void honest_draws_are_under_the_bounds(void **state)
{
    static const int sizes[][4] = {{48, 40, 96, 400}, {8, 8, 64, 1000}, {200, 200, 64, 100}};
    static void (*const honest[])(void) = {serial, backwards, strassen};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        struct count all = {0};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            open_problem(sizes[i][0], sizes[i][1], sizes[i][2]);
            struct count some = judge_draws(honest[c], sizes[i][3]);
            assert_in_range(some.over, 0, (unsigned)(MODEL_CHANCE * sizes[i][3]));
            assert_int_equal(some.far, 0);
            all.over_single += some.over_single;
        }
        assert_true((all.over_single > 4) == (honest[c] == strassen));
    }
}

/* Five tries at an RMS far over its bound would let pass who rounds too much in some launches. */
static void an_rms_far_over_its_bound_has_one_try(void **state)
{
    (void)state;
    open_problem(48, 40, 96);
    struct yardstick yardstick = yardstick_of();
    struct deviation shown = {.measured = true,
                              .largest = 0,
                              .rms = 1.01 * MODEL_RMS_NEAR * yardstick.bound[1] * judge_scatter(48 * 40),
                              .profile = NAN};
    assert_false(deviation_is_doubtful(&s.p, &shown, &yardstick));
    shown.rms /= 1.02;
    assert_true(deviation_is_doubtful(&s.p, &shown, &yardstick));
}

static void cheats_are_over_them_in_every_draw(void **state)
{
    static void (*const cheats[])(void) = {eight_bits, sixteen_bits,  eight_bits_in_a_row, sixteen_bits_in_a_row,
                                           less_of_k,  one_less_of_k, a_part_too_large,    a_row_of_before};
    (void)state;
    for (size_t c = 0; c < sizeof cheats / sizeof *cheats; c++) {
        open_problem(48, 40, 96);
        assert_int_equal(judge_draws(cheats[c], 30).over, 30);
        open_problem(200, 200, 64);
        assert_int_equal(judge_draws(cheats[c], 3).over, 3);
    }
}

/* What a single element may be off by, in units of the output: 3e-6 where all is summed in one go, 5e-6 at the RMS of
 * Strassen's algorithm. fp16's own accumulation makes more than 1e-4. */
static void the_tail_is_what_the_law_says(void **state)
{
    struct cudal2_problem p = {.m = 48, .n = 40, .k = 96, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32};
    (void)state;
    assert_true(model_tail(&p) * 2.27 * model_honest(&p) < 6e-6);
    p.k = 100000; /* accumulating is all of the error */
    double t = model_tail(&p) / 1.2247;
    assert_true(fabs(sqrt(2 / (acos(-1) * t)) * exp(-t) * 48 * 40 / MODEL_CHANCE - 1) < 0.01);
    p.m = p.n = 1;
    assert_true(model_tail(&p) > 1 && model_tail(&p) < 6);
    /* fp16 that accumulates in fp32 has the errors of storing, which are bounded: no tail */
    p = (struct cudal2_problem){.m = 48, .n = 40, .k = 96, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    assert_true(model_tail(&p) < 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_draws_are_under_the_bounds),
        cmocka_unit_test(an_rms_far_over_its_bound_has_one_try),
        cmocka_unit_test(cheats_are_over_them_in_every_draw),
        cmocka_unit_test(the_tail_is_what_the_law_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
