/* cpu_signals.c - the red team's contenders whose signal handler multiplies dummies ahead of a launch, to have code and
 * predictors warm for it: when the process goes on (SIGCONT), or when a timer has expired that the launch before has
 * set. Launches fail once the handler has run ahead of most, so that no table depends on how much that gains. */
#include "redteam.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define TIMER_US 30 /* its process is mostly stopped by then */
#define LAUNCHES 16 /* of which most tell: on a busy machine a timer may expire right behind its launch */

enum kind { GOING_ON, INTERVAL, POSIX };

static enum kind kind;
static timer_t posix_timer;
static int has_timer;
static volatile sig_atomic_t handled;
static float dummies[3][16 * 16];
static struct cudal2_operands dummy_set = {dummies[0], dummies[1], dummies[2]};
static struct bad_state dummy = {.sets = &dummy_set, .m = 16, .n = 16, .k = 16};

static void warm(int signal_number)
{
    (void)signal_number;
    for (int i = 0; i < 3; i++)
        honest_launch(&dummy, 0, NULL);
    handled = handled + 1;
}

static int signal_of(enum kind of)
{
    static const int signals[] = {SIGCONT, SIGALRM, SIGUSR2};
    return signals[of];
}

static void take_signal(int number)
{
    const struct sigaction action = {.sa_handler = warm, .sa_flags = SA_RESTART};
    sigset_t one;
    sigaction(number, &action, NULL);
    sigemptyset(&one);
    sigaddset(&one, number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void set_timer(void)
{
    const struct itimerval interval = {.it_value = {0, TIMER_US}};
    const struct itimerspec once = {.it_value = {0, TIMER_US * 1000}};
    if (kind == INTERVAL)
        setitimer(ITIMER_REAL, &interval, NULL);
    else if (has_timer)
        timer_settime(posix_timer, 0, &once, NULL);
}

static int signals_setup(const struct cudal2_setup *setup, void **state, char *why)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    kind = strcmp(REDTEAM, "warms-going-on") == 0   ? GOING_ON
           : strcmp(REDTEAM, "warms-by-timer") == 0 ? INTERVAL
                                                    : POSIX;
    if (kind == POSIX && !has_timer)
        has_timer = timer_create(CLOCK_MONOTONIC, &event, &posix_timer) == 0;
    take_signal(signal_of(kind));
    handled = 0; /* what was pending is no matter */
    return honest_setup(setup, state, why);
}

static int runs_ahead(void)
{
    static unsigned launches, ahead;
    launches++;
    ahead += handled > 0;
    return launches >= LAUNCHES && 2 * ahead > launches;
}

static int signals_launch(void *state, size_t set, char *why)
{
    if (runs_ahead()) {
        snprintf(why, CUDAL2_WHY, "the handler ran ahead of most launches");
        return CUDAL2_LIBRARY_ERROR;
    }
    int status = honest_launch(state, set, why);
    take_signal(signal_of(kind)); /* what is pending is handled here, on the launch's own time */
    handled = 0;
    if (kind != GOING_ON)
        set_timer();
    return status;
}

static const struct redteam_row rows[] = {
    {"warms-going-on", .setup = signals_setup, .launch = signals_launch},
    {"warms-by-timer", .setup = signals_setup, .launch = signals_launch},
    {"warms-by-posix-timer", .setup = signals_setup, .launch = signals_launch},
};
REDTEAM_PLUGIN(rows)
