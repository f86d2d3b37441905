/* tunable.c - a contender with variants for the tuner: right ones of different speed, one for small problems only, a
 * wrong one, and some that take the worker with them. $CUDAL2_TUNABLE lists the variants; default: plain,slow. */
#include "bad.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

struct tunable_state {
    struct bad_state *honest;
    char variant[32];
};

#define SMALL_M 32

static int tunable_list(const struct cudal2_setup *setup, struct cudal2_variant *out, size_t capacity, char *why)
{
    const char *names = getenv("CUDAL2_TUNABLE");
    size_t n = 0;
    (void)setup;
    (void)why;
    for (const char *at = names ? names : "plain,slow"; *at && n < capacity; n++) {
        int length = (int)strcspn(at, ",");
        snprintf(out[n].key, sizeof out[n].key, "%.*s", length, at);
        at += length + (at[length] == ',');
    }
    return (int)n;
}

static int tunable_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    void *honest = NULL;
    if (setup->variant && strcmp(setup->variant, "small") == 0 && setup->problem.m > SMALL_M) {
        snprintf(why, CUDAL2_WHY, "small is for M up to %d", SMALL_M);
        return CUDAL2_UNSUPPORTED;
    }
    struct tunable_state *s = calloc(1, sizeof *s);
    int status = s ? honest_setup(setup, &honest, why) : CUDAL2_NO_MEMORY;
    if (status != CUDAL2_OK) {
        free(s);
        return status;
    }
    s->honest = honest;
    snprintf(s->variant, sizeof s->variant, "%s", setup->variant ? setup->variant : "plain");
    *state = s;
    return CUDAL2_OK;
}

static int tunable_launch(void *state, size_t set, char *why)
{
    struct tunable_state *s = state;
    int times = strcmp(s->variant, "slow") == 0 ? 4 : strcmp(s->variant, "small") == 0 ? 1 : 2;
    if (strcmp(s->variant, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit */
        raise(SIGSEGV);
    }
    while (strcmp(s->variant, "hang") == 0)
        pause();
    if (strcmp(s->variant, "wrong") == 0) {
        memset(s->honest->sets[set].c, 0, (size_t)(s->honest->m * s->honest->n) * sizeof(float));
        return CUDAL2_OK;
    }
    for (int i = 0; i < times; i++)
        honest_launch(s->honest, set, why);
    return CUDAL2_OK;
}

static void tunable_teardown(void *state)
{
    struct tunable_state *s = state;
    honest_teardown(s->honest);
    free(s);
}

static const struct cudal2_contender contenders[] = {{.name = "tunable-nn",
                                                      .devices = CUDAL2_ON_CPU,
                                                      .dtypes = CUDAL2_BIT(CUDAL2_F32),
                                                      .accumulates = CUDAL2_BIT(CUDAL2_ACC_F32),
                                                      .layout = CUDAL2_NN,
                                                      .list_variants = tunable_list,
                                                      .setup = tunable_setup,
                                                      .launch = tunable_launch,
                                                      .teardown = tunable_teardown}};
BAD_ENTRY("tunable")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
