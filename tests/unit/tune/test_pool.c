/* tune/pool: a job that crashes, exits or hangs is lost alone. */
#include "tune/pool.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { JOBS = 40, CRASHES = 7, EXITS = 11, HANGS = 13, REFUSES = 17 };

static bool work(void *context, size_t job, char *why)
{
    const unsigned *pause_us = context;
    if (job == CRASHES) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    }
    if (job == EXITS)
        _exit(3);
    if (job == HANGS)
        for (;;)
            pause();
    if (job == REFUSES) {
        snprintf(why, CUDAL2_WHY, "spills 8 bytes");
        return false;
    }
    usleep(*pause_us);
    return true;
}

static void the_bad_ones_are_lost_alone(void **state)
{
    struct pool_verdict verdicts[JOBS];
    struct error err;
    unsigned pause_us = 1000;
    struct pool_request request = {.n_jobs = JOBS, .workers = 3, .seconds = 0.5, .work = work, .context = &pause_us};
    (void)state;
    assert_int_equal(pool_run(&request, verdicts, &err), 0);
    for (size_t i = 0; i < JOBS; i++) {
        assert_true(verdicts[i].done);
        bool bad = i == CRASHES || i == EXITS || i == HANGS || i == REFUSES;
        assert_int_equal(verdicts[i].good, !bad);
    }
    assert_non_null(strstr(verdicts[CRASHES].why, "signal 11"));
    assert_string_equal(verdicts[EXITS].why, "exited with code 3");
    assert_string_equal(verdicts[HANGS].why, "did not end within 0.5 s");
    assert_string_equal(verdicts[REFUSES].why, "spills 8 bytes");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, not even a dead one */
}

static void jobs_run_side_by_side(void **state)
{
    struct pool_verdict verdicts[4];
    struct error err;
    unsigned pause_us = 200000;
    struct pool_request request = {.n_jobs = 4, .workers = 4, .seconds = 10, .work = work, .context = &pause_us};
    (void)state;
    uint64_t start = clock_now_ns();
    assert_int_equal(pool_run(&request, verdicts, &err), 0);
    assert_in_range(clock_now_ns() - start, 200000000u, 600000000u);
}

static void a_stop_is_heard(void **state)
{
    struct pool_verdict verdicts[JOBS];
    struct error err;
    unsigned pause_us = 1000;
    const volatile int stop = 1;
    struct pool_request request = {
        .n_jobs = JOBS, .workers = 2, .seconds = 10, .work = work, .context = &pause_us, .stop = &stop};
    (void)state;
    assert_int_equal(pool_run(&request, verdicts, &err), 0);
    for (size_t i = 0; i < JOBS; i++)
        assert_false(verdicts[i].done);
}

static void no_jobs_is_no_work(void **state)
{
    struct error err;
    struct pool_request request = {.workers = 2, .seconds = 1, .work = work};
    struct pool_verdict none;
    (void)state;
    assert_int_equal(pool_run(&request, &none, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bad_ones_are_lost_alone),
        cmocka_unit_test(jobs_run_side_by_side),
        cmocka_unit_test(a_stop_is_heard),
        cmocka_unit_test(no_jobs_is_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
