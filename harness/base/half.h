/*
 * half.h - fp16 and bf16 as uint16_t (clang-tidy 14 knows no _Float16): IEEE round to nearest even both ways.
 */
#ifndef CUDAL2_BASE_HALF_H
#define CUDAL2_BASE_HALF_H

#include "abi/contender.h"

#include <stdint.h>

uint16_t half_from_float(float value);
float half_to_float(uint16_t bits);
uint16_t bfloat_from_float(float value);
float bfloat_to_float(uint16_t bits);

/* Element `index` of a packed array of the dtype. */
float element_load(const void *array, enum cudal2_dtype dtype, size_t index);
void element_store(void *array, enum cudal2_dtype dtype, size_t index, float value);

#endif
