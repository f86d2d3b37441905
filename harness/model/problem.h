/*
 * problem.h - names and sizes of the field's words: dtype, accumulate, layout, mode, problem, and how a problem's
 * matrices lie in memory. Relies on the ABI's header. Every room above may use it.
 */
#ifndef CUDAL2_MODEL_PROBLEM_H
#define CUDAL2_MODEL_PROBLEM_H

#include "abi/contender.h"
#include "base/error.h"

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
/* The smallest: for what asks for a problem and depends on its types alone. */
struct cudal2_problem problem_any(enum cudal2_dtype dtype, enum cudal2_accumulate accumulate);
bool problem_equal(const struct cudal2_problem *a, const struct cudal2_problem *b);

/* ---- where the matrices lie ---- */

/* One matrix in memory: `lines` stretches of `length` elements (rows; of a column-major B columns), the first elements
 * of two of them `stride` apart. */
struct matrix_extent {
    int64_t lines, length, stride;
};

/* C is the same in both layouts. */
struct matrix_extent problem_a(const struct cudal2_problem *problem);
struct matrix_extent problem_b(const struct cudal2_problem *problem, enum cudal2_layout layout);
struct matrix_extent problem_c(const struct cudal2_problem *problem);

/* From the first element to behind the last one, gaps included. */
static inline uint64_t extent_elements(const struct matrix_extent *e)
{
    return (uint64_t)((e->lines - 1) * e->stride + e->length);
}

/* Where element `index` of the matrix without gaps, line by line, is in memory. */
static inline uint64_t extent_place(const struct matrix_extent *e, uint64_t index)
{
    uint64_t length = (uint64_t)e->length;
    return e->stride == e->length ? index : index / length * (uint64_t)e->stride + index % length;
}

static inline bool extent_has_gaps(const struct matrix_extent *e)
{
    return e->stride > e->length && e->lines > 1;
}

/* Whether the three matrices lie without gaps, in either layout. */
bool problem_is_packed(const struct cudal2_problem *problem);

/* ---- what they are multiplied by ---- */

/* Bounds of alpha and beta, which are multiples of 1 / PROBLEM_SCALE_PARTS: products of {0,1} inputs then stay exact.
 */
#define PROBLEM_SCALE_MAX 4
#define PROBLEM_SCALE_PARTS 8

/* alpha, which is kept as 0 where it is 1. */
static inline double problem_alpha(const struct cudal2_problem *problem)
{
    return problem->alpha == 0 ? 1 : problem->alpha;
}

/* Whether C is an input. */
static inline bool problem_reads_c(const struct cudal2_problem *problem)
{
    return problem->beta != 0;
}

/* Whether alpha is not 1 or beta not 0. */
bool problem_is_scaled(const struct cudal2_problem *problem);

/* ---- both ---- */

/* Neither gaps nor scaled. */
bool problem_is_plain(const struct cudal2_problem *problem);
/* The same sizes and types, plain. */
struct cudal2_problem problem_plain(const struct cudal2_problem *problem);
/* With lda, ldb, ldc and alpha as a contender of that layout is to see them: never 0. */
struct cudal2_problem problem_full(const struct cudal2_problem *problem, enum cudal2_layout layout);

/* What a problem has beside its sizes, as words: "lda=72:ldc=100:alpha=-0.5:beta=1", "" for a plain one. text must hold
 * PROBLEM_ARGS_MAX bytes. */
#define PROBLEM_ARGS_MAX 96
void problem_args(const struct cudal2_problem *problem, char *text);
/* Reads them into the problem, whose sizes are known; what is as in a plain problem becomes 0. "" changes nothing.
 * EXIT_CODE_DATA with what was expected; a leading dimension must fit one of the layouts. */
int problem_args_parse(const char *text, struct cudal2_problem *problem, struct error *err);
/* The same check of values that are there already. */
int problem_args_check(struct cudal2_problem *problem, struct error *err);

/* "f16-f32-64x128x16384", with ":lda=16400" and the like where it has them: dtype, accumulate, MxNxK; key must hold
 * PROBLEM_KEY_MAX bytes. */
#define PROBLEM_KEY_MAX (64 + PROBLEM_ARGS_MAX)
void problem_key(const struct cudal2_problem *problem, char *key);
/* In a text that ends with such a key, or with its sizes alone: where the sizes begin. */
const char *problem_key_sizes(const char *key);

#endif
