/*
 * expr.h - the integer expressions of manifests: "ceildiv(M,BM)*ceildiv(N,BN)", "SPLIT_K == 1 && BM > 64 ? 2 : 1".
 *
 * 64-bit signed; every overflow, division by zero and unknown name is an error that quotes the expression and the
 * column. Operators, weakest first: ?: || && == != < <= > >= + - * / % unary - !; functions min, max, ceildiv (two
 * arguments). Comparisons give 0 or 1; && || ?: evaluate only the side they need. / and % truncate towards zero as in
 * C.
 */
#ifndef CUDAL2_CONTENDER_EXPR_H
#define CUDAL2_CONTENDER_EXPR_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define EXPR_NAME_MAX 32
#define EXPR_MAX_LENGTH 1024
#define EXPR_MAX_NODES 512

struct expr; /* a parsed expression */

struct expr_variable {
    char name[EXPR_NAME_MAX];
    int64_t value;
};

struct expr_scope {
    const struct expr_variable *variables;
    size_t count;
};

/* EXIT_CODE_DATA: "column 5 of "BM ** 2": expected a value". */
int expr_parse(const char *text, struct expr **out, struct error *err);
void expr_free(struct expr *e);

/* The text it was parsed from. */
const char *expr_text(const struct expr *e);

/* EXIT_CODE_DATA when a name in the expression is not in the scope (values are not looked at). */
int expr_check(const struct expr *e, const struct expr_scope *scope, struct error *err);

/* EXIT_CODE_DATA on overflow, division by zero or an unknown name. */
int expr_eval(const struct expr *e, const struct expr_scope *scope, int64_t *out, struct error *err);

#endif
