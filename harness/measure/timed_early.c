/*
 * timed_early.c - draws and reads the elements of C that timed_early.h is about. Relies on timed_state.h. Called by
 * timed.c.
 */
#include "measure/timed_early.h"

#include <string.h>

#include "base/half.h"
#include "measure/timed.h"
#include "measure/timed_state.h"

void timed_early_draw(struct bench *bench, const struct entrant *entrant)
{
    struct timed *t = bench->timed;
    const struct cudal2_problem *p = &bench->problem;
    const char *c = (const char *)timed_first_set(bench, entrant)->c;
    uint64_t ldc = (uint64_t)problem_c(p).stride;
    t->early.n = bench->judging && bench->device->probes->spots != NULL ? TIMED_SPOTS_EARLY : 0;
    t->early.bytes = dtype_bytes(p->dtype);
    for (size_t i = 0; i < t->early.n; i++) {
        uint64_t row = random_below(&t->random, (uint64_t)p->m), column = random_below(&t->random, (uint64_t)p->n);
        t->early.spots[i] = (struct probe_spot){row, column, 0, 0, false};
        t->early.at[i] = c + (size_t)(row * ldc + column) * t->early.bytes;
    }
}

void timed_early_read(struct bench *bench)
{
    struct timed_early *early = &bench->timed->early;
    for (size_t i = 0; i < early->n; i++)
        memcpy(early->raw[i], early->at[i], early->bytes);
}

size_t timed_early_take(struct bench *bench)
{
    struct timed *t = bench->timed;
    size_t n = t->early.n;
    for (size_t i = 0; i < n; i++) {
        t->spots[i] = t->early.spots[i];
        t->found[i] = (double)element_load(t->early.raw[i], bench->problem.dtype, 0);
    }
    t->early.n = 0;
    return n;
}
