/*
 * problem.h - names and sizes of the field's words: dtype, accumulate, layout, mode, problem.
 */
#ifndef CUDAL2_MODEL_PROBLEM_H
#define CUDAL2_MODEL_PROBLEM_H

#include "abi/contender.h"

#include <stdbool.h>

enum mode { MODE_OFFLINE = 0, MODE_SERVER = 1, MODE_CHAIN = 2, MODE_COUNT = 3 };
enum cache_state { CACHE_WARM = 0, CACHE_ROTATE = 1, CACHE_FLUSH = 2, CACHE_LEFT = 3 };

/* NULL-terminated, indexed by the enums: "f16","bf16","f32" / "f16","f32" / "nn","tn" / ... */
extern const char *const dtype_names[];
extern const char *const accumulate_names[];
extern const char *const layout_names[];
extern const char *const mode_names[];
extern const char *const cache_state_names[];

/* Bytes of one element: 2, 2, 4. */
size_t dtype_bytes(enum cudal2_dtype dtype);

/* 2*m*n*k, floating-point operations of the unpadded problem. */
double problem_flops(const struct cudal2_problem *problem);
/* A, B and C once each, bytes. */
double problem_bytes(const struct cudal2_problem *problem);
bool problem_equal(const struct cudal2_problem *a, const struct cudal2_problem *b);

/* "f16-f32-64x128x16384": dtype, accumulate, MxNxK; key must hold PROBLEM_KEY_MAX bytes. */
#define PROBLEM_KEY_MAX 64
void problem_key(const struct cudal2_problem *problem, char *key);

#endif
