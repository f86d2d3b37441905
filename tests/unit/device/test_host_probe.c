/* Probes of memory that the host can read: digests, sprinkles and products against what they are defined to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/fake.h"
#include "device/probe.h"

static struct device *device;

static void digests_see_every_byte(void **state)
{
    struct error err;
    unsigned char bytes[41];
    struct probe_region region = {bytes, 0};
    uint64_t first, second;
    (void)state;
    for (region.bytes = 0; region.bytes <= sizeof bytes; region.bytes++) {
        memset(bytes, 9, sizeof bytes);
        device->probes->digest(device, &region, 1, &first, &err);
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] ^= 0x40;
            device->probes->digest(device, &region, 1, &second, &err);
            assert_int_equal(first != second, i < region.bytes);
            bytes[i] ^= 0x40;
        }
    }
    /* Words that change places change the sum too. */
    region.bytes = 16;
    bytes[0] = 1;
    device->probes->digest(device, &region, 1, &first, &err);
    bytes[0] = 9;
    bytes[8] = 1;
    device->probes->digest(device, &region, 1, &second, &err);
    assert_true(first != second);
}

static void sprinkled_poison_is_counted(void **state)
{
    struct error err;
    char why[CUDAL2_WHY];
    uint16_t c[1000];
    uint64_t nans;
    const struct probe_ops *p = device->probes;
    (void)state;
    for (uint64_t n = 1; n <= 1000; n += 111) {
        memset(c, 0, sizeof c);
        assert_int_equal(p->sprinkle(device, c, CUDAL2_F16, n, n, why), CUDAL2_OK);
        assert_int_equal(p->count(device, c, CUDAL2_F16, 1000, why), CUDAL2_OK);
        assert_int_equal(p->read_count(device, &nans, &err), 0);
        assert_int_equal(nans, (n + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE);
        for (uint64_t i = n; i < 1000; i++)
            assert_int_equal(c[i], 0);
        assert_int_equal(p->read_count(device, &nans, &err), 0);
        assert_int_equal(nans, 0);
    }
}

/* Whatever was there and of whatever kind: one element of each stretch is another one, and is counted until somebody
 * writes it; the rows that were asked for have one new element each. */
static void upsets_are_counted_until_they_are_written(void **state)
{
    enum { M = 40, N = 33, K = 24 };
    static const enum probe_spoil kinds[] = {SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    static uint16_t a[M * K], b[K * N], c[M * N], a_was[M * K];
    const struct cudal2_operands operands = {a, b, c};
    const struct probe_ops *p = device->probes;
    const uint64_t places = (M * N + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
    struct error err;
    char why[CUDAL2_WHY];
    uint64_t kept;
    (void)state;
    for (size_t i = 0; i < 4 * 8; i++) {
        struct probe_upset u = {.problem = {.m = M, .n = N, .k = K, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                                .operands = &operands,
                                .spoil = kinds[i % 4],
                                .lines = i / 4 % 3 * 4,
                                .seed = i};
        size_t changed = 0;
        memset(c, 0, sizeof c); /* where a product has zeros nothing that is put there may be one */
        memcpy(a_was, a, sizeof a);
        assert_int_equal(p->upset(device, &u, why), CUDAL2_OK);
        for (size_t j = 0; j < M * N; j++)
            changed += c[j] != 0;
        assert_int_equal(changed, places);
        assert_int_equal(p->count_kept(device, &u, why), CUDAL2_OK);
        assert_int_equal(p->read_kept(device, &kept, &err), 0);
        assert_int_equal(kept, places);
        memset(c, 0, sizeof c);
        assert_int_equal(p->count_kept(device, &u, why), CUDAL2_OK);
        assert_int_equal(p->read_kept(device, &kept, &err), 0);
        assert_int_equal(kept, 0);
        changed = 0;
        for (size_t j = 0; j < M * K; j++)
            changed += a[j] != a_was[j];
        assert_int_equal(changed, u.lines == 0 ? 0 : M / u.lines);
    }
}

/* Every dtype's NaN and nothing else: infinities, the largest numbers and denormal ones are none. */
static void nan_is_what_the_dtype_calls_nan(void **state)
{
    static const uint16_t f16[] = {0x7c01, 0xfe00, 0x7fff, 0x7c00, 0xfc00, 0x7bff, 0x0001, 0x8000};
    static const uint16_t bf16[] = {0x7f81, 0xffc0, 0x7fff, 0x7f80, 0xff80, 0x7f7f, 0x0001, 0x7c01};
    static const uint32_t f32[] = {0x7f800001, 0xffc00000, 0x7fffffff, 0x7f800000, 0xff800000, 0x7f7fffff, 1, 0x7c01};
    const struct {
        const void *values;
        enum cudal2_dtype dtype;
    } rows[] = {{f16, CUDAL2_F16}, {bf16, CUDAL2_BF16}, {f32, CUDAL2_F32}};
    struct error err;
    char why[CUDAL2_WHY];
    uint64_t nans;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(device->probes->count(device, rows[i].values, rows[i].dtype, 8, why), CUDAL2_OK);
        assert_int_equal(device->probes->read_count(device, &nans, &err), 0);
        assert_int_equal(nans, 3);
    }
}

/* One wrong element is seen under any x, in both layouts, and a right output never is. */
static void products_are_told_apart(void **state)
{
    enum { M = 6, N = 10, K = 14 };
    struct error err;
    struct probe_difference difference;
    uint16_t a[M * K], b[2][K * N], c[M * N];
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        for (int layout = CUDAL2_NN; layout <= CUDAL2_TN; layout++) {
            struct cudal2_operands o = {a, b[layout], c};
            struct probe_product p = {{.m = M, .n = N, .k = K, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                                      (enum cudal2_layout)layout,
                                      &o,
                                      seed,
                                      0,
                                      NULL,
                                      NULL};
            struct fill fa = {FILL_BINARY, CUDAL2_F16, seed, 0.5, M, K, false, 0, 0};
            struct fill fb = {FILL_BINARY, CUDAL2_F16, seed + 99, 0.5, K, N, layout == CUDAL2_TN, 0, 0};
            float reference[M * N];
            device->ops->fill(device, a, &fa, &err);
            device->ops->fill(device, b[layout], &fb, &err);
            device->ops->reference(device, &p.problem, p.layout, &o, reference, &err);
            for (size_t i = 0; i < M * N; i++)
                element_store(c, CUDAL2_F16, i, reference[i]);
            assert_int_equal(device->probes->product(device, &p, &difference, &err), 0);
            assert_int_equal(difference.differing, 0);
            assert_true(difference.first_row == UINT64_MAX && difference.sum_sq_error == 0);
            size_t wrong = (size_t)(seed * 7 % (M * N));
            element_store(c, CUDAL2_F16, wrong, reference[wrong] + 1);
            assert_int_equal(device->probes->product(device, &p, &difference, &err), 0);
            assert_int_equal(difference.differing, 1);
            assert_int_equal(difference.first_row, wrong / N);
            c[wrong] = 0x7e00;
            assert_int_equal(device->probes->product(device, &p, &difference, &err), 0);
            assert_int_equal(difference.nan_rows, 1);
        }
    }
}

/* What a leak would take, and not what the system brings and takes by itself: pages of a file. */
static void what_is_held_is_the_process_own(void **state)
{
    const size_t bytes = 8u << 20;
    char path[] = "/tmp/cudal2-test-held-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0 && unlink(path) == 0 && ftruncate(fd, (off_t)bytes) == 0);
    uint64_t before = device->probes->held(device);
    volatile char *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(file != MAP_FAILED);
    for (size_t i = 0; i < bytes; i += 4096)
        (void)file[i];
    assert_in_range(device->probes->held(device), 1, before + (1u << 20));
    char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(own != MAP_FAILED);
    memset(own, 1, bytes);
    uint64_t after = device->probes->held(device);
    assert_true(after >= before + bytes);
#ifdef MADV_PAGEOUT
    (void)madvise(own, bytes, MADV_PAGEOUT); /* swapped out, where there is swap */
    assert_true(device->probes->held(device) >= before + bytes);
#endif
    munmap(own, bytes);
    munmap((void *)(uintptr_t)file, bytes);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_see_every_byte),
        cmocka_unit_test(sprinkled_poison_is_counted),
        cmocka_unit_test(upsets_are_counted_until_they_are_written),
        cmocka_unit_test(nan_is_what_the_dtype_calls_nan),
        cmocka_unit_test(products_are_told_apart),
        cmocka_unit_test(what_is_held_is_the_process_own),
    };
    const struct fake_script script = {0};
    struct error err;
    if (fake_open(&script, &device, &err) != 0)
        return 1;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    device->ops->close(device);
    return rc;
}
