/*
 * bad.h - the honest parts that misbehaving plugins share: a plain f32 GEMM in NN layout, and the declarations.
 */
#ifndef CUDAL2_TESTS_BAD_H
#define CUDAL2_TESTS_BAD_H

#include "abi/contender.h"

#include <stdio.h>
#include <stdlib.h>

struct bad_state {
    const struct cudal2_operands *sets;
    int64_t m, n, k;
    unsigned long launches;
};

static inline int honest_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct bad_state *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    s->sets = setup->sets;
    s->m = setup->problem.m;
    s->n = setup->problem.n;
    s->k = setup->problem.k;
    *state = s;
    return CUDAL2_OK;
}

static inline int honest_launch(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a;
    const float *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    for (int64_t i = 0; i < s->m; i++) {
        for (int64_t j = 0; j < s->n; j++)
            c[i * s->n + j] = 0.0f;
        for (int64_t p = 0; p < s->k; p++)
            for (int64_t j = 0; j < s->n; j++)
                c[i * s->n + j] += a[i * s->k + p] * b[p * s->n + j];
    }
    return CUDAL2_OK;
}

static inline void honest_teardown(void *state)
{
    free(state);
}

#define BAD_CONTENDER(contender_name, setup_hook, launch_hook)                                                         \
    static const struct cudal2_contender contenders[] = {{.name = contender_name,                                      \
                                                          .devices = CUDAL2_ON_CPU,                                    \
                                                          .dtypes = CUDAL2_BIT(CUDAL2_F32),                            \
                                                          .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),                   \
                                                          .layout = CUDAL2_NN,                                         \
                                                          .setup = setup_hook,                                         \
                                                          .launch = launch_hook,                                       \
                                                          .teardown = honest_teardown}}

#define BAD_ENTRY(plugin_name)                                                                                         \
    static const struct cudal2_plugin plugin = {.name = plugin_name, .contenders = contenders, .n_contenders = 1};     \
    const struct cudal2_plugin *cudal2_plugin(void)                                                                    \
    {                                                                                                                  \
        return &plugin;                                                                                                \
    }

#endif
