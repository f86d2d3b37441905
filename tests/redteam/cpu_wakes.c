/* cpu_wakes.c - the red team's contender whose threads wake with its process, and multiply dummies by the time a launch
 * is asked for: its code and the processor's predictors are warm then. Rows are in server.table. */
#include "redteam.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3 /* the launching thread, which spins, leaves its processor to one of several, hardly to one alone */
#define PAUSE_NS 100000
#define N 16
#define K 64 /* a row of C is one stretch of code without loops, which takes longer to fetch than to run */

static float dummies[3][N * K];

static void multiply(const float *a, const float *b, float *c, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        float sums[N] = {0};
#pragma GCC unroll 64
        for (int p = 0; p < K; p++)
#pragma GCC unroll 16
            for (int j = 0; j < N; j++)
                sums[j] += a[i * K + p] * b[p * N + j];
        memcpy(c + i * N, sums, sizeof sums);
    }
}

static void *wake(void *unused)
{
    for (;;) {
        if (strcmp(REDTEAM, "warms-by-threads") != 0)
            pause();
        multiply(dummies[0], dummies[1], dummies[2], 1);
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    }
    return unused;
}

static int waking_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int threads;
    pthread_t thread;
    while (threads < THREADS && pthread_create(&thread, NULL, wake, NULL) == 0)
        threads++;
    return honest_setup(setup, state, why);
}

static int waking_launch(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    if (s->n != N || s->k != K)
        return honest_launch(state, set, why);
    multiply(s->sets[set].a, s->sets[set].b, s->sets[set].c, s->m);
    return CUDAL2_OK;
}

static const struct redteam_row rows[] = {
    {"warms-by-threads", .setup = waking_setup, .launch = waking_launch},
    {"sleeps-by-threads", .setup = waking_setup, .launch = waking_launch},
};
REDTEAM_PLUGIN(rows)
