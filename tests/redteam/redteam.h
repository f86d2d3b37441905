/*
 * redteam.h - what the contenders of the CPU red team share. One source file holds a family of them in a table; the
 * name that it is linked with (mk/redteam.mk), or -DREDTEAM='"name"' (try.sh), chooses the row. The name of a contender
 * is nowhere in the harness.
 */
#ifndef CUDAL2_TESTS_REDTEAM_H
#define CUDAL2_TESTS_REDTEAM_H

#include "../fixtures/plugins/bad.h"

#include <string.h>

#ifndef REDTEAM
extern const char redteam_name[];
#define REDTEAM redteam_name
#endif

/* Hooks left NULL are the honest ones of bad.h. */
struct redteam_row {
    const char *name;
    int (*launch)(void *state, size_t set, char *why);
    int (*setup)(const struct cudal2_setup *setup, void **state, char *why);
    void (*teardown)(void *state);
    uint32_t flags;
};

/* True from the 21st launch on: more than verification and a first estimate ask for, fewer than a cell times. */
static inline int redteam_unwatched(void)
{
    static unsigned launches;
    return ++launches > 20;
}

static inline size_t redteam_bytes_of_c(const struct bad_state *s)
{
    return (size_t)(s->m * s->n) * sizeof(float);
}

#define REDTEAM_PLUGIN(rows)                                                                                           \
    const uint32_t cudal2_plugin_abi = CUDAL2_ABI;                                                                     \
    const struct cudal2_plugin *cudal2_plugin(void)                                                                    \
    {                                                                                                                  \
        static char name[64];                                                                                          \
        static struct cudal2_contender contender = {.name = name,                                                      \
                                                    .devices = CUDAL2_ON_CPU,                                          \
                                                    .dtypes = CUDAL2_BIT(CUDAL2_F32),                                  \
                                                    .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),                         \
                                                    .layout = CUDAL2_NN};                                              \
        static const struct cudal2_plugin plugin = {.name = REDTEAM, .contenders = &contender, .n_contenders = 1};     \
        snprintf(name, sizeof name, "%s-nn", REDTEAM);                                                                 \
        for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) {                                                   \
            if (strcmp((rows)[i].name, REDTEAM) != 0)                                                                  \
                continue;                                                                                              \
            contender.launch = (rows)[i].launch ? (rows)[i].launch : honest_launch;                                    \
            contender.setup = (rows)[i].setup ? (rows)[i].setup : honest_setup;                                        \
            contender.teardown = (rows)[i].teardown ? (rows)[i].teardown : honest_teardown;                            \
            contender.flags = (rows)[i].flags;                                                                         \
            return &plugin;                                                                                            \
        }                                                                                                              \
        return NULL;                                                                                                   \
    }

#endif
