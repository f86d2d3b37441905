/*
 * instructions.h - which instructions a kernel multiplies with, read from its PTX: what it accumulates in is part of
 * their names.
 */
#ifndef CUDAL2_COMPILE_INSTRUCTIONS_H
#define CUDAL2_COMPILE_INSTRUCTIONS_H

#include <stddef.h>

/* Writes the distinct matrix instructions of the PTX with their types, that of the result first, without their shapes,
 * separated by spaces, in order of appearance: "wgmma.f32.f16.f16 mma.f16.f16.f16.f16". Without any, the distinct types
 * of its fused multiply-adds: "fma.f16x2 fma.f32". What does not fit in capacity is left out whole. */
void instructions_of(const char *ptx, char *out, size_t capacity);

#endif
