/* fp16 and bf16: every value, every midpoint between neighbours, and what lies just beside it. */
#include "base/half.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

/* From the definition of the format, in arithmetic of its own. */
static double half_value(uint16_t bits)
{
    int exponent = (bits >> 10) & 31;
    int mantissa = bits & 1023;
    double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void test_half_to_float_is_exact(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        if ((bits & 0x7c00) == 0x7c00)
            continue;
        float value = half_to_float((uint16_t)bits);
        assert_true((double)value == half_value((uint16_t)bits));
        assert_true(!!signbit(value) == !!(bits & 0x8000)); /* -0 too */
    }
}

static void test_half_round_trip(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        uint16_t back = half_from_float(half_to_float((uint16_t)bits));
        if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff)) /* a NaN comes back quiet, payload and sign kept */
            assert_int_equal(back, bits | 0x200);
        else
            assert_int_equal(back, bits);
    }
}

static void test_half_rounding(void **state)
{
    (void)state;
    for (uint32_t low = 0; low < 0x7c00; low++) {
        /* Past the largest half comes 65536, which is where the rounding to infinity begins halfway. */
        double above = low + 1 == 0x7c00 ? 65536.0 : half_value((uint16_t)(low + 1));
        float middle = (float)((half_value((uint16_t)low) + above) / 2); /* exact: one more bit */
        uint32_t even = low & 1 ? low + 1 : low;
        assert_int_equal(half_from_float(middle), even);
        assert_int_equal(half_from_float(-middle), even | 0x8000);
        assert_int_equal(half_from_float(nextafterf(middle, INFINITY)), low + 1);
        assert_int_equal(half_from_float(nextafterf(middle, 0)), low);
        assert_int_equal(half_from_float(nextafterf((float)half_value((uint16_t)low), INFINITY)), low);
    }
}

static void test_half_specials(void **state)
{
    (void)state;
    assert_int_equal(half_from_float(INFINITY), 0x7c00);
    assert_int_equal(half_from_float(-INFINITY), 0xfc00);
    assert_int_equal(half_from_float(3.4e38f), 0x7c00);
    assert_int_equal(half_from_float(65519.996f), 0x7bff);
    assert_int_equal(half_from_float(65520.0f), 0x7c00);
    assert_int_equal(half_from_float(0x1p-25f), 0);
    assert_int_equal(half_from_float(-0x1p-25f), 0x8000);
    assert_int_equal(half_from_float(0x1.000002p-25f), 1);
    assert_int_equal(half_from_float(0x1p-149f), 0);
    assert_int_equal(half_from_float(0x1p-24f), 1);
    assert_int_equal(half_from_float(0x1p-14f), 0x0400);
    assert_int_equal(half_from_float(1.0f), 0x3c00);
    assert_int_equal(half_from_float(2049.0f), 0x6800); /* ties to even: 2048 */
    assert_int_equal(half_from_float(2051.0f), 0x6802); /* ties to even: 2052 */
    assert_true(isnan(half_to_float(half_from_float(NAN))));
    assert_true(isinf(half_to_float(0x7c00)));
    assert_true(isnan(half_to_float(0x7c01)));
}

static void test_bfloat(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        float value = bfloat_to_float((uint16_t)bits);
        assert_int_equal(bits_of(value), bits << 16);
        uint16_t back = bfloat_from_float(value);
        assert_int_equal(back, (bits & 0x7f80) == 0x7f80 && (bits & 0x7f) ? bits | 0x40 : bits);
    }
    for (uint32_t low = 0; low < 0x7f80; low++) {
        uint32_t word = low << 16 | 0x8000u; /* halfway to the next bfloat */
        float middle, below, above;
        memcpy(&middle, &word, sizeof middle);
        word--;
        memcpy(&below, &word, sizeof below);
        word += 2;
        memcpy(&above, &word, sizeof above);
        uint32_t even = low & 1 ? low + 1 : low;
        assert_int_equal(bfloat_from_float(middle), even);
        assert_int_equal(bfloat_from_float(-middle), even | 0x8000);
        assert_int_equal(bfloat_from_float(below), low);
        assert_int_equal(bfloat_from_float(above), low + 1);
    }
}

/* A NaN whose payload lies in the lost bits only must not round to an infinity. */
static void test_nan_stays_nan(void **state)
{
    const uint32_t words[] = {0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7f801fffu};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        float value;
        memcpy(&value, &words[i], sizeof value);
        uint16_t half = half_from_float(value);
        uint16_t bfloat = bfloat_from_float(value);
        assert_true((half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0);
        assert_true((bfloat & 0x7f80) == 0x7f80 && (bfloat & 0x7f) != 0);
        assert_int_equal(half >> 15, words[i] >> 31);
        assert_int_equal(bfloat >> 15, words[i] >> 31);
    }
}

static void test_elements(void **state)
{
    uint16_t halves[3] = {0, 0, 0xabcd};
    float floats[3] = {0, 0, 9};
    (void)state;
    element_store(halves, CUDAL2_F16, 1, 1.0f + 0x1p-11f);
    assert_int_equal(halves[1], 0x3c00);
    assert_true(element_load(halves, CUDAL2_F16, 1) == 1.0f);
    element_store(halves, CUDAL2_BF16, 0, -3.0f);
    assert_int_equal(halves[0], 0xc040);
    assert_true(element_load(halves, CUDAL2_BF16, 0) == -3.0f);
    assert_int_equal(halves[2], 0xabcd);
    element_store(floats, CUDAL2_F32, 1, 0.1f);
    assert_true(floats[1] == 0.1f && element_load(floats, CUDAL2_F32, 1) == 0.1f && floats[2] == 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_to_float_is_exact),
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_rounding),
        cmocka_unit_test(test_half_specials),
        cmocka_unit_test(test_bfloat),
        cmocka_unit_test(test_nan_stays_nan),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
