/*
 * ahead.c - gives a contender new inputs without a launch and looks whether its threads compute. Relies on
 * device/host_threads.h and measure/timed.h. Called by honesty.c.
 */
#include "verify/ahead.h"

#include <string.h>

#include "base/clock.h"
#include "measure/timed.h"
#include "verify/rivals.h"

#define WINDOW_NS 3e5 /* work that is of use begins at once */
#define WAIT_NS 100e6 /* longer than a window, for threads that a busy machine keeps waiting */
#define RESTS_NS 100e6
#define REST_SHARE 0.2     /* of a window, at most: who asks every 100 us whether there is work is at rest */
#define WORK_LEAST_NS 60e3 /* beyond what was taken at rest: three times what such a thread may have more by chance */

/* Also what is nobody's: no other contender's threads answer to this one's inputs, six times. */
static bool may_be_of(const struct host_thread *thread, const struct entrant *e)
{
    return rivals_is_of(e, thread->owner) || strcmp(thread->owner, HOST_THREADS_NOBODY) == 0;
}

/* ns of processor time that the entrant's threads have had since the mark. */
static double take(const struct bench *bench, const struct entrant *e)
{
    double sum = 0;
    for (size_t i = 0; i < bench->threads->n; i++)
        if (may_be_of(&bench->threads->list[i], e))
            sum += (double)host_threads_one_since(&bench->threads->list[i]);
    return sum;
}

static bool any_runnable(const struct bench *bench, const struct entrant *e)
{
    for (size_t i = 0; i < bench->threads->n; i++)
        if (may_be_of(&bench->threads->list[i], e) && host_threads_one_runnable(&bench->threads->list[i]))
            return true;
    return false;
}

/* What they take in a window of nothing, in *taken; false: they do not come to rest. On a busy machine work may be left
 * of which no window has seen anything yet. */
static bool come_to_rest(const struct bench *bench, const struct entrant *e, double *taken)
{
    uint64_t end = clock_now_ns() + (uint64_t)RESTS_NS;
    bool rests;
    do {
        host_threads_mark(bench->threads);
        (void)clock_wait_until(clock_now_ns() + (uint64_t)WINDOW_NS);
        *taken = take(bench, e);
        rests = *taken <= REST_SHARE * WINDOW_NS && !any_runnable(bench, e);
    } while (!rests && clock_now_ns() < end);
    return rests;
}

/* Waits out a window that began at the mark, and longer for who has begun. Returns its end. */
static uint64_t watch(const struct bench *bench, const struct entrant *e)
{
    uint64_t now = clock_wait_until(clock_now_ns() + (uint64_t)WINDOW_NS), end = now + (uint64_t)WAIT_NS;
    while (now < end && any_runnable(bench, e))
        now = clock_wait_until(now + (uint64_t)WINDOW_NS);
    return now;
}

/* Whether one of them took so much of a window, but for the time that it waited for a processor. */
static bool takes_much(const struct bench *bench, const struct entrant *e, double passed)
{
    for (size_t i = 0; i < bench->threads->n; i++) {
        const struct host_thread *thread = &bench->threads->list[i];
        double could = passed - (double)host_threads_one_waited(thread);
        if (may_be_of(thread, e) && (double)host_threads_one_since(thread) > REST_SHARE * could)
            return true;
    }
    return false;
}

static int try_once(struct timed_check *t, struct error *err)
{
    struct bench *bench = t->bench;
    struct entrant *e = t->entrant;
    double at_rest;
    if (!come_to_rest(bench, e, &at_rest))
        return 0;
    host_threads_mark(bench->threads);
    uint64_t start = clock_now_ns();
    int code = timed_put(bench, e, 0, timed_draw(bench), err);
    if (code != 0)
        return code;
    double passed = (double)(watch(bench, e) - start), taken = take(bench, e);
    e->ahead.trials++;
    if (taken - at_rest > WORK_LEAST_NS && takes_much(bench, e, passed)) {
        e->ahead.hits++;
        e->ahead.latest_ns = taken;
    }
    return 0;
}

static bool has_threads(const struct bench *bench, const struct entrant *e)
{
    for (size_t i = 0; i < bench->threads->n; i++)
        if (may_be_of(&bench->threads->list[i], e))
            return true;
    return false;
}

int ahead_check(struct timed_check *t, struct error *err)
{
    const struct ahead_counts *counts = &t->entrant->ahead;
    int code = 0;
    if (!rivals_are_watched(t->bench) || !timed_renews(t->bench) || !has_threads(t->bench, t->entrant))
        return 0;
    for (unsigned i = 0; i < AHEAD_TRIALS && code == 0; i++)
        code = try_once(t, err);
    if (code == 0 && counts->hits >= AHEAD_HITS && 3 * counts->hits >= 2 * counts->trials)
        timed_check_convict(t, VERDICT_EARLY_WORK,
                            "its threads computed for %.0f us when its inputs were new and nothing had been launched, "
                            "%u times of %u",
                            counts->latest_ns * 1e-3, counts->hits, counts->trials);
    return code;
}
