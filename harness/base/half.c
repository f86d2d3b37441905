/*
 * half.c - fp16 and bf16 from and to float by integer arithmetic, rounded to nearest even. Relies on no compiler type.
 * NaNs stay NaN. Called by the CPU device's fills and products, by checks that compare elements, and for scalar
 * arguments of modules.
 */
#include "base/half.h"

#include <string.h>

#define FLOAT_INFINITY 0x7f800000u
#define HALF_OVERFLOW 0x477ff000u /* 65520: halfway from the largest half to 65536, and ties go to even */
#define HALF_NORMAL 0x38800000u   /* 2^-14, the smallest normal half */

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value >> shift, rounded to nearest, ties to even; 0 < shift < 32. */
static uint32_t shift_round(uint32_t value, unsigned shift)
{
    uint32_t odd = (value >> shift) & 1u;
    return (value + ((1u << (shift - 1)) - 1u) + odd) >> shift;
}

uint16_t half_from_float(float value)
{
    uint32_t bits = float_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t half;
    if (magnitude > FLOAT_INFINITY) {
        half = 0x7e00u | ((magnitude >> 13) & 0x3ffu); /* quiet, upper payload kept, as the F16C instruction does */
    } else if (magnitude >= HALF_OVERFLOW) {
        half = 0x7c00u;
    } else if (magnitude >= HALF_NORMAL) {
        half = shift_round(magnitude - 0x38000000u, 13);
    } else {
        uint32_t exponent = magnitude >> 23;
        uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        half = exponent < 102 ? 0 : shift_round(mantissa, 126 - exponent); /* in units of 2^-24 */
    }
    return (uint16_t)(sign | half);
}

float half_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 0x1fu;
    uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0x1f)
        return bits_float(sign | FLOAT_INFINITY | (mantissa << 13));
    if (exponent != 0)
        return bits_float(sign | ((exponent + 112) << 23) | (mantissa << 13));
    float magnitude = (float)mantissa * 0x1p-24f; /* exact: ten bits times a power of two */
    return bits_float(sign | float_bits(magnitude));
}

uint16_t bfloat_from_float(float value)
{
    uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffffu) > FLOAT_INFINITY)
        return (uint16_t)((bits >> 16) | 0x40u); /* quiet: rounding could turn a NaN into an infinity */
    uint32_t rounded = shift_round(bits & 0x7fffffffu, 16);
    return (uint16_t)(((bits >> 16) & 0x8000u) | rounded);
}

float bfloat_to_float(uint16_t bits)
{
    return bits_float((uint32_t)bits << 16);
}

float element_load(const void *array, enum cudal2_dtype dtype, size_t index)
{
    switch (dtype) {
    case CUDAL2_F16:
        return half_to_float(((const uint16_t *)array)[index]);
    case CUDAL2_BF16:
        return bfloat_to_float(((const uint16_t *)array)[index]);
    case CUDAL2_F32:
        break;
    }
    return ((const float *)array)[index];
}

void element_store(void *array, enum cudal2_dtype dtype, size_t index, float value)
{
    switch (dtype) {
    case CUDAL2_F16:
        ((uint16_t *)array)[index] = half_from_float(value);
        break;
    case CUDAL2_BF16:
        ((uint16_t *)array)[index] = bfloat_from_float(value);
        break;
    case CUDAL2_F32:
        ((float *)array)[index] = value;
        break;
    }
}
