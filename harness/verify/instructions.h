/*
 * instructions.h - the second witness of the accumulator class: the instructions that multiply, as the compiler wrote
 * them. A kernel module's description names them ("instructions": "wgmma.f32.f16.f16 mma.f16.f16.f16.f16": result and
 * operand types; compile/compile.h reads them from the PTX).
 */
#ifndef CUDAL2_VERIFY_INSTRUCTIONS_H
#define CUDAL2_VERIFY_INSTRUCTIONS_H

#include "measure/bench.h"

/* Whether something multiplies and every instruction that does has a half-precision result. False for "". */
bool instructions_are_half(const char *instructions);

/* precision_class with the reason in why[CUDAL2_WHY] when the entrant, set up, describes itself so; else ok. */
enum verdict instructions_judge(const struct bench *bench, const struct entrant *entrant, char *why);

#endif
