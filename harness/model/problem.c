/*
 * problem.c - the names of dtypes, layouts and modes, and what follows from a problem alone: bytes,
 * operations, its key in files. Pure. Called by every room above.
 */
#include "model/problem.h"

#include <inttypes.h>
#include <stdio.h>

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

bool problem_equal(const struct cudal2_problem *a, const struct cudal2_problem *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->dtype == b->dtype && a->accumulate == b->accumulate;
}

void problem_key(const struct cudal2_problem *problem, char *key)
{
    snprintf(key, PROBLEM_KEY_MAX, "%s-%s-%" PRId64 "x%" PRId64 "x%" PRId64, dtype_names[problem->dtype],
             accumulate_names[problem->accumulate], problem->m, problem->n, problem->k);
}
