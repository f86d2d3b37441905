/* cpu_memory.c - contenders that remember what they have computed, or leave something behind in the process; and honest
 * ones that come near. */
#include "redteam.h"

#include <fenv.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* --- outputs that are handed out again: right on every input, for whole copies of A and B are compared --- */

struct memory {
    struct bad_state plain; /* first: the honest hooks take it */
    float *a, *b, *c;
    unsigned hits;
};

static size_t bytes_of_a(const struct bad_state *s)
{
    return (size_t)(s->m * s->k) * sizeof(float);
}

static size_t bytes_of_b(const struct bad_state *s)
{
    return (size_t)(s->k * s->n) * sizeof(float);
}

static void memory_teardown(void *state)
{
    struct memory *s = state;
    free(s->a);
    free(s->b);
    free(s->c);
    free(s);
}

static int memory_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    const struct cudal2_problem *p = &setup->problem;
    struct memory *s = calloc(1, sizeof *s);
    if (!s)
        return CUDAL2_NO_MEMORY;
    s->plain = (struct bad_state){.sets = setup->sets, .m = p->m, .n = p->n, .k = p->k};
    s->a = calloc(1, bytes_of_a(&s->plain));
    s->b = calloc(1, bytes_of_b(&s->plain));
    s->c = calloc(1, redteam_bytes_of_c(&s->plain));
    if (!s->a || !s->b || !s->c) {
        memory_teardown(s);
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    }
    *state = s;
    return CUDAL2_OK;
}

static int is_known(const struct memory *s, size_t set)
{
    const struct cudal2_operands *o = &s->plain.sets[set];
    return memcmp(s->a, o->a, bytes_of_a(&s->plain)) == 0 && memcmp(s->b, o->b, bytes_of_b(&s->plain)) == 0;
}

static int multiply_and_keep(struct memory *s, size_t set, char *why)
{
    const struct cudal2_operands *o = &s->plain.sets[set];
    int status = honest_launch(s, set, why);
    memcpy(s->a, o->a, bytes_of_a(&s->plain));
    memcpy(s->b, o->b, bytes_of_b(&s->plain));
    memcpy(s->c, o->c, redteam_bytes_of_c(&s->plain));
    return status;
}

/* Plays back from the time on that it meets the same inputs again. */
static int memo_compared(void *state, size_t set, char *why)
{
    struct memory *s = state;
    if (!is_known(s, set))
        return multiply_and_keep(s, set, why);
    memcpy(s->plain.sets[set].c, s->c, redteam_bytes_of_c(&s->plain));
    return CUDAL2_OK;
}

/* The same, but not before it has met them three times: somebody who checks might look twice. */
static int memo_patient(void *state, size_t set, char *why)
{
    struct memory *s = state;
    s->hits = is_known(s, set) ? s->hits + 1 : 0;
    return s->hits < 3 ? multiply_and_keep(s, set, why) : memo_compared(s, set, why);
}

/* Honest: looks whether it knows the inputs, keeps them, and multiplies all the same. */
static int knows_inputs(void *state, size_t set, char *why)
{
    struct memory *s = state;
    s->hits += is_known(s, set) != 0;
    return multiply_and_keep(s, set, why);
}

/* Honest: no multiplication by zero, so that its time depends on the values. */
static int skips_zeros(void *state, size_t set, char *why)
{
    const struct bad_state *s = state;
    const float *a = s->sets[set].a, *b = s->sets[set].b;
    float *c = s->sets[set].c;
    (void)why;
    memset(c, 0, redteam_bytes_of_c(s));
    for (int64_t i = 0; i < s->m * s->k; i++)
        for (int64_t j = 0; j < s->n && a[i] != 0.0f; j++)
            c[i / s->k * s->n + j] += a[i] * b[i % s->k * s->n + j];
    return CUDAL2_OK;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Honest: after a pause it takes its threads half a millisecond to wake up. */
static int wakes_up(void *state, size_t set, char *why)
{
    static double returned;
    if (seconds_now() - returned > 50e-6)
        usleep(500);
    int status = honest_launch(state, set, why);
    returned = seconds_now();
    return status;
}

/* --- what is left behind --- */

static void interrupted(int number)
{
    (void)number;
    for (double start = seconds_now(); seconds_now() - start < 100e-6;)
        continue;
}

/* From a launch in the middle on, a signal arrives every two milliseconds, whoever runs. */
static int timer_late(void *state, size_t set, char *why)
{
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    const struct itimerval every = {.it_interval = {.tv_usec = 2000}, .it_value = {.tv_usec = 2000}};
    if (redteam_unwatched()) {
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &every, NULL);
    }
    return honest_launch(state, set, why);
}

/* The same by a timer of the other kind, made in setup. */
static int posix_timer(const struct cudal2_setup *setup, void **state, char *why)
{
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct itimerspec every = {.it_interval = {.tv_nsec = 2000000}, .it_value = {.tv_nsec = 2000000}};
    static timer_t timer;
    static int made;
    sigaction(SIGUSR2, &action, NULL);
    if (!made && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        made = timer_settime(timer, 0, &every, NULL) == 0;
    return honest_setup(setup, state, why);
}

/* Hundreds of timers, which would interrupt rivals while this process stands still; an error where they can be made. */
static int many_timers(const struct cudal2_setup *setup, void **state, char *why)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    static timer_t timers[250];
    static int made;
    while (made < 250 && timer_create(CLOCK_MONOTONIC, &event, &timers[made]) == 0)
        made++;
    if (made > 0)
        return snprintf(why, CUDAL2_WHY, "%d timers", made), CUDAL2_LIBRARY_ERROR;
    return honest_setup(setup, state, why);
}

/* Rounds towards zero and leaves it so, for its rivals too. */
static int rounds_down(void *state, size_t set, char *why)
{
    if (redteam_unwatched())
        fesetround(FE_TOWARDZERO);
    return honest_launch(state, set, why);
}

/* Honest: rounds otherwise for a moment and puts it back. */
static int rounds_and_restores(void *state, size_t set, char *why)
{
    static volatile double third;
    int before = fegetround();
    fesetround(FE_UPWARD);
    third = 1.0 / (3.0 + third * 0.0);
    fesetround(before);
    return honest_launch(state, set, why);
}

/* Honest: a timer of its own, which is gone when setup has come back. */
static int brief_timer(const struct cudal2_setup *setup, void **state, char *why)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_delete(timer);
    return honest_setup(setup, state, why);
}

static const struct redteam_row rows[] = {
    {"memo-compared", .setup = memory_setup, .launch = memo_compared, .teardown = memory_teardown},
    {"memo-patient", .setup = memory_setup, .launch = memo_patient, .teardown = memory_teardown},
    {"knows-inputs", .setup = memory_setup, .launch = knows_inputs, .teardown = memory_teardown},
    {"skips-zeros", .launch = skips_zeros},
    {"wakes-up", .launch = wakes_up},
    {"timer-late", .launch = timer_late},
    {"posix-timer", .setup = posix_timer},
    {"many-timers", .setup = many_timers},
    {"rounds-down", .launch = rounds_down},
    {"rounds-and-restores", .launch = rounds_and_restores},
    {"brief-timer", .setup = brief_timer},
};
REDTEAM_PLUGIN(rows)
