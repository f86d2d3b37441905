/* kernels/harness/spoil.cuh, compiled as C for fp16: whatever the kind, each element of C is written, by one thread;
 * those that are not named keep their bits, and the others become what the kind says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "device/fill.h"

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef u16 bits_t;
typedef struct {
    u32 x, y, z, w;
} uint4;
#define __device__
#define __forceinline__
#define unit_log2 log2f
#define unit_sqrt sqrtf
#define unit_cos cosf
#define to_bits half_from_float
#define float_of half_to_float

#include "../../../kernels/harness/random.cuh"
#include "../../../kernels/harness/spoil.cuh"

enum { MOST = 4400, KINDS = SPOIL_ZERO + 1 };
static const u64 sizes[] = {1, 7, 8, 255, 256, 257, 1000, 4099};
static _Alignas(16) bits_t before[MOST], after[2][MOST];
static u32 writers[MOST];

static struct spoil spoil_with(int kind, u64 elements)
{
    for (size_t i = 0; i < MOST; i++)
        before[i] = half_from_float(fill_normal(fill_bits(fill_key(5), i)) * 8);
    return spoil_of(elements, fill_key(elements), 8, kind);
}

/* What one thread writes is there whatever lay there before. */
static void watch_thread(const struct spoil *s, u64 offset, u64 first, u64 threads)
{
    memset(after[0], 0x11, sizeof after[0]);
    memset(after[1], 0xee, sizeof after[1]);
    for (int i = 0; i < 2; i++)
        spoil_share(s, before + offset, after[i] + offset, first, threads);
    for (size_t i = 0; i < MOST; i++)
        writers[i] += after[0][i] == after[1][i];
}

/* Aligned to 16 bytes or not, of a size that is a multiple of something or not. */
static void every_element_has_one_writer(void **state)
{
    static const u64 threads[] = {1, 3, 64, 1000};
    (void)state;
    for (unsigned i = 0; i < KINDS * 8 * 4 * 2; i++) {
        u64 elements = sizes[i / KINDS % 8], step = threads[i / (8 * KINDS) % 4], offset = i / (32 * KINDS);
        struct spoil s = spoil_with((int)(i % KINDS), elements);
        memset(writers, 0, sizeof writers);
        for (u64 first = 0; first < step && first < elements + 1; first++)
            watch_thread(&s, offset, first, step);
        for (u64 e = 0; e < MOST; e++)
            assert_int_equal(writers[e], e >= offset && e - offset < elements);
    }
}

static bool is_whole(int kind)
{
    return kind == SPOIL_NAN || kind == SPOIL_LIKELY || kind == SPOIL_ZERO;
}

/* One of each stretch, or every one. */
static bool is_named(const struct spoil *s, int kind, u64 stretch, u64 at)
{
    u64 first = at / stretch * stretch, left = s->elements - first;
    u64 place = first + fill_bits(s->key, first) % (left < stretch ? left : stretch);
    return is_whole(kind) || (kind != SPOIL_NONE && at == place);
}

/* The special function units of a GPU and libm differ by less than a step of fp16. */
static void expect(const struct spoil *s, int kind, u64 bits, bits_t was, bits_t is)
{
    if (kind == SPOIL_NAN || kind == SPOIL_SOME_NAN)
        assert_int_equal(is, 0xffff);
    else if (kind == SPOIL_ZERO)
        assert_int_equal(is, 0);
    else if (kind == SPOIL_NUDGED)
        assert_int_equal(is, half_from_float(half_to_float(was) * (bits >> 63 ? 1.03f : 0.97f)));
    else if (kind == SPOIL_MOVED)
        assert_int_equal(is, before[bits % s->elements]);
    else
        assert_true(fabsf(half_to_float(is) - fill_normal(bits) * s->size) < 0.02f);
}

/* Of every element: `after[0]` against `before`. */
static void expect_kind(const struct spoil *s, int kind, u64 stretch)
{
    for (u64 e = 0; e < s->elements; e++)
        if (is_named(s, kind, stretch, e))
            expect(s, kind, fill_bits(s->key, ~(is_whole(kind) ? e : e / stretch)), before[e], after[0][e]);
        else
            assert_int_equal(after[0][e], before[e]);
}

static void elements_not_named_keep_their_bits(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS * 8; i++) {
        struct spoil s = spoil_with(i % KINDS, sizes[i / KINDS]);
        for (u64 first = 0; first < 5; first++)
            spoil_share(&s, before, after[0], first, 5);
        expect_kind(&s, i % KINDS, STRETCH);
    }
}

/* Of a C that is large beside the L2: the rest is not written at all. */
static void few_are_one_of_each_stretch(void **state)
{
    static const int kinds[] = {SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    (void)state;
    for (int i = 0; i < 4 * 8; i++) {
        u64 elements = sizes[i / 4], stretch = i % 3 == 0 ? 256 : 317;
        struct spoil s = spoil_with(kinds[i % 4], elements);
        memcpy(after[0], before, sizeof before);
        for (u64 first = 3; first-- > 0;)
            spoil_few(&s, after[0], stretch, first, 3);
        if (kinds[i % 4] != SPOIL_MOVED) /* else from one that has moved itself, at times */
            expect_kind(&s, kinds[i % 4], stretch);
        for (u64 e = 0; e < MOST; e++)
            if (e >= elements || !is_named(&s, kinds[i % 4], stretch, e))
                assert_int_equal(after[0][e], before[e]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_element_has_one_writer),
                                       cmocka_unit_test(elements_not_named_keep_their_bits),
                                       cmocka_unit_test(few_are_one_of_each_stretch)};
    return cmocka_run_group_tests_name("spoil_kernel", tests, NULL, NULL);
}
