/*
 * sass.h - which instructions a kernel multiplies with, read from its machine code: for kernels that come without PTX.
 */
#ifndef CUDAL2_COMPILE_SASS_H
#define CUDAL2_COMPILE_SASS_H

#include <stddef.h>

/* Writes the distinct matrix instructions of the code with the type of their results, then of their operands, separated
 * by spaces: "hgmma.f32.f16 hmma.f16.f16". Without any, the distinct types of its fused multiply-adds: "hfma2.f16x2
 * ffma.f32". What does not fit in capacity is left out whole. Knows the encoding of sm_80 and later, 16 bytes an
 * instruction, and what an opcode means to a GPU of compute capability cc; a rest is not read. */
void sass_instructions(const unsigned char *code, size_t length, int cc, char *out, size_t capacity);

#endif
