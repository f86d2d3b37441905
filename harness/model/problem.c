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
           a->lda == b->lda && a->ldb == b->ldb && a->ldc == b->ldc && problem_alpha(a) == problem_alpha(b) &&
           a->beta == b->beta;
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

bool problem_is_scaled(const struct cudal2_problem *p)
{
    return problem_alpha(p) != 1 || problem_reads_c(p);
}

bool problem_is_plain(const struct cudal2_problem *p)
{
    return problem_is_packed(p) && !problem_is_scaled(p);
}

struct cudal2_problem problem_plain(const struct cudal2_problem *problem)
{
    struct cudal2_problem p = *problem;
    p.lda = p.ldb = p.ldc = 0;
    p.alpha = p.beta = 0;
    return p;
}

struct cudal2_problem problem_full(const struct cudal2_problem *problem, enum cudal2_layout layout)
{
    struct cudal2_problem p = *problem;
    p.lda = problem_a(problem).stride;
    p.ldb = problem_b(problem, layout).stride;
    p.ldc = problem_c(problem).stride;
    p.alpha = problem_alpha(problem);
    return p;
}

/* ---- as words ---- */

static const char *const stride_names[] = {"lda", "ldb", "ldc"};
#define STRIDES (sizeof stride_names / sizeof stride_names[0])
#define STRIDE_MAX ((int64_t)1 << 40)
static const char *const scale_names[] = {"alpha", "beta"};
#define SCALES (sizeof scale_names / sizeof scale_names[0])

static int64_t *stride_of(struct cudal2_problem *p, size_t which)
{
    int64_t *const all[STRIDES] = {&p->lda, &p->ldb, &p->ldc};
    return all[which];
}

static double *scale_of(struct cudal2_problem *p, size_t which)
{
    return which == 0 ? &p->alpha : &p->beta;
}

/* Text that grows behind what is there. */
struct words {
    char *text;
    size_t used;
};

static void add_word(struct words *w, const char *name, const char *sign, int64_t whole, const char *fraction)
{
    w->used += (size_t)snprintf(w->text + w->used, PROBLEM_ARGS_MAX - w->used, "%s%s=%s%" PRId64 "%s",
                                w->used > 0 ? ":" : "", name, sign, whole, fraction);
}

/* Of a multiple of an eighth; no locale has a say in it. */
static void add_scale(struct words *w, const char *name, double value)
{
    static const char *const fractions[PROBLEM_SCALE_PARTS] = {"", ".125", ".25", ".375", ".5", ".625", ".75", ".875"};
    int64_t parts = (int64_t)((value < 0 ? -value : value) * PROBLEM_SCALE_PARTS);
    add_word(w, name, value < 0 ? "-" : "", parts / PROBLEM_SCALE_PARTS, fractions[parts % PROBLEM_SCALE_PARTS]);
}

void problem_args(const struct cudal2_problem *problem, char *text)
{
    struct cudal2_problem p = *problem;
    struct words w = {text, 0};
    text[0] = '\0';
    for (size_t i = 0; i < STRIDES; i++)
        if (*stride_of(&p, i) != 0)
            add_word(&w, stride_names[i], "", *stride_of(&p, i), "");
    if (problem_alpha(&p) != 1)
        add_scale(&w, "alpha", p.alpha);
    if (problem_reads_c(&p))
        add_scale(&w, "beta", p.beta);
}

/* What is as in a packed problem becomes 0, so that one problem has one name. */
static int settle(int64_t *stride, const char *name, int64_t least, int64_t packed, struct error *err)
{
    if (*stride != 0 && (*stride < least || *stride > STRIDE_MAX))
        return error_set(err, EXIT_CODE_DATA, "%s: expected %" PRId64 " or more elements, found %" PRId64, name, least,
                         *stride);
    if (*stride == packed)
        *stride = 0;
    return 0;
}

static bool is_scale(double value)
{
    double parts = value * PROBLEM_SCALE_PARTS;
    return value >= -PROBLEM_SCALE_MAX && value <= PROBLEM_SCALE_MAX && parts == (double)(int64_t)parts;
}

static int settle_scales(struct cudal2_problem *p, struct error *err)
{
    for (size_t i = 0; i < SCALES; i++)
        if (!is_scale(*scale_of(p, i)))
            return error_set(err, EXIT_CODE_DATA, "%s: expected a multiple of 1/%d from -%d to %d", scale_names[i],
                             PROBLEM_SCALE_PARTS, PROBLEM_SCALE_MAX, PROBLEM_SCALE_MAX);
    p->alpha = problem_alpha(p) == 1 ? 0 : p->alpha;
    p->beta = problem_reads_c(p) ? p->beta : 0; /* -0 too */
    return 0;
}

int problem_args_check(struct cudal2_problem *p, struct error *err)
{
    int code = settle(&p->lda, "lda", p->k, p->k, err);
    if (code == 0)
        code = settle(&p->ldb, "ldb", p->n < p->k ? p->n : p->k, p->n == p->k ? p->n : -1, err);
    if (code == 0)
        code = settle(&p->ldc, "ldc", p->n, p->n, err);
    return code == 0 ? settle_scales(p, err) : code;
}

/* The digits of `text` up to `length`, at least one and at most `most`. */
static bool read_digits(const char *text, size_t length, size_t most, int64_t *out)
{
    *out = 0;
    for (size_t at = 0; at < length; at++) {
        if (text[at] < '0' || text[at] > '9')
            return false;
        *out = 10 * *out + (text[at] - '0');
    }
    return length > 0 && length <= most;
}

/* "-0.125": one digit, up to three behind a point. */
static bool read_scale(const char *text, size_t length, double *out)
{
    bool negative = length > 0 && text[0] == '-';
    const char *digits = text + negative, *point = memchr(text, '.', length);
    size_t left = length - negative, whole_length = point ? (size_t)(point - digits) : left;
    size_t more = point ? left - whole_length - 1 : 0;
    int64_t whole = 0, fraction = 0;
    if (!read_digits(digits, whole_length, 1, &whole) || (point && !read_digits(point + 1, more, 3, &fraction)))
        return false;
    for (size_t i = more; i < 3; i++)
        fraction *= 10;
    *out = (negative ? -1 : 1) * ((double)whole + (double)fraction / 1000);
    return true;
}

/* The value behind "NAME=" in `length` bytes at `text`; NULL when it begins otherwise. */
static const char *value_of(const char *text, size_t length, const char *name)
{
    size_t of_name = strlen(name);
    bool named = length > of_name + 1 && strncmp(text, name, of_name) == 0 && text[of_name] == '=';
    return named ? text + of_name + 1 : NULL;
}

/* One "lda=72" or "beta=0.5" of `length` bytes. An alpha of 0 is no product. */
static bool read_arg(const char *text, size_t length, struct cudal2_problem *p)
{
    for (size_t i = 0; i < STRIDES; i++) {
        const char *value = value_of(text, length, stride_names[i]);
        if (value != NULL)
            return *stride_of(p, i) == 0 && read_digits(value, length - (size_t)(value - text), 12, stride_of(p, i)) &&
                   *stride_of(p, i) > 0;
    }
    for (size_t i = 0; i < SCALES; i++) {
        const char *value = value_of(text, length, scale_names[i]);
        if (value != NULL)
            return *scale_of(p, i) == 0 && read_scale(value, length - (size_t)(value - text), scale_of(p, i)) &&
                   (i > 0 || p->alpha != 0);
    }
    return false;
}

int problem_args_parse(const char *text, struct cudal2_problem *problem, struct error *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ":");
        if (!read_arg(at, length, problem) || (at[length] == ':' && at[length + 1] == '\0'))
            return error_set(err, EXIT_CODE_DATA,
                             "expected lda, ldb, ldc, alpha (not 0) or beta with a number, each once "
                             "(\"lda=72:beta=0.5\"), found \"%.60s\"",
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

/* A minus may stand behind a colon. */
const char *problem_key_sizes(const char *key)
{
    const char *sizes = key;
    for (const char *at = key; *at != '\0' && *at != ':'; at++)
        if (*at == '-')
            sizes = at + 1;
    return sizes;
}
