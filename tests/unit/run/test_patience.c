/* run/patience: what a machine withholds from a worker is not held against whoever runs there; the rest is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/patience.h"

#define SECOND 1000000000u

static struct process self(void)
{
    return (struct process){.fd = -1, .pid = getpid()};
}

/* A note of `seconds` whose deadline has passed. */
static struct stage_note overdue(double seconds)
{
    return (struct stage_note){.deadline_ns = clock_now_ns() - 1, .seconds = seconds, .count = 7};
}

static void who_had_its_time_is_over(void **state)
{
    const struct process process = self();
    const double seconds[] = {4, 0, -1, NAN, INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct patience p = {0};
        struct stage_note note = overdue(seconds[i]);
        assert_true(patience_ends(&p, &note, &process));
        note.deadline_ns = clock_now_ns() + 3600ull * SECOND;
        assert_false(patience_ends(&p, &note, &process));
    }
}

/* Nobody looked for ten seconds: the machine stood still, or the supervisor did. A new note does not change that. */
static void time_that_nobody_looked_does_not_count(void **state)
{
    const struct process process = self();
    struct stage_note note = overdue(4);
    (void)state;
    for (uint64_t count = 6; count <= 7; count++) {
        struct patience p = {.count = count, .looked_ns = clock_now_ns() - 10ull * SECOND};
        note.deadline_ns = clock_now_ns() - 5ull * SECOND;
        assert_false(patience_ends(&p, &note, &process));
        assert_false(patience_ends(&p, &note, &process));
        note.deadline_ns -= 10ull * SECOND;
        assert_true(patience_ends(&p, &note, &process));
    }
}

/* Of the second half of its time, a second, its threads have waited `waited` ns for a processor. */
static bool ends_after_waiting(struct patience *p, uint64_t waited)
{
    const struct process process = self();
    const struct stage_note note = overdue(2);
    p->count = note.count;
    p->looked_ns = clock_now_ns();
    p->from_ns = clock_now_ns() - p->grace_ns - SECOND;
    p->waited_ns = process_waited_ns(&process) - waited;
    struct stage_note late = note;
    late.deadline_ns -= p->grace_ns;
    return patience_ends(p, &late, &process);
}

static void who_was_not_run_gets_more(void **state)
{
    struct patience p = {0};
    (void)state;
    assert_true(ends_after_waiting(&p, 1000000));
    p = (struct patience){0};
    assert_false(ends_after_waiting(&p, SECOND / 2));
    assert_int_equal(p.extended, 1);
    assert_in_range(p.grace_ns, SECOND, 2ull * SECOND);
    assert_int_equal(p.from_ns, 0); /* counted anew */
}

static void not_without_end(void **state)
{
    struct patience p = {0};
    unsigned more = 0;
    (void)state;
    while (more < 100 && !ends_after_waiting(&p, 3600ull * SECOND))
        more++;
    assert_in_range(more, 1, 10);
}

/* Two processes on one processor: each waits for it. */
static void waiting_is_seen(void **state)
{
    cpu_set_t all, one;
    const struct process process = self();
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        skip();
    pid_t other = fork();
    while (other == 0 && getppid() != 1)
        continue;
    uint64_t before = process_waited_ns(&process), end = clock_now_ns() + 20ull * SECOND;
    while (process_waited_ns(&process) < before + 5000000 && clock_now_ns() < end)
        continue;
    bool seen = process_waited_ns(&process) >= before + 5000000;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    sched_setaffinity(0, sizeof all, &all);
    if (!seen && access("/proc/self/schedstat", R_OK) != 0)
        skip();
    assert_true(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_had_its_time_is_over),  cmocka_unit_test(time_that_nobody_looked_does_not_count),
        cmocka_unit_test(who_was_not_run_gets_more), cmocka_unit_test(not_without_end),
        cmocka_unit_test(waiting_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
