/* Formats that are narrower than billed: operands rounded to integers with one scale for all, for each row and column,
 * for each index of K as well, or for blocks, multiplied without any further error. On renewed inputs
 * (device/host_renew.c) such outputs are wrong (measure/judge.h), and those of honest arithmetic are right. */
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
#include "measure/judge.h"
#include "verify/model.h"

#define M 24
#define N 20
#define K 256
#define SPOTS 24
#define BLOCK 32

static struct {
    struct device *device;
    float pool[HOST_POOL_ELEMENTS], a[M * K], b[K * N], c[M * N]; /* elements of the dtype */
    float wide_a[M][K], wide_b[N][K];                             /* what they are; B by columns */
    struct cudal2_operands operands;
    struct probe_renewal renewal;
} s;

enum format { COMMON, BY_ROWS, BY_INDICES, BY_BLOCKS, FORMATS };

static void open_dtype(enum cudal2_dtype dtype)
{
    const struct cudal2_problem p = {.m = M, .n = N, .k = K, .dtype = dtype, .accumulate = CUDAL2_ACC_F32};
    const struct fill fill = {.kind = FILL_POOL,
                              .dtype = dtype,
                              .seed = 5,
                              .density = host_large_share(&p),
                              .rows = HOST_POOL_ELEMENTS,
                              .cols = 1};
    cpu_fill(1, s.pool, &fill);
    s.operands = (struct cudal2_operands){s.a, s.b, s.c};
    s.renewal = (struct probe_renewal){
        .problem = p, .layout = CUDAL2_TN, .operands = &s.operands, .pool = s.pool, .spoil = SPOIL_NAN};
}

static void load(void)
{
    for (size_t i = 0; i < M * K; i++)
        s.wide_a[i / K][i % K] = element_load(s.a, s.renewal.problem.dtype, i);
    for (size_t i = 0; i < N * K; i++)
        s.wide_b[i / K][i % K] = element_load(s.b, s.renewal.problem.dtype, i);
}

static void renew(uint64_t seed)
{
    struct error err;
    s.renewal.seed = seed;
    assert_int_equal(host_renew(s.device, &s.renewal, &err), 0);
    load();
}

/* ---- narrow formats ---- */

/* n values become integers of so many bits times one scale. */
static void round_together(float *values, size_t n, int bits)
{
    float largest = 0, most = ldexpf(1, bits - 1) - 1;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    for (size_t i = 0; i < n && largest > 0; i++)
        values[i] = rintf(values[i] / largest * most) * (largest / most);
}

/* Whatever power of two an index of K has in A, the largest of its elements tells. */
static void even_out(void)
{
    for (size_t k = 0; k < K; k++) {
        float largest = 0;
        for (size_t i = 0; i < M; i++)
            largest = fmaxf(largest, fabsf(s.wide_a[i][k]));
        for (size_t i = 0; i < M; i++)
            s.wide_a[i][k] /= largest;
        for (size_t j = 0; j < N; j++)
            s.wide_b[j][k] *= largest;
    }
}

static void narrow(enum format format, int bits)
{
    size_t together = format == BY_BLOCKS ? BLOCK : K;
    if (format == COMMON) {
        round_together(s.wide_a[0], M * K, bits);
        round_together(s.wide_b[0], N * K, bits);
        return;
    }
    if (format != BY_ROWS)
        even_out();
    for (size_t at = 0; at < M * K; at += together)
        round_together(s.wide_a[0] + at, together, bits);
    for (size_t at = 0; at < N * K; at += together)
        round_together(s.wide_b[0] + at, together, bits);
}

/* ---- products ---- */

static void multiply(void)
{
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            float sum = 0;
            for (size_t k = 0; k < K; k++)
                sum += s.wide_a[i][k] * s.wide_b[j][k];
            element_store(s.c, s.renewal.problem.dtype, i * N + j, sum);
        }
}

/* As after a timed launch: elements, and the projection. */
static enum verdict judge(uint64_t seed)
{
    struct error err;
    char why[CUDAL2_WHY];
    struct probe_spot spots[SPOTS];
    struct probe_difference difference;
    double found[SPOTS];
    const struct cudal2_problem *p = &s.renewal.problem;
    double allowed = MODEL_RMS_MARGIN * model_wide(p->dtype, K);
    const struct probe_product product = {.problem = *p,
                                          .layout = CUDAL2_TN,
                                          .operands = &s.operands,
                                          .seed = seed,
                                          .floor = judge_floor(p->dtype, allowed),
                                          .renewal = &s.renewal};
    for (size_t i = 0; i < SPOTS; i++) {
        size_t at = (seed * 97 + i * 19) % (M * N);
        spots[i] = (struct probe_spot){.row = at / N, .column = at % N};
        found[i] = (double)element_load(s.c, p->dtype, at);
    }
    assert_int_equal(host_spots(s.device, &product, spots, SPOTS, &err), 0);
    enum verdict verdict = judge_spots(spots, found, SPOTS, allowed, why);
    assert_int_equal(host_product(s.device, &product, &difference, &err), 0);
    return verdict != VERDICT_OK ? verdict : judge_product(&difference, M, allowed, why);
}

/* ---- tests ---- */

#define LAUNCHES 20

static unsigned count_wrong(enum format format, int bits)
{
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= LAUNCHES; seed++) {
        renew(seed);
        narrow(format, bits);
        multiply();
        wrong += judge(seed) != VERDICT_OK;
    }
    return wrong;
}

/* A cell times hundreds of launches, one of which is enough. */
static void narrow_formats_are_found(void **state)
{
    static const struct {
        enum cudal2_dtype dtype;
        int bits;
    } rows[] = {{CUDAL2_F16, 12}, {CUDAL2_BF16, 12}, {CUDAL2_F32, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        open_dtype(rows[i].dtype);
        for (int format = 0; format < FORMATS; format++)
            assert_in_range(count_wrong((enum format)format, rows[i].bits), LAUNCHES / 2, LAUNCHES);
    }
}

/* So are those with more bits than the dtype itself has, where its range is not theirs. */
static void bits_do_not_make_up_for_range(void **state)
{
    (void)state;
    open_dtype(CUDAL2_F16);
    assert_int_equal(count_wrong(COMMON, 16), LAUNCHES);
    assert_int_equal(count_wrong(BY_ROWS, 16), LAUNCHES);
    open_dtype(CUDAL2_BF16);
    assert_int_equal(count_wrong(COMMON, 16), LAUNCHES);
    assert_in_range(count_wrong(BY_INDICES, 13), LAUNCHES / 2, LAUNCHES);
}

/* On N(0,1) alone nobody sees them: why inputs are spread. */
static void on_even_inputs_they_pass(void **state)
{
    const struct fill a = {.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 1, .rows = M, .cols = K};
    const struct fill b = {.kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = 2, .rows = N, .cols = K};
    struct error err;
    (void)state;
    open_dtype(CUDAL2_BF16);
    renew(1);
    cpu_fill(1, s.wide_a, &a);
    cpu_fill(1, s.wide_b, &b);
    for (size_t i = 0; i < M * K; i++)
        element_store(s.a, CUDAL2_BF16, i, s.wide_a[i / K][i % K]);
    for (size_t i = 0; i < N * K; i++)
        element_store(s.b, CUDAL2_BF16, i, s.wide_b[i / K][i % K]);
    const struct probe_product product = {
        .problem = s.renewal.problem, .layout = CUDAL2_TN, .operands = &s.operands, .seed = 3, .floor = 0x1p-120};
    load();
    narrow(COMMON, 12);
    multiply();
    struct probe_difference difference;
    char why[CUDAL2_WHY];
    assert_int_equal(host_product(s.device, &product, &difference, &err), 0);
    assert_int_equal(judge_product(&difference, M, MODEL_RMS_MARGIN * model_wide(CUDAL2_BF16, K), why), VERDICT_OK);
}

/* ---- honest ones ---- */

/* A quarter of A, of B or of C: rows from i, columns (of B: rows) from k. */
struct quarter {
    size_t i, k;
};

/* sums[][] += sign * (A of x + sign_a * A of y) * (B of z + sign_b * B of w), quarters; y or w the same: only one. */
struct seventh {
    struct quarter x, y, z, w;
    float sign_a, sign_b;
    float to[4]; /* by what it counts in each quarter of C */
};

static const struct seventh sevenths[] = {
    {{0, 0}, {1, 1}, {0, 0}, {1, 1}, 1, 1, {1, 0, 0, 1}},  {{1, 0}, {1, 1}, {0, 0}, {0, 0}, 1, 0, {0, 0, 1, -1}},
    {{0, 0}, {0, 0}, {1, 0}, {1, 1}, 0, -1, {0, 1, 0, 1}}, {{1, 1}, {1, 1}, {0, 1}, {0, 0}, 0, -1, {1, 0, 1, 0}},
    {{0, 0}, {0, 1}, {1, 1}, {0, 0}, 1, 0, {-1, 1, 0, 0}}, {{1, 0}, {0, 0}, {0, 0}, {1, 0}, -1, 1, {0, 0, 0, 1}},
    {{0, 1}, {1, 1}, {0, 1}, {1, 1}, -1, 1, {1, 0, 0, 0}},
};

static float of_a(struct quarter q, size_t i, size_t k)
{
    return s.wide_a[q.i * (M / 2) + i][q.k * (K / 2) + k];
}

static float of_b(struct quarter q, size_t j, size_t k)
{
    return s.wide_b[q.i * (N / 2) + j][q.k * (K / 2) + k];
}

/* One level of Strassen's algorithm: its errors are small only against the largest products of all. */
static void strassen(void)
{
    static float c[M][N];
    memset(c, 0, sizeof c);
    for (size_t t = 0; t < sizeof sevenths / sizeof *sevenths; t++)
        for (size_t i = 0; i < M / 2; i++)
            for (size_t j = 0; j < N / 2; j++) {
                const struct seventh *q = &sevenths[t];
                float sum = 0;
                for (size_t k = 0; k < K / 2; k++)
                    sum += (of_a(q->x, i, k) + q->sign_a * of_a(q->y, i, k)) *
                           (of_b(q->z, j, k) + q->sign_b * of_b(q->w, j, k));
                for (size_t to = 0; to < 4; to++)
                    c[to / 2 * (M / 2) + i][to % 2 * (N / 2) + j] += q->to[to] * sum;
            }
    for (size_t i = 0; i < M * N; i++)
        element_store(s.c, s.renewal.problem.dtype, i, c[i / N][i % N]);
}

static void honest_arithmetic_is_right(void **state)
{
    (void)state;
    for (int dtype = CUDAL2_F16; dtype <= CUDAL2_F32; dtype++) {
        open_dtype((enum cudal2_dtype)dtype);
        for (uint64_t seed = 1; seed <= 3 * LAUNCHES; seed++) {
            renew(seed);
            multiply();
            assert_int_equal(judge(seed), VERDICT_OK);
            strassen();
            assert_int_equal(judge(seed), VERDICT_OK);
        }
    }
}

static int open_device(void **state)
{
    struct error err;
    (void)state;
    return device_open_cpu(&s.device, &err);
}

static int close_device(void **state)
{
    (void)state;
    s.device->ops->close(s.device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_formats_are_found),
        cmocka_unit_test(bits_do_not_make_up_for_range),
        cmocka_unit_test(on_even_inputs_they_pass),
        cmocka_unit_test(honest_arithmetic_is_right),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
