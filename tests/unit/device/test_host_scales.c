/* alpha and beta on the host: the references and every check of an output know them, a wrong one, an ignored one and a
 * double sum are seen by all, and what is put into C before a launch is known and holds no NaN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/cpu_math.h"
#include "device/host_check.h"

#define M 13
#define N 21
#define K 34
#define LDC (N + 5)
#define LARGE 1e-5 /* of errors in their units */

static struct device *cpu;
static const struct cudal2_problem scaled = {
    .m = M, .n = N, .k = K, .dtype = CUDAL2_F32, .accumulate = CUDAL2_ACC_F32, .ldc = LDC, .alpha = -0.5, .beta = 0.75};

/* One problem's matrices, and what is kept of C. */
struct set {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    struct cudal2_operands operands;
    float a[M * K], b[K * N], c[M * LDC], input[M * LDC];
};

static void fill(float *memory, int64_t rows, int64_t columns, int64_t stride, uint64_t seed)
{
    const struct fill f = {
        .kind = FILL_NORMAL, .dtype = CUDAL2_F32, .seed = seed, .rows = rows, .cols = columns, .stride = stride};
    cpu_fill(1, memory, &f);
}

static void make(struct set *s, enum cudal2_layout layout)
{
    *s = (struct set){.problem = scaled, .layout = layout};
    s->operands = (struct cudal2_operands){s->a, s->b, s->c};
    memset(s->c, PROBE_GUARD, sizeof s->c);
    memset(s->input, PROBE_POISON, sizeof s->input);
    fill(s->a, M, K, K, 1);
    fill(s->b, layout == CUDAL2_TN ? N : K, layout == CUDAL2_TN ? K : N, layout == CUDAL2_TN ? K : N, 2);
    fill(s->input, M, N, LDC, 3);
    host_put_back(&s->problem, s->input, s->c);
}

static double sum_at(const struct set *s, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t p = 0; p < K; p++)
        sum += (double)s->a[i * K + p] * (double)s->b[s->layout == CUDAL2_TN ? j * K + p : p * N + j];
    return sum;
}

/* A launch with these; `times` of them, one on the output of the other. */
static void launch(struct set *s, double alpha, double beta, int times)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            for (int t = 0; t < times; t++) {
                float *c = &s->c[i * LDC + j];
                *c = (float)(alpha * sum_at(s, i, j) + beta * (double)*c);
            }
}

static struct cudal2_operands before(const struct set *s)
{
    return (struct cudal2_operands){s->a, s->b, (void *)(uintptr_t)s->input};
}

static void references_are_what_they_say(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct set s;
        float narrow[M * N];
        double wide[M * N];
        struct error err;
        make(&s, (enum cudal2_layout)layout);
        const struct cudal2_operands o = before(&s);
        assert_int_equal(cpu_reference(1, &s.problem, s.layout, &o, narrow, &err), 0);
        assert_int_equal(cpu_reference_wide(1, &s.problem, s.layout, &o, wide, &err), 0);
        for (int64_t i = 0; i < M; i++)
            for (int64_t j = 0; j < N; j++) {
                double expected = -0.5 * sum_at(&s, i, j) + 0.75 * (double)s.input[i * LDC + j];
                assert_true(fabs((double)narrow[i * N + j] - expected) < 1e-5);
                assert_true(fabs(wide[i * N + j] - expected) < 1e-12);
            }
    }
}

/* C is no input: NaN in it is nothing to the reference. */
static void without_beta_c_is_not_read(void **state)
{
    struct set s;
    float reference[M * N];
    struct error err;
    (void)state;
    make(&s, CUDAL2_NN);
    s.problem.beta = 0;
    memset(s.c, PROBE_POISON, sizeof s.c);
    assert_int_equal(cpu_reference(1, &s.problem, s.layout, &s.operands, reference, &err), 0);
    for (int64_t i = 0; i < M * N; i++)
        assert_true(fabs((double)reference[i] + 0.5 * sum_at(&s, i / N, i % N)) < 1e-5);
}

/* By every check: elements, whole rows, projections, and all elements against the reference. */
static void expect_judgement(struct set *s, bool right)
{
    float reference[M * N];
    struct error err;
    struct comparison all;
    struct probe_difference projected, band;
    struct probe_product product = {.problem = s->problem,
                                    .layout = s->layout,
                                    .operands = &s->operands,
                                    .seed = 5,
                                    .floor = 0x1p-120,
                                    .input = s->input};
    struct probe_spot spot = {.row = 7, .column = 9};
    const struct cudal2_operands o = before(s);
    assert_int_equal(cpu_reference(1, &s->problem, s->layout, &o, reference, &err), 0);
    const struct expectation expected = {.reference = reference};
    cpu_compare(1, &s->problem, s->c, &expected, &all);
    assert_int_equal(probe_host.product(cpu, &product, &projected, &err), 0);
    assert_int_equal(probe_host.band(cpu, &product, 7, 2, &band, &err), 0);
    assert_int_equal(probe_host.spots(cpu, &product, &spot, 1, &err), 0);
    double found = (double)s->c[7 * LDC + 9];
    assert_int_equal(all.nan_count, 0);
    assert_int_equal(all.max_abs_error < 1e-4, right);
    assert_int_equal(projected.largest < LARGE, right);
    assert_int_equal(band.largest < LARGE, right);
    assert_int_equal(fabs(found - spot.expected) / spot.scale < LARGE, right);
}

static void every_check_knows_them(void **state)
{
    static const struct {
        double alpha, beta;
        int times;
        bool right;
    } launches[] = {
        {-0.5, 0.75, 1, true}, {0.5, 0.75, 1, false}, {-0.625, 0.75, 1, false}, {-0.5, 0.875, 1, false},
        {-0.5, 0, 1, false},   {-0.5, 1, 1, false},   {-0.5, 0.75, 2, false},   {-0.5, 0.75, 0, false},
    };
    (void)state;
    for (int layout = 0; layout < 2; layout++)
        for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
            struct set s;
            make(&s, (enum cudal2_layout)layout);
            launch(&s, launches[i].alpha, launches[i].beta, launches[i].times);
            expect_judgement(&s, launches[i].right);
        }
}

static void expect_known(const struct set *s)
{
    for (int64_t i = 0; i < M; i++) {
        assert_memory_equal(s->c + i * LDC, s->input + i * LDC, N * sizeof(float));
        for (int64_t j = 0; j < N; j++)
            assert_true(isfinite(s->c[i * LDC + j]));
        for (size_t at = 0; at < (LDC - N) * sizeof(float); at++)
            assert_int_equal(((const unsigned char *)(s->c + i * LDC + N))[at], PROBE_GUARD);
    }
}

/* Whatever kind of spoil: C is what is kept, and nothing of what a launch left. */
static void renewal_gives_a_known_input(void **state)
{
    static float pool[HOST_POOL_ELEMENTS];
    (void)state;
    const struct fill of_pool = {
        .kind = FILL_POOL, .dtype = CUDAL2_F32, .seed = 9, .rows = HOST_POOL_ELEMENTS, .cols = 1};
    cpu_fill(1, pool, &of_pool);
    for (int spoil = 0; spoil < SPOIL_KINDS; spoil++) {
        struct set s;
        struct error err;
        float was[M * LDC];
        make(&s, CUDAL2_NN);
        memcpy(was, s.input, sizeof was);
        launch(&s, -0.5, 0.75, 1);
        const struct probe_renewal r = {.problem = s.problem,
                                        .layout = s.layout,
                                        .operands = &s.operands,
                                        .pool = pool,
                                        .spoil = (enum probe_spoil)spoil,
                                        .seed = 77,
                                        .input = s.input};
        assert_int_equal(probe_host.renew(cpu, &r, &err), 0);
        expect_known(&s);
        bool same = true;
        for (int64_t i = 0; i < M; i++)
            same = same && memcmp(was + i * LDC, s.input + i * LDC, N * sizeof(float)) == 0;
        assert_int_equal(same, spoil == SPOIL_NONE);
        launch(&s, -0.5, 0.75, 1);
        expect_judgement(&s, true);
    }
}

/* Few elements are wrong, so only what looks at all of them must see it. */
static void expect_projected_wrong(const struct set *s)
{
    struct error err;
    struct probe_difference projected;
    const struct probe_product product = {.problem = s->problem,
                                          .layout = s->layout,
                                          .operands = &s->operands,
                                          .seed = 5,
                                          .floor = 0x1p-120,
                                          .input = s->input};
    assert_int_equal(probe_host.product(cpu, &product, &projected, &err), 0);
    assert_true(projected.largest > LARGE);
}

/* Between two launches of a row: a few elements of C are others, all is known, and who launches nothing is counted. */
static void upsets_change_a_known_input(void **state)
{
    static const enum probe_spoil kinds[] = {SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    const uint64_t places = (M * N + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
    (void)state;
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof kinds[0]; i++) {
        struct set s;
        struct error err;
        char why[CUDAL2_WHY];
        uint64_t kept = 0;
        make(&s, CUDAL2_NN);
        launch(&s, -0.5, 0.75, 1);
        float left[M * LDC];
        memcpy(left, s.c, sizeof left);
        const struct probe_upset u = {.problem = s.problem,
                                      .layout = s.layout,
                                      .operands = &s.operands,
                                      .spoil = kinds[i / 2],
                                      .seed = 3 + i,
                                      .input = s.input};
        assert_int_equal(probe_host.upset(cpu, &u, why), CUDAL2_OK);
        expect_known(&s);
        if (i % 2 == 0)
            launch(&s, -0.5, 0.75, 1);
        assert_int_equal(probe_host.count_kept(cpu, &u, why), CUDAL2_OK);
        assert_int_equal(probe_host.read_kept(cpu, &kept, &err), 0);
        assert_int_equal(kept, i % 2 == 0 ? 0 : places);
        expect_judgement(&s, i % 2 == 0);
        memcpy(s.c, left, sizeof left); /* the output of before, replayed */
        expect_projected_wrong(&s);
    }
}

static int open_cpu(void **state)
{
    struct error err;
    (void)state;
    return device_open_cpu(&cpu, &err);
}

static int close_cpu(void **state)
{
    (void)state;
    cpu->ops->close(cpu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_are_what_they_say), cmocka_unit_test(without_beta_c_is_not_read),
        cmocka_unit_test(every_check_knows_them),       cmocka_unit_test(renewal_gives_a_known_input),
        cmocka_unit_test(upsets_change_a_known_input),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
