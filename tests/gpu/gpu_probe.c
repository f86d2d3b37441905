/*
 * The probes' kernels on a GPU against their definitions on the host: digests, patterns, sprinkles, counts and products
 * of every dtype and layout, at sizes that are no multiple of anything.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/cuda_device.h"
#include "device/probe.h"
#include "gpu_fixture.h"

static struct device *host;

static void digests_are_the_hosts(void **state)
{
    enum { BYTES = 100003 };
    static unsigned char bytes[BYTES];
    struct error err;
    unsigned char *there = take(BYTES);
    const size_t offsets[] = {0, 1, 8, 4099, BYTES - 1}, lengths[] = {7, 64, 8, 95001, 1};
    struct probe_region here_regions[5], there_regions[5];
    uint64_t here_digest[5], there_digest[5];
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 13);
    check(gpu->ops->upload(gpu, there, bytes, BYTES, &err), &err);
    for (size_t i = 0; i < 5; i++) {
        here_regions[i] = (struct probe_region){bytes + offsets[i], lengths[i]};
        there_regions[i] = (struct probe_region){there + offsets[i], lengths[i]};
    }
    check(host->probes->digest(host, here_regions, 5, here_digest, &err), &err);
    check(gpu->probes->digest(gpu, there_regions, 5, there_digest, &err), &err);
    assert_memory_equal(here_digest, there_digest, sizeof here_digest);
    check(gpu->probes->pattern(gpu, there_regions, 4, PROBE_GUARD, &err), &err);
    check(host->probes->pattern(host, here_regions, 4, PROBE_GUARD, &err), &err);
    struct probe_region whole[2] = {{bytes, BYTES}, {there, BYTES}};
    check(host->probes->digest(host, whole, 1, here_digest, &err), &err);
    check(gpu->probes->digest(gpu, whole + 1, 1, there_digest, &err), &err);
    assert_int_equal(here_digest[0], there_digest[0]);
    gpu->ops->release(gpu, there);
}

/* Many matrices of every kind, order and shape at once, half of them with the content of another: what the host writes
 * one by one. N(0,1) apart (below). */
static void many_fills_are_the_hosts(void **state)
{
    enum { MANY = 90, ELEMENTS = 130 * 67 };
    static uint16_t here[ELEMENTS], back[ELEMENTS];
    struct fill_item items[MANY];
    struct error err;
    (void)state;
    for (int i = 0; i < MANY; i++)
        items[i] = (struct fill_item){take(sizeof here),
                                      {i % 3 ? FILL_BINARY : FILL_POISON, CUDAL2_BF16, (uint64_t)(i % 45), 0.3,
                                       1 + 2 * (i % 45), 67, i % 2, 0, 0}};
    check(gpu->ops->fill_many(gpu, items, MANY, &err), &err);
    check(gpu->ops->sync(gpu, &err), &err);
    for (int i = 0; i < MANY; i++) {
        size_t bytes = (size_t)(items[i].fill.rows * items[i].fill.cols) * sizeof *here;
        check(host->ops->fill(host, here, &items[i].fill, &err), &err);
        check(gpu->ops->download(gpu, back, items[i].memory, bytes, &err), &err);
        assert_memory_equal(here, back, bytes);
        gpu->ops->release(gpu, items[i].memory);
    }
}

static void draw_normal(void *matrix, enum cudal2_dtype dtype, int64_t rows, int64_t cols, uint64_t seed)
{
    struct error err;
    const struct fill fill = {.kind = FILL_NORMAL, .dtype = dtype, .seed = seed, .rows = rows, .cols = cols};
    check(gpu->ops->fill(gpu, matrix, &fill, &err), &err);
}

/* The special function units are off by less than 4e-6, so is the host. A logarithm near 0 is off by 2^-22, which the
 * root of a small radius makes larger: only values near 0 have one. */
static bool is_near(float value, float wanted, int *near_zero)
{
    float off = fabsf(value - wanted);
    bool is_close = off < 8e-6f;
    *near_zero += !is_close;
    return is_close || (fabsf(wanted) < 0.1f && off < 6e-4f);
}

static void normal_fills_are_near_the_hosts(void **state)
{
    enum { ROWS = 1003, COLS = 517 };
    static float here[ROWS * COLS], back[ROWS * COLS];
    void *there = take(sizeof here);
    struct error err;
    (void)state;
    for (int order = 0; order < 2; order++) {
        const struct fill fill = {FILL_NORMAL, CUDAL2_F32, 5, 0, ROWS, COLS, order == 1, 0, 0};
        check(host->ops->fill(host, here, &fill, &err), &err);
        check(gpu->ops->fill(gpu, there, &fill, &err), &err);
        check(gpu->ops->download(gpu, back, there, sizeof back, &err), &err);
        int near_zero = 0;
        for (int i = 0; i < ROWS * COLS; i++)
            assert_true(is_near(back[i], here[i], &near_zero));
        print_message("%d of %d are off by more than 8e-6\n", near_zero, ROWS * COLS);
        assert_in_range(near_zero, 0, ROWS * COLS / 200);
    }
    gpu->ops->release(gpu, there);
}

/* A and B come back as they were, C is sprinkled; a size that is no multiple of a stretch, and one beyond a block. */
static void a_veil_is_lifted(void **state)
{
    static const int64_t sizes[][3] = {{7, 33, 5}, {300, 520, 1100}};
    static unsigned char here[2][4 * 520 * 1100], back[4 * 520 * 1100];
    struct error err;
    char why[CUDAL2_WHY];
    (void)state;
    for (int i = 0; i < 6; i++) {
        enum cudal2_dtype dtype = (enum cudal2_dtype)(i % 3);
        int64_t m = sizes[i / 3][0], n = sizes[i / 3][1], k = sizes[i / 3][2];
        const int64_t rows[3] = {m, k, m}, cols[3] = {k, n, n};
        size_t bytes[3];
        void *at[3];
        uint64_t nans = 0;
        for (int j = 0; j < 3; j++) {
            bytes[j] = (size_t)(rows[j] * cols[j]) * dtype_bytes(dtype);
            at[j] = take(bytes[j]);
            draw_normal(at[j], dtype, rows[j], cols[j], (uint64_t)(3 + j));
        }
        for (int j = 0; j < 2; j++)
            check(gpu->ops->download(gpu, here[j], at[j], bytes[j], &err), &err);
        const struct cudal2_operands operands = {at[0], at[1], at[2]};
        const struct probe_veil veil = {
            {.m = m, .n = n, .k = k, .dtype = dtype, .accumulate = CUDAL2_ACC_F32}, &operands, 11};
        assert_int_equal(gpu->probes->veil(gpu, &veil, why), CUDAL2_OK);
        assert_int_equal(gpu->probes->count(gpu, at[2], dtype, (uint64_t)(m * n), why), CUDAL2_OK);
        check(gpu->probes->read_count(gpu, &nans, &err), &err);
        assert_int_equal(nans, ((uint64_t)(m * n) + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE);
        for (int j = 0; j < 2; j++) {
            check(gpu->ops->download(gpu, back, at[j], bytes[j], &err), &err);
            assert_memory_equal(here[j], back, bytes[j]);
        }
        for (int j = 0; j < 3; j++)
            gpu->ops->release(gpu, at[j]);
    }
}

/* Whatever the kind: what an upset has put into C is counted until somebody writes it, and no more than that changes.
 */
static void upsets_are_counted(void **state)
{
    enum { M = 300, N = 517, K = 77 };
    static const enum probe_spoil kinds[] = {SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    static unsigned char was[4 * M * N], back[4 * M * N];
    const uint64_t places = (M * N + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
    struct error err;
    char why[CUDAL2_WHY];
    uint64_t kept = 0;
    void *a = take(4 * M * K), *b = take(4 * K * N), *c = take(4 * M * N);
    const struct cudal2_operands operands = {a, b, c};
    (void)state;
    for (int i = 0; i < 12; i++) {
        enum cudal2_dtype dtype = (enum cudal2_dtype)(i / 4);
        size_t size = dtype_bytes(dtype), changed = 0;
        const struct probe_upset u = {{.m = M, .n = N, .k = K, .dtype = dtype, .accumulate = CUDAL2_ACC_F32},
                                      (enum cudal2_layout)(i % 2),
                                      &operands,
                                      kinds[i % 4],
                                      (uint64_t)(i % 3) * 16,
                                      (uint64_t)i,
                                      NULL};
        draw_normal(c, dtype, M, N, 9);
        check(gpu->ops->download(gpu, was, c, size * M * N, &err), &err);
        assert_int_equal(gpu->probes->upset(gpu, &u, why), CUDAL2_OK);
        assert_int_equal(gpu->probes->count_kept(gpu, &u, why), CUDAL2_OK);
        check(gpu->probes->read_kept(gpu, &kept, &err), &err);
        assert_int_equal(kept, places);
        check(gpu->ops->download(gpu, back, c, size * M * N, &err), &err);
        for (size_t j = 0; j < M * N; j++)
            changed += memcmp(was + j * size, back + j * size, size) != 0;
        assert_int_equal(changed, places);
        draw_normal(c, dtype, M, N, 9);
        assert_int_equal(gpu->probes->count_kept(gpu, &u, why), CUDAL2_OK);
        check(gpu->probes->read_kept(gpu, &kept, &err), &err);
        assert_int_equal(kept, 0);
    }
    gpu->ops->release(gpu, a);
    gpu->ops->release(gpu, b);
    gpu->ops->release(gpu, c);
}

/* ---- disturb ---- */

enum { SPOILED_ROWS = 1031, SPOILED_COLUMNS = 1033, SPOILED_K = 77, SPOILED_MOST = SPOILED_ROWS * SPOILED_COLUMNS };

/* One C on the GPU, before and after. */
static struct {
    enum cudal2_dtype dtype;
    uint64_t elements, key, stretch;
    float size;
    unsigned char was[4 * SPOILED_MOST], is[4 * SPOILED_MOST];
} spoiled;

static float loaded(const unsigned char *matrix, uint64_t at)
{
    return element_load(matrix, spoiled.dtype, (size_t)at);
}

static bool is_same(const unsigned char *matrix, uint64_t at, uint64_t other)
{
    size_t width = dtype_bytes(spoiled.dtype);
    return memcmp(spoiled.is + at * width, matrix + other * width, width) == 0;
}

static bool is_whole(enum probe_spoil kind)
{
    return kind == SPOIL_NAN || kind == SPOIL_LIKELY || kind == SPOIL_ZERO;
}

/* What became of an element that is named. Another that is moved may have been so before it was read or after. */
static bool is_as_its_kind(enum probe_spoil kind, uint64_t at)
{
    uint64_t bits = fill_bits(spoiled.key, ~(is_whole(kind) ? at : at / spoiled.stretch));
    uint64_t other = bits % spoiled.elements;
    float is = loaded(spoiled.is, at), was = loaded(spoiled.was, at), likely = fill_normal(bits) * spoiled.size;
    if (kind == SPOIL_NAN || kind == SPOIL_SOME_NAN)
        return isnan(is);
    if (kind == SPOIL_MOVED)
        return is_same(spoiled.was, at, other) || is_same(spoiled.is, at, other);
    if (kind == SPOIL_ZERO)
        return is == 0;
    if (kind == SPOIL_NUDGED)
        return fabsf(is - was * (bits >> 63 ? 1.03f : 0.97f)) <= 0.008f * fabsf(was) + 1e-7f;
    return fabsf(is - likely) <= 0.01f * spoiled.size + 0.008f * fabsf(likely);
}

/* Elements that are not named keep their bits. */
static void expect_kind(enum probe_spoil kind)
{
    for (uint64_t at = 0; at < spoiled.elements; at++) {
        uint64_t first = at / spoiled.stretch * spoiled.stretch, left = spoiled.elements - first;
        uint64_t place = first + fill_bits(spoiled.key, first) % (left < spoiled.stretch ? left : spoiled.stretch);
        bool named = is_whole(kind) || (kind != SPOIL_NONE && at == place);
        if (named ? !is_as_its_kind(kind, at) : !is_same(spoiled.was, at, at))
            fail_msg("kind %d, dtype %d: element %llu was %g and is %g", (int)kind, (int)spoiled.dtype,
                     (unsigned long long)at, loaded(spoiled.was, at), loaded(spoiled.is, at));
    }
}

static void disturb_one(struct probe_renewal *r, void *c, uint64_t stretch)
{
    const struct cudal2_problem *p = &r->problem;
    struct error err;
    spoiled.dtype = p->dtype;
    spoiled.elements = (uint64_t)(p->m * p->n);
    spoiled.stretch = stretch;
    spoiled.key = fill_mix(fill_mix(fill_key(r->seed) + 1)); /* of the second set */
    spoiled.size = sqrtf((float)p->k);
    size_t bytes = (size_t)spoiled.elements * dtype_bytes(p->dtype);
    draw_normal(c, p->dtype, p->m, p->n, 9);
    check(gpu->ops->download(gpu, spoiled.was, c, bytes, &err), &err);
    check(gpu->probes->disturb(gpu, r, 2, &err), &err);
    check(gpu->ops->download(gpu, spoiled.is, c, bytes, &err), &err);
    expect_kind(r->spoil);
}

/* The values of C alone are looked at here. That all of it is written is seen by test_spoil_kernel, of the same source.
 */
static void spoils_leave_the_rest(void **state)
{
    void *a = take(4 * SPOILED_ROWS * SPOILED_K), *b = take(4 * SPOILED_COLUMNS * SPOILED_K);
    void *c[2] = {take(4 * SPOILED_MOST), take(4 * SPOILED_MOST)};
    const struct cudal2_operands sets[2] = {{a, b, c[0]}, {a, b, c[1]}};
    (void)state;
    for (int i = 0; i < 3 * SPOIL_KINDS * 2; i++) {
        bool large = i % 2;
        struct probe_renewal r = {.operands = sets, .spoil = (enum probe_spoil)(i / 6), .seed = (uint64_t)i};
        r.problem = (struct cudal2_problem){.m = large ? SPOILED_ROWS : 31,
                                            .n = large ? SPOILED_COLUMNS : 41,
                                            .k = SPOILED_K,
                                            .dtype = (enum cudal2_dtype)(i / 2 % 3),
                                            .accumulate = CUDAL2_ACC_F32};
        disturb_one(&r, c[1], PROBE_SPRINKLE);
        r.sparse = large && r.spoil != SPOIL_NONE && !is_whole(r.spoil);
        if (r.sparse)
            disturb_one(&r, c[1], SPOILED_MOST / PROBE_SPARSE);
    }
    gpu->ops->release(gpu, a);
    gpu->ops->release(gpu, b);
    gpu->ops->release(gpu, c[0]);
    gpu->ops->release(gpu, c[1]);
}

static void sprinkles_lie_where_they_should(void **state)
{
    enum { N = 70001 };
    static float here[N], back[N];
    struct error err;
    char why[CUDAL2_WHY];
    void *there = take(sizeof here);
    (void)state;
    for (int dtype = CUDAL2_F16; dtype <= CUDAL2_F32; dtype++) {
        size_t bytes = N * dtype_bytes((enum cudal2_dtype)dtype);
        uint64_t nans = 0;
        memset(here, 0, sizeof here);
        check(gpu->ops->upload(gpu, there, here, bytes, &err), &err);
        assert_int_equal(gpu->probes->sprinkle(gpu, there, (enum cudal2_dtype)dtype, N, 5, why), CUDAL2_OK);
        assert_int_equal(host->probes->sprinkle(host, here, (enum cudal2_dtype)dtype, N, 5, why), CUDAL2_OK);
        assert_int_equal(gpu->probes->count(gpu, there, (enum cudal2_dtype)dtype, N, why), CUDAL2_OK);
        check(gpu->probes->read_count(gpu, &nans, &err), &err);
        assert_int_equal(nans, (N + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE);
        check(gpu->probes->read_count(gpu, &nans, &err), &err);
        assert_int_equal(nans, 0);
        check(gpu->ops->download(gpu, back, there, bytes, &err), &err);
        assert_memory_equal(here, back, bytes);
    }
    gpu->ops->release(gpu, there);
}

/* The host's exact sums of {0,1} matrices, put on the GPU: equal there too, and one wrong element in one row is seen.
 */
static void products_are_exact(void **state)
{
    enum { M = 37, N = 301, K = 259 };
    static float a[M * K], b[K * N], c[M * N], reference[M * N];
    struct error err;
    void *da = take(sizeof a), *db = take(sizeof b), *dc = take(sizeof c);
    (void)state;
    for (int variant = 0; variant < 6; variant++) {
        enum cudal2_dtype dtype = (enum cudal2_dtype)(variant / 2);
        enum cudal2_layout layout = (enum cudal2_layout)(variant % 2);
        size_t size = dtype_bytes(dtype);
        const struct cudal2_problem problem = {.m = M, .n = N, .k = K, .dtype = dtype, .accumulate = CUDAL2_ACC_F32};
        const struct fill fill_a = {FILL_BINARY, dtype, 3, 0.5, M, K, false, 0, 0};
        const struct fill fill_b = {FILL_BINARY, dtype, 4, 0.5, K, N, layout == CUDAL2_TN, 0, 0};
        const struct cudal2_operands here = {a, b, c}, there = {da, db, dc};
        const struct probe_product product = {problem, layout, &there, 77, 0, NULL, NULL};
        struct probe_difference difference;
        check(host->ops->fill(host, a, &fill_a, &err), &err);
        check(host->ops->fill(host, b, &fill_b, &err), &err);
        check(host->ops->reference(host, &problem, layout, &here, reference, &err), &err);
        for (size_t i = 0; i < M * N; i++)
            element_store(c, dtype, i, reference[i]);
        check(gpu->ops->upload(gpu, da, a, M * K * size, &err), &err);
        check(gpu->ops->upload(gpu, db, b, K * N * size, &err), &err);
        check(gpu->ops->upload(gpu, dc, c, M * N * size, &err), &err);
        check(gpu->probes->product(gpu, &product, &difference, &err), &err);
        assert_int_equal(difference.differing, 0);
        assert_true(difference.first_row == UINT64_MAX && difference.sum_sq_expected > 0);
        element_store(c, dtype, 20 * N + 7, reference[20 * N + 7] + 1);
        check(gpu->ops->upload(gpu, dc, c, M * N * size, &err), &err);
        check(gpu->probes->product(gpu, &product, &difference, &err), &err);
        assert_int_equal(difference.differing, 1);
        assert_int_equal(difference.first_row, 20);
    }
    gpu->ops->release(gpu, da);
    gpu->ops->release(gpu, db);
    gpu->ops->release(gpu, dc);
}

static int nothing(void *context, size_t set, char *why)
{
    (void)context, (void)set, (void)why;
    return CUDAL2_OK;
}

/* The legacy stream does not wait for ours: what a launch puts there is seen, and what waits for ours is not accused.
 */
static int fill_in_stream(void *context, size_t set, char *why)
{
    const struct fill fill = {FILL_NORMAL, CUDAL2_F16, 9, 0, 64, 64, false, 0, 0};
    struct error err;
    (void)set, (void)why;
    return gpu->ops->fill(gpu, context, &fill, &err) == 0 ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

/* Who puts the work on our stream, or does nothing, is not accused; tests/redteam has those who do otherwise. */
static void a_held_stream_holds(void **state)
{
    struct error err;
    void *c = take(64 * 64 * 2);
    const struct device_work works[] = {{nothing, NULL, 0}, {fill_in_stream, c, 0}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct probe_trial trial = {&works[i], 0, {c, 64 * 64 * 2}, 300e3};
        bool escaped = true;
        check(gpu->probes->escape(gpu, &trial, &escaped, &err), &err);
        assert_false(escaped);
    }
    gpu->ops->release(gpu, c);
}

/* The driver rounds the size up, so some sizes are what was there before: only the others are changes, and all of those
 * are told and undone. */
static void persisting_sizes_are_told(void **state)
{
    const struct driver *cu = &cuda_of(gpu)->driver;
    struct error err;
    char what[128];
    size_t was = 0, told = 0;
    (void)state;
    if (cu->limit_get(&was, CU_LIMIT_PERSISTING_L2) != CU_OK)
        skip();
    for (size_t mib = 0; mib <= 32; mib += 4) {
        size_t now = 0;
        if (cu->limit_set(CU_LIMIT_PERSISTING_L2, mib << 20) != CU_OK) /* more than this GPU can set aside */
            break;
        assert_int_equal(cu->limit_get(&now, CU_LIMIT_PERSISTING_L2), CU_OK);
        printf("persisting L2: %zu MiB asked for, %zu bytes given, %zu at first\n", mib, now, was);
        gpu->probes->changes(gpu, what);
        assert_int_equal(what[0] != '\0', now != was);
        told += what[0] != '\0';
        check(gpu->ops->settle(gpu, &err), &err);
        gpu->probes->changes(gpu, what);
        assert_string_equal(what, "");
    }
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_the_hosts),    cmocka_unit_test(sprinkles_lie_where_they_should),
        cmocka_unit_test(upsets_are_counted),       cmocka_unit_test(spoils_leave_the_rest),
        cmocka_unit_test(a_veil_is_lifted),         cmocka_unit_test(products_are_exact),
        cmocka_unit_test(a_held_stream_holds),      cmocka_unit_test(persisting_sizes_are_told),
        cmocka_unit_test(many_fills_are_the_hosts), cmocka_unit_test(normal_fills_are_near_the_hosts),
    };
    struct error err;
    if (device_open("cuda:0", NULL, &gpu, &err) != 0) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    if (device_open("cpu", NULL, &host, &err) != 0)
        return 1;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    gpu->ops->close(gpu);
    host->ops->close(host);
    return rc;
}
