/* Matrices with gaps on the host: every check of an output says of them what it says of the same matrices without, no
 * fill and no spoiling touches a gap, and what is written there is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/cpu_math.h"
#include "device/host_check.h"

#define M 13
#define N 21
#define K 34

static struct device *cpu;
static const struct cudal2_problem strided = {.m = M,
                                              .n = N,
                                              .k = K,
                                              .dtype = CUDAL2_F16,
                                              .accumulate = CUDAL2_ACC_F32,
                                              .lda = K + 3,
                                              .ldb = K + 8,
                                              .ldc = N + 5};

/* One problem's matrices. Gaps hold NaN, those of C the pattern. */
struct set {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    struct cudal2_operands operands;
    uint16_t a[M * 64], b[64 * 64], c[M * 64];
};

static void fill(void *memory, struct matrix_extent e, bool column_major, uint64_t seed)
{
    const struct fill f = {.kind = FILL_NORMAL,
                           .dtype = CUDAL2_F16,
                           .seed = seed,
                           .rows = column_major ? e.length : e.lines,
                           .cols = column_major ? e.lines : e.length,
                           .column_major = column_major,
                           .stride = e.stride};
    cpu_fill(1, memory, &f);
}

static void make(struct set *s, struct cudal2_problem problem, enum cudal2_layout layout)
{
    *s = (struct set){.problem = problem, .layout = layout};
    memset(s->a, PROBE_POISON, sizeof s->a);
    memset(s->b, PROBE_POISON, sizeof s->b);
    memset(s->c, PROBE_GUARD, sizeof s->c);
    s->operands = (struct cudal2_operands){s->a, s->b, s->c};
    fill(s->a, problem_a(&problem), false, 1);
    fill(s->b, problem_b(&problem, layout), layout == CUDAL2_TN, 2);
}

static void multiply(struct set *s)
{
    float reference[M * N];
    struct error err;
    const struct matrix_extent e = problem_c(&s->problem);
    assert_int_equal(cpu_reference(1, &s->problem, s->layout, &s->operands, reference, &err), 0);
    for (uint64_t i = 0; i < M * N; i++)
        element_store(s->c, CUDAL2_F16, extent_place(&e, i), reference[i]);
}

static uint64_t gaps_written(const struct set *s)
{
    uint64_t written = 0;
    struct error err;
    assert_int_equal(probe_host.gaps(cpu, &s->problem, s->c, &written, &err), 0);
    return written;
}

static void expect_same(const struct matrix_extent *from, const uint16_t *x, const uint16_t *y)
{
    for (uint64_t i = 0; i < (uint64_t)(from->lines * from->length); i++)
        assert_int_equal(x[extent_place(from, i)], y[i]);
}

static void expect_same_sets(const struct set *s, const struct set *packed)
{
    const struct matrix_extent a = problem_a(&s->problem), b = problem_b(&s->problem, s->layout),
                               c = problem_c(&s->problem);
    expect_same(&a, s->a, packed->a);
    expect_same(&b, s->b, packed->b);
    expect_same(&c, s->c, packed->c);
    assert_int_equal(gaps_written(s), 0);
}

struct both {
    struct set with, without;
};

static void make_both(struct both *both, int layout)
{
    make(&both->with, strided, (enum cudal2_layout)layout);
    make(&both->without, problem_plain(&strided), (enum cudal2_layout)layout);
    multiply(&both->with);
    multiply(&both->without);
}

static void values_are_the_same(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct both b;
        make_both(&b, layout);
        expect_same_sets(&b.with, &b.without);
    }
}

/* Judged by all checks, right and with one element wrong. */
static void expect_judgement(struct set *s, bool right)
{
    float reference[M * N];
    struct error err;
    struct comparison all;
    struct probe_difference projected, band;
    struct probe_product product = {
        .problem = s->problem, .layout = s->layout, .operands = &s->operands, .seed = 5, .floor = 0x1p-14};
    struct probe_spot spot = {.row = 7, .column = 9};
    const struct matrix_extent e = problem_c(&s->problem);
    assert_int_equal(cpu_reference(1, &s->problem, s->layout, &s->operands, reference, &err), 0);
    const struct expectation expected = {.reference = reference};
    cpu_compare(1, &s->problem, s->c, &expected, &all);
    assert_int_equal(probe_host.product(cpu, &product, &projected, &err), 0);
    assert_int_equal(probe_host.band(cpu, &product, 7, 1, &band, &err), 0);
    assert_int_equal(probe_host.spots(cpu, &product, &spot, 1, &err), 0);
    double found = (double)element_load(s->c, CUDAL2_F16, extent_place(&e, 7 * N + 9));
    assert_int_equal(all.nan_count, 0);
    assert_int_equal(all.max_abs_error < 0.05, right);
    assert_int_equal(projected.largest < 0.01, right);
    assert_int_equal(band.largest < 0.01, right);
    assert_int_equal(found - spot.expected < 0.05, right);
}

static void checks_see_the_matrix_alone(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct both b;
        make_both(&b, layout);
        expect_judgement(&b.with, true);
        expect_judgement(&b.without, true);
        b.with.c[7 * strided.ldc + 9] = 0x5400; /* 64 */
        expect_judgement(&b.with, false);
    }
}

/* The same new inputs and the same spoiled C, whatever the gaps. */
static void renewal_leaves_gaps(void **state)
{
    static uint16_t pool[HOST_POOL_ELEMENTS];
    struct error err;
    (void)state;
    const struct fill of_pool = {
        .kind = FILL_POOL, .dtype = CUDAL2_F16, .density = 0.02, .seed = 9, .rows = HOST_POOL_ELEMENTS, .cols = 1};
    cpu_fill(1, pool, &of_pool);
    for (int layout = 0; layout < 2; layout++)
        for (int spoil = 0; spoil < SPOIL_KINDS; spoil++) {
            struct both b;
            make_both(&b, layout);
            for (int i = 0; i < 2; i++) {
                struct set *s = i == 0 ? &b.with : &b.without;
                const struct probe_renewal r = {.problem = s->problem,
                                                .layout = s->layout,
                                                .operands = &s->operands,
                                                .pool = pool,
                                                .spoil = (enum probe_spoil)spoil,
                                                .seed = 77};
                const struct host_elements of_a = {12, 33, 1, false}, of_b = {20, 1, 1, true};
                float value;
                assert_int_equal(probe_host.renew(cpu, &r, &err), 0);
                assert_true(host_renewed(&r, &of_a, &value) && host_renewed(&r, &of_b, &value));
            }
            expect_same_sets(&b.with, &b.without);
        }
}

static void upsets_leave_gaps(void **state)
{
    char why[CUDAL2_WHY];
    struct error err;
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct both b;
        make_both(&b, layout);
        for (int i = 0; i < 2; i++) {
            struct set *s = i == 0 ? &b.with : &b.without;
            const struct probe_upset u = {s->problem, s->layout, &s->operands, SPOIL_MOVED, 1, 3, NULL};
            uint64_t kept = 0;
            assert_int_equal(probe_host.upset(cpu, &u, why), CUDAL2_OK);
            assert_int_equal(probe_host.count_kept(cpu, &u, why), CUDAL2_OK);
            assert_int_equal(probe_host.read_kept(cpu, &kept, &err), 0);
            assert_int_equal(kept, 2);
        }
        expect_same_sets(&b.with, &b.without);
    }
}

static void what_is_written_into_a_gap_is_counted(void **state)
{
    struct both b;
    make_both(&b, 0);
    (void)state;
    b.with.c[3 * strided.ldc + N] = 0;
    assert_int_equal(gaps_written(&b.with), 2);
    assert_int_equal(gaps_written(&b.without), 0);
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

/* What was made elsewhere arrives whole, by either way through the caches, and no gap with it. */
static void a_delivery_leaves_gaps(void **state)
{
    const struct cudal2_problem problems[] = {strided, {.m = M, .n = N, .k = K, .dtype = CUDAL2_F16}};
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct set from, to;
        enum cudal2_layout layout = i & 1 ? CUDAL2_TN : CUDAL2_NN;
        const struct cudal2_problem *p = &problems[i >> 1 & 1];
        const struct matrix_extent a = problem_a(p), b = problem_b(p, layout);
        make(&from, *p, layout);
        make(&to, *p, layout);
        fill(from.a, a, false, 3);
        fill(from.b, b, layout == CUDAL2_TN, 4);
        memset(from.a + a.length, 7, (size_t)(a.stride - a.length) * 2); /* of the first gap, where there is one */
        const struct probe_delivery delivery = {layout, i >> 2 & 1, from.a, from.b, &to.operands};
        host_deliver(p, &delivery);
        for (int64_t line = 0; line < a.lines; line++)
            assert_memory_equal(to.a + line * a.stride, from.a + line * a.stride, (size_t)a.length * 2);
        for (int64_t line = 0; line < b.lines; line++)
            assert_memory_equal(to.b + line * b.stride, from.b + line * b.stride, (size_t)b.length * 2);
        for (int64_t gap = a.length; gap < a.stride; gap++)
            assert_int_equal(to.a[gap], PROBE_POISON * 0x101);
        assert_int_equal(to.a[extent_elements(&a)], PROBE_POISON * 0x101); /* and nothing behind it */
        assert_int_equal(to.b[extent_elements(&b)], PROBE_POISON * 0x101);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_same), cmocka_unit_test(checks_see_the_matrix_alone),
        cmocka_unit_test(renewal_leaves_gaps), cmocka_unit_test(a_delivery_leaves_gaps),
        cmocka_unit_test(upsets_leave_gaps),   cmocka_unit_test(what_is_written_into_a_gap_is_counted),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
