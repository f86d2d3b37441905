/*
 * config.c - the names of what a config chooses among, each list in the order of its enum. Called by
 * the reader and the writer of configs, by options and by messages; and a shape as a problem.
 */
#include "model/config.h"

#include <stddef.h>

const char *const gap_names[] = {"poisson", "uniform", "fixed", NULL};
const char *const activity_names[] = {"sample", "all", "off", NULL};
const char *const kernel_choice_names[] = {"race", "zero", "table", "portfolio", NULL};
const char *const protocol_names[] = {"adaptive", "paper", NULL};
const char *const family_names[] = {"torch.matmul",
                                    "torch.matmul-full",
                                    "cublas",
                                    "cublas-autotune",
                                    "cublaslt-heuristic",
                                    "cublaslt-autotuning",
                                    "cublaslt-autotuning-32f",
                                    "cublaslt-exhaustive",
                                    "openblas",
                                    NULL};

struct cudal2_problem shape_problem(const struct shape *shape, enum cudal2_dtype dtype,
                                    enum cudal2_accumulate accumulate)
{
    return (struct cudal2_problem){.m = shape->m,
                                   .n = shape->n,
                                   .k = shape->k,
                                   .dtype = dtype,
                                   .accumulate = accumulate,
                                   .lda = shape->lda,
                                   .ldb = shape->ldb,
                                   .ldc = shape->ldc,
                                   .alpha = shape->alpha,
                                   .beta = shape->beta};
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    const struct cudal2_problem left = shape_problem(a, CUDAL2_F16, CUDAL2_ACC_F16),
                                right = shape_problem(b, CUDAL2_F16, CUDAL2_ACC_F16);
    return problem_equal(&left, &right);
}

bool choice_races(enum choice choice)
{
    return choice == CHOICE_RACE || choice == CHOICE_PORTFOLIO;
}
