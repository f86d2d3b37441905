/* bad_wrong.c - one element of C, the last, is too large by one. */
#include "bad.h"

static int wrong_launch(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    int status = honest_launch(state, set, why);
    float *c = s->sets[set].c;
    c[s->m * s->n - 1] += 1.0f;
    return status;
}

BAD_CONTENDER("bad-wrong-nn", honest_setup, wrong_launch);
BAD_ENTRY("bad-wrong")

const uint32_t cudal2_plugin_abi = CUDAL2_ABI;
