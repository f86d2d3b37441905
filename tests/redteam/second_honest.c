/*
 * second_honest.c - the second author's honest contenders, each a step away from a cheat.
 */
#include "redteam.h"

struct private_state {
    struct bad_state plain;
    struct cudal2_operands mine; /* the operands of the launch at hand with a C of our own */
};

static void private_teardown(void *state)
{
    struct private_state *s = state;
    free(s->mine.c);
    free(s);
}

static int private_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct private_state *s = calloc(1, sizeof *s);
    if (s) {
        s->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
        s->mine.c = malloc(redteam_bytes_of_c(&s->plain));
    }
    if (!s || !s->mine.c) {
        free(s);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *state = s;
    return CUDAL2_OK;
}

/* Multiplies into a buffer that outlives the launch and copies it to C, as a cache would, but multiplies every time. */
static int private_result(void *state, size_t set, char *why)
{
    struct private_state *s = state;
    s->mine.a = s->plain.sets[set].a;
    s->mine.b = s->plain.sets[set].b;
    struct bad_state elsewhere = {.sets = &s->mine, .m = s->plain.m, .n = s->plain.n, .k = s->plain.k};
    int status = honest_launch(&elsewhere, 0, why);
    memcpy(s->plain.sets[set].c, s->mine.c, redteam_bytes_of_c(&s->plain));
    return status;
}

/* Warms up in setup, as the contract allows: two launches of every operand set. */
static int warm_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    int status = honest_setup(setup, state, why);
    for (size_t i = 0; status == CUDAL2_OK && i < 2 * setup->n_sets; i++)
        honest_launch(*state, i / 2, why);
    return status;
}

static const struct redteam_row rows[] = {
    {"private-result", .setup = private_setup, .launch = private_result, .teardown = private_teardown},
    {"warms-in-setup", .setup = warm_setup},
};
REDTEAM_PLUGIN(rows)
