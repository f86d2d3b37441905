/* kernels/harness: what fill.cu computes, compiled as C. A walk is where a division says, and an element is of the bits
 * that the host has for it and within what the special function units may be off. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device/fill.h"

typedef uint32_t u32;
typedef uint64_t u64;
#define __device__
#define __forceinline__
#define unit_log2 log2f
#define unit_sqrt sqrtf
#define unit_cos cosf

#include "../../../kernels/harness/random.cuh"
#include "../../../kernels/harness/walk.cuh"

/* As a thread of fill.cu goes: pieces of so many elements. */
static void follow(u64 length, u64 stride, u64 at, u64 step)
{
    struct walk w = walk_from(length, stride, at, step);
    for (int i = 0; i < 50; i++, at += step, walk_step(&w)) {
        struct walk next = w;
        assert_true(walk_index(&w) == at % length * stride + at / length);
        assert_int_equal(walk_has(&w, 8), at % length + 8 <= length);
        for (u64 e = at; e < at + 8; e++, walk_next(&next))
            assert_true(walk_index(&next) == e % length * stride + e / length);
    }
}

static void a_walk_is_where_a_division_says(void **state)
{
    static const u64 lengths[] = {1, 2, 7, 8, 64, 67, 1000, 16384, 5000000000};
    static const u64 steps[] = {8, 64, 2048, 8 * 999, 4194304, 6000000000};
    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            follow(lengths[l], 1, 0, steps[s]);
            follow(lengths[l], 67, 24, steps[s]);
            follow(lengths[l], 16384, 8 * 12345, steps[s]);
        }
}

static void bits_are_the_hosts(void **state)
{
    (void)state;
    for (u64 i = 0; i < 1000; i++)
        assert_true(random_bits(fill_key(7), i * i) == fill_bits(fill_key(7), i * i));
}

/* 3e-6 of a unit's own 1e-6 and of the host's rounding. */
static void is_near(u64 bits)
{
    assert_true(fabsf(normal_of(bits) - fill_normal(bits)) < 3e-6f);
}

static void values_are_the_hosts(void **state)
{
    static const u64 uniforms[] = {0, 1, 2, 0x7fffff, 0xfffffd, 0xfffffe, 0xffffff}; /* of 24 bits */
    (void)state;
    for (u64 i = 0; i < 200000; i++)
        is_near(fill_bits(fill_key(3), i));
    for (size_t i = 0; i < sizeof uniforms / sizeof *uniforms; i++)
        for (u64 low = 0; low < 1 << 24; low += 4095)
            is_near(uniforms[i] << 40 | low);
    assert_true(normal_of((u64)0xffffff << 40) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_walk_is_where_a_division_says),
                                       cmocka_unit_test(bits_are_the_hosts), cmocka_unit_test(values_are_the_hosts)};
    return cmocka_run_group_tests_name("fill_kernel", tests, NULL, NULL);
}
