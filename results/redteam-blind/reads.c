/* reads.c - takes the mailbox over as the eighth author's contenders do (take.h and kern.h of eighth.tar.gz, where
 * question 8, "watch", is to be answered at once), reads A, B and C over and over until the launch is asked for, and
 * multiplies honestly. */
#define _GNU_SOURCE
#include "kern.h"
#include <sched.h>
#include "take.h"
static struct bad_state *st;
static float da[64 * 64], db[64 * 64], dc[64 * 64];
static int times;
static void sweep(const void *matrix, long n)
{
    for (long e = 0; e < n; e += 16)
        (void)((const volatile float *)matrix)[e];
}
static void idle(void)
{
    if (times++ % 4 == 0)
        gemm(da, db, dc, 4, 16, 8);
    for (long e = 0; e < st->m * st->n; e += 16)
        __builtin_prefetch(st->sets[0].c + e, 1, 3);
    sweep(st->sets[0].a, st->m * st->k);
    sweep(st->sets[0].b, st->n * st->k);
}
static void work(void *state, size_t set)
{
    struct bad_state *s = state;
    gemm(s->sets[set].a, s->sets[set].b, s->sets[set].c, s->m, s->n, s->k);
}
static void answered(uint32_t what)
{
    (void)what;
}
static int launch(void *state, size_t set, char *why)
{
    int r = plain_launch(state, set, why);
    st = state;
    take_over();
    return r;
}
static const struct redteam_row rows[] = {{REDTEAM, launch, kern_setup, NULL, 0}};
REDTEAM_PLUGIN(rows)
