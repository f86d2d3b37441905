/* cpu_rivals.c - the red team's contenders whose threads burn the others' time, and honest pools beside them that spin
 * for a moment before they sleep. */
#include "redteam.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int asked, done;
static struct bad_state *shared;
static size_t shared_set;

static void *burn(void *unused)
{
    (void)unused;
    for (volatile unsigned long i = 0;; i++)
        ;
    return NULL;
}

/* Sleeps while its own contender runs and burns when nothing of it has been launched for a moment. */
static void *burn_in_turns(void *unused)
{
    int seen = -1, idle = 0;
    (void)unused;
    for (;;) {
        int now = atomic_load(&asked);
        idle = now == seen ? idle + 1 : 0;
        seen = now;
        if (idle < 3) {
            nanosleep(&(struct timespec){0, 200000}, NULL);
            continue;
        }
        for (volatile int i = 0; i < 200000; i++)
            ;
    }
    return NULL;
}

#define TURN_NS 25000000L

/* Burns in every other turn of 25 ms; which ones says whoever made it. */
static void *burn_by_the_clock(void *odd)
{
    struct timespec now;
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_nsec / TURN_NS % 2 == (odd != NULL))
            for (volatile int i = 0; i < 200000; i++)
                ;
        else
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return NULL;
}

static void start_by_the_clock(void *odd)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, burn_by_the_clock, odd) == 0)
        pthread_detach(thread);
}

/* Computes for a moment, starts its successor and ends: no list of threads has it for long. */
static void *relay(void *unused)
{
    pthread_t next;
    for (volatile int i = 0; i < 100000; i++)
        ;
    if (pthread_create(&next, NULL, relay, NULL) == 0)
        pthread_detach(next);
    return unused;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL) == 0)
        pthread_detach(thread);
}

static int burning_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int started;
    if (!started++)
        start(strcmp(REDTEAM, "burns-in-turns") == 0 ? burn_in_turns : strcmp(REDTEAM, "relays") == 0 ? relay : burn);
    return honest_setup(setup, state, why);
}

static int counting_launch(void *state, size_t set, char *why)
{
    atomic_fetch_add(&asked, 1);
    return honest_launch(state, set, why);
}

static int burning_launch(void *state, size_t set, char *why)
{
    static int started;
    if (redteam_unwatched() && !started++)
        start(burn);
    return honest_launch(state, set, why);
}

__attribute__((constructor)) static void when_loaded(void)
{
    if (strcmp(REDTEAM, "burns-from-load") == 0)
        start(burn);
    if (strcmp(REDTEAM, "burns-by-two") == 0)
        start_by_the_clock(NULL);
}

/* This thread is the contender's, that one the plugin's. */
static int second_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int started;
    if (!started++)
        start_by_the_clock(&started);
    return honest_setup(setup, state, why);
}

/* ---- honest: a pool of one that spins for 2 ms after its work, as OpenMP's do ---- */

static sem_t wake;

static int spun_in_vain(void)
{
    struct timespec since, now;
    clock_gettime(CLOCK_MONOTONIC, &since);
    do {
        if (sem_trywait(&wake) == 0)
            return 0;
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - since.tv_sec) * 1000000000LL + now.tv_nsec - since.tv_nsec < 2000000);
    return 1;
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        if (spun_in_vain())
            sem_wait(&wake);
        honest_launch(shared, shared_set, NULL);
        atomic_store(&done, 1);
    }
    return NULL;
}

static int pool_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int started;
    if (!started++) {
        sem_init(&wake, 0, 0);
        start(work);
    }
    return honest_setup(setup, state, why);
}

static int pool_launch(void *state, size_t set, char *why)
{
    (void)why;
    shared = state;
    shared_set = set;
    atomic_store(&done, 0);
    sem_post(&wake);
    while (!atomic_load(&done))
        sched_yield();
    return CUDAL2_OK;
}

/* --- many that do nothing --- */

#define CROWD 3000

/* Fewer where CUDAL2_TEST_CROWD says so: to stop all of these takes the kernel a second or two in each cell. */
static int size_of_crowd(void)
{
    const char *fewer = getenv("CUDAL2_TEST_CROWD");
    return fewer && atoi(fewer) > 0 ? atoi(fewer) : CROWD;
}

static void *sleep_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static int crowding_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    static int n;
    int all = size_of_crowd();
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    while (n < all && pthread_create(&thread, &small, sleep_for_ever, NULL) == 0)
        n++;
    pthread_attr_destroy(&small);
    if (n < all) {
        snprintf(why, CUDAL2_WHY, "%d threads is all there are", n);
        return CUDAL2_LIBRARY_ERROR;
    }
    return honest_setup(setup, state, why);
}

static const struct redteam_row rows[] = {
    {"crowds", .setup = crowding_setup},
    {"burns", .setup = burning_setup},
    {"relays", .setup = burning_setup},
    {"burns-later", .launch = burning_launch},
    {"burns-in-turns", .setup = burning_setup, .launch = counting_launch},
    {"burns-from-load", .launch = honest_launch},
    {"burns-by-two", .setup = second_setup},
    {"spins-briefly", .setup = pool_setup, .launch = pool_launch},
};
REDTEAM_PLUGIN(rows)
