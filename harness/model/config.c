/*
 * config.c - the names of what a config chooses among, each list in the order of its enum. Constants only. Called by
 * the reader and the writer of configs, by options and by messages.
 */
#include "model/config.h"

#include <stddef.h>

const char *const gap_names[] = {"poisson", "uniform", "fixed", NULL};
const char *const activity_names[] = {"sample", "all", "off", NULL};
const char *const kernel_choice_names[] = {"race", "zero", "table", NULL};
const char *const protocol_names[] = {"adaptive", "paper", NULL};
const char *const family_names[] = {"torch.matmul",        "torch.matmul-full",  "cublas",
                                    "cublas-autotune",     "cublaslt-heuristic", "cublaslt-autotuning",
                                    "cublaslt-exhaustive", "openblas",           NULL};
