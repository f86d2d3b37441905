/*
 * problem.c - the names of dtypes, layouts and modes, and what follows from a problem alone: bytes,
 * operations, where its matrices lie, its key in files. Pure. Called by every room above.
 */
#include "model/problem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const dtype_names[] = {"f16", "bf16", "f32", NULL};
const char *const accumulate_names[] = {"f16", "f32", NULL};
const char *const layout_names[] = {"nn", "tn", NULL};
const char *const mode_names[] = {"offline", "server", "chain", NULL};
const char *const cache_state_names[] = {"warm", "rotate", "flush", "left", NULL};

size_t dtype_bytes(enum cudal2_dtype dtype)
{
    return dtype == CUDAL2_F32 ? 4 : 2;
}

double problem_flops(const struct cudal2_problem *problem)
{
    return 2.0 * (double)problem->m * (double)problem->n * (double)problem->k;
}

double problem_bytes(const struct cudal2_problem *problem)
{
    double m = (double)problem->m;
    double n = (double)problem->n;
    double k = (double)problem->k;
    return (m * k + k * n + m * n) * (double)dtype_bytes(problem->dtype);
}

struct cudal2_problem problem_any(enum cudal2_dtype dtype, enum cudal2_accumulate accumulate)
{
    return (struct cudal2_problem){.m = 1, .n = 1, .k = 1, .dtype = dtype, .accumulate = accumulate};
}

bool problem_equal(const struct cudal2_problem *a, const struct cudal2_problem *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->dtype == b->dtype && a->accumulate == b->accumulate &&
           a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc;
}

/* ---- where the matrices lie ---- */

static struct matrix_extent extent_of(int64_t lines, int64_t length, int64_t stride)
{
    return (struct matrix_extent){lines, length, stride > 0 ? stride : length};
}

struct matrix_extent problem_a(const struct cudal2_problem *p)
{
    return extent_of(p->m, p->k, p->lda);
}

struct matrix_extent problem_b(const struct cudal2_problem *p, enum cudal2_layout layout)
{
    return layout == CUDAL2_TN ? extent_of(p->n, p->k, p->ldb) : extent_of(p->k, p->n, p->ldb);
}

struct matrix_extent problem_c(const struct cudal2_problem *p)
{
    return extent_of(p->m, p->n, p->ldc);
}

bool problem_is_packed(const struct cudal2_problem *p)
{
    return p->lda == 0 && p->ldb == 0 && p->ldc == 0;
}

struct cudal2_problem problem_packed(const struct cudal2_problem *problem)
{
    struct cudal2_problem p = *problem;
    p.lda = p.ldb = p.ldc = 0;
    return p;
}

struct cudal2_problem problem_full(const struct cudal2_problem *problem, enum cudal2_layout layout)
{
    struct cudal2_problem p = *problem;
    p.lda = problem_a(problem).stride;
    p.ldb = problem_b(problem, layout).stride;
    p.ldc = problem_c(problem).stride;
    return p;
}

/* ---- as words ---- */

static const char *const arg_names[] = {"lda", "ldb", "ldc"};
#define ARGS (sizeof arg_names / sizeof arg_names[0])
#define ARG_MAX ((int64_t)1 << 40)

static int64_t *arg_of(struct cudal2_problem *p, size_t which)
{
    int64_t *const all[ARGS] = {&p->lda, &p->ldb, &p->ldc};
    return all[which];
}

void problem_args(const struct cudal2_problem *problem, char *text)
{
    struct cudal2_problem p = *problem;
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ARGS; i++)
        if (*arg_of(&p, i) != 0)
            used += (size_t)snprintf(text + used, PROBLEM_ARGS_MAX - used, "%s%s=%" PRId64, used > 0 ? ":" : "",
                                     arg_names[i], *arg_of(&p, i));
}

/* What is as in a packed problem becomes 0, so that one problem has one name. */
static int settle(int64_t *stride, const char *name, int64_t least, int64_t packed, struct error *err)
{
    if (*stride != 0 && (*stride < least || *stride > ARG_MAX))
        return error_set(err, EXIT_CODE_DATA, "%s: expected %" PRId64 " or more elements, found %" PRId64, name, least,
                         *stride);
    if (*stride == packed)
        *stride = 0;
    return 0;
}

int problem_args_check(struct cudal2_problem *p, struct error *err)
{
    int code = settle(&p->lda, "lda", p->k, p->k, err);
    if (code == 0)
        code = settle(&p->ldb, "ldb", p->n < p->k ? p->n : p->k, p->n == p->k ? p->n : -1, err);
    return code == 0 ? settle(&p->ldc, "ldc", p->n, p->n, err) : code;
}

/* One "lda=72" of `length` bytes. */
static bool read_arg(const char *text, size_t length, struct cudal2_problem *p)
{
    for (size_t i = 0; i < ARGS; i++) {
        size_t name = strlen(arg_names[i]);
        int64_t value = 0;
        if (length <= name + 1 || length > name + 13 || strncmp(text, arg_names[i], name) != 0 || text[name] != '=' ||
            *arg_of(p, i) != 0)
            continue;
        for (size_t at = name + 1; at < length; at++) {
            if (text[at] < '0' || text[at] > '9')
                return false;
            value = 10 * value + (text[at] - '0');
        }
        *arg_of(p, i) = value;
        return value > 0;
    }
    return false;
}

int problem_args_parse(const char *text, struct cudal2_problem *problem, struct error *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (!read_arg(at, length, problem) || (at[length] == ':' && at[length + 1] == '\0'))
            return error_set(err, EXIT_CODE_DATA,
                             "expected lda, ldb or ldc with a number, each once (\"lda=72:ldc=100\"), found \"%.60s\"",
                             text);
        at += length + (at[length] == ':');
    }
    return problem_args_check(problem, err);
}

void problem_key(const struct cudal2_problem *problem, char *key)
{
    char args[PROBLEM_ARGS_MAX];
    problem_args(problem, args);
    snprintf(key, PROBLEM_KEY_MAX, "%s-%s-%" PRId64 "x%" PRId64 "x%" PRId64 "%s%s", dtype_names[problem->dtype],
             accumulate_names[problem->accumulate], problem->m, problem->n, problem->k, args[0] ? ":" : "", args);
}
