/* device/host_state.c: every change that it names, and that restoring undoes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <fenv.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device/device.h"
#include "device/probe.h"

static struct host_state was;

static void expect_change(const char *part)
{
    char what[128];
    host_state_changes(&was, what);
    if (part[0] == '\0')
        assert_string_equal(what, "");
    else
        assert_non_null(strstr(what, part));
}

static void arm(int which, long seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    assert_int_equal(setitimer((__itimer_which_t)which, &timer, NULL), 0);
}

static void interval_timers_are_told_and_disarmed(void **state)
{
    static const struct {
        int which;
        const char *name;
    } rows[] = {{ITIMER_REAL, "(real)"}, {ITIMER_VIRTUAL, "(virtual)"}, {ITIMER_PROF, "(profiling)"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        host_state_read(&was);
        expect_change("");
        arm(rows[i].which, 1000);
        expect_change(rows[i].name);
        host_state_restore(&was);
        expect_change("");
    }
}

/* A profiler's, say: it was there before, and stays. */
static void what_was_there_stays(void **state)
{
    struct itimerval timer;
    (void)state;
    arm(ITIMER_PROF, 1000);
    host_state_read(&was);
    expect_change("");
    host_state_restore(&was);
    assert_int_equal(getitimer(ITIMER_PROF, &timer), 0);
    assert_true(timer.it_value.tv_sec > 900);
    arm(ITIMER_PROF, 0);
    expect_change(""); /* gone is no change */
}

static void posix_timers_are_told_and_deleted(void **state)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t older, newer;
    (void)state;
    if (access("/proc/self/timers", R_OK) != 0)
        skip();
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &older), 0);
    host_state_read(&was);
    expect_change("");
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &newer), 0);
    expect_change("a timer was left behind");
    host_state_restore(&was);
    expect_change("");
    struct itimerspec left;
    assert_int_equal(timer_gettime(older, &left), 0);
    assert_int_equal(timer_gettime(newer, &left), -1);
    assert_int_equal(timer_delete(older), 0);
}

/* The descriptor of the list of timers that is kept; -1: none. */
static int kept_list(void)
{
    char name[64], target[128];
    for (int fd = 3; fd < 100; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, target, sizeof target - 1);
        if (n > 7 && memcmp(target + n - 7, "/timers", 7) == 0)
            return fd;
    }
    return -1;
}

static void expect_a_timer_found(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t left;
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &left), 0);
    expect_change("a timer was left behind");
    host_state_restore(&was);
    expect_change("");
}

/* Looks read a list that is open already. Closed, or with a file in its place that is always empty, it is opened again,
 * and the other file is left alone; a child has timers of its own. */
static void timers_are_told_whatever_became_of_the_list(void **state)
{
    int status, list, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)state;
    if (access("/proc/self/timers", R_OK) != 0)
        skip();
    host_state_read(&was);
    assert_true(null >= 0 && kept_list() >= 3);
    for (int i = 0; i < 3; i++) {
        list = kept_list();
        expect_change("");
        assert_int_equal(kept_list(), list);
    }
    close(list);
    expect_a_timer_found();
    list = kept_list();
    assert_int_equal(dup2(null, list), list);
    expect_a_timer_found();
    assert_int_equal(fcntl(list, F_GETFD) & ~FD_CLOEXEC, 0); /* still open */
    pid_t child = fork();
    if (child == 0) {
        expect_a_timer_found();
        _exit(7);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    close(null);
    close(list);
}

static void rounding_is_told_and_restored(void **state)
{
#if defined(__x86_64__)
    (void)state;
    host_state_read(&was);
    volatile double third = 1.0;
    third /= 3.0; /* inexact: that something has happened is no change */
    expect_change("");
    assert_int_equal(fesetround(FE_UPWARD), 0);
    expect_change("rounding");
    host_state_restore(&was);
    expect_change("");
    fesetround(FE_TONEAREST);
#else
    (void)state;
    skip();
#endif
}

/* The CPU device compares with the moment when it was opened, and settling undoes. */
static void the_device_asks_and_undoes(void **state)
{
    struct device *d = NULL;
    struct error err;
    char what[128];
    (void)state;
    assert_int_equal(device_open_cpu(&d, &err), 0);
    d->probes->changes(d, what);
    assert_string_equal(what, "");
    arm(ITIMER_REAL, 1000);
    d->probes->changes(d, what);
    assert_non_null(strstr(what, "interval timer"));
    assert_int_equal(d->ops->settle(d, &err), 0);
    d->probes->changes(d, what);
    assert_string_equal(what, "");
    d->ops->close(d);
}

static void *wait_for(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void threads_are_counted(void **state)
{
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[2];
    (void)state;
    unsigned before = host_state_threads();
    assert_true(before >= 1);
    pthread_mutex_lock(&held);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for, &held), 0);
    assert_int_equal(host_state_threads(), before + 2);
    pthread_mutex_unlock(&held);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void take_signal(int signal_number)
{
    (void)signal_number;
}

static void handlers_masks_and_flags_are_told_and_restored(void **state)
{
    sigset_t all;
    int before = fcntl(STDERR_FILENO, F_GETFL);
    (void)state;
    host_state_read(&was);
    signal(SIGSEGV, take_signal);
    expect_change("the handler of signal 11");
    host_state_restore(&was);
    expect_change("");
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    expect_change("blocks");
    host_state_restore(&was);
    expect_change("");
    assert_int_equal(fcntl(STDERR_FILENO, F_SETFL, before ^ O_APPEND), 0);
    expect_change("descriptor 2");
    host_state_restore(&was);
    expect_change("");
}

/* Who comes next has not done it. */
static void what_stands_in_for_a_stream_is_told_once(void **state)
{
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)state;
    host_state_read(&was);
    assert_int_equal(dup2(other, STDERR_FILENO), STDERR_FILENO); /* how it was opened cannot be set */
    expect_change("descriptor 2");
    host_state_restore(&was);
    expect_change("");
    close(STDERR_FILENO);
    expect_change("descriptor 2");
    assert_false(host_process_hoards(&was.process));
    host_state_restore(&was);
    expect_change("");
    assert_true(fcntl(STDERR_FILENO, F_GETFL) >= 0); /* no other file takes its place */
    dup2(kept, STDERR_FILENO);
    close(other);
    close(kept);
}

static void limits_are_told_and_restored(void **state)
{
    struct rlimit limit;
    static const __rlimit_resource_t ids[] = {RLIMIT_CPU, RLIMIT_AS, RLIMIT_NOFILE};
    static const char *const words[] = {"processor time", "address space", "descriptors"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        host_state_read(&was);
        assert_int_equal(getrlimit(ids[i], &limit), 0);
        limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? (rlim_t)1 << 40 : limit.rlim_max / 2;
        assert_int_equal(setrlimit(ids[i], &limit), 0);
        expect_change(words[i]);
        host_state_restore(&was);
        expect_change("");
    }
}

static void what_cannot_be_put_back_is_asked_for(void **state)
{
    (void)state;
    host_state_read(&was);
    assert_false(host_process_hoards(&was.process) || host_process_steered(&was.process));
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    assert_false(host_process_steered(&was.process));
    setenv("OMP_NUM_THREADS", "77", 1);
    assert_true(host_process_steered(&was.process));
    unsetenv("OMP_NUM_THREADS");
}

/* Not under AddressSanitizer, whose malloc has no such options. */
static void a_slower_malloc_is_seen(void **state)
{
    (void)state;
    host_state_read(&was);
    for (int i = 0; i < 1000; i++)
        assert_false(host_process_slows_malloc(&was.process));
    if (!mallopt(M_PERTURB, 0xee))
        skip();
    assert_true(host_process_slows_malloc(&was.process));
    mallopt(M_PERTURB, 0);
    assert_false(host_process_slows_malloc(&was.process));
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
    assert_true(host_process_slows_malloc(&was.process));
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    assert_false(host_process_slows_malloc(&was.process));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_masks_and_flags_are_told_and_restored),
        cmocka_unit_test(what_stands_in_for_a_stream_is_told_once),
        cmocka_unit_test(limits_are_told_and_restored),
        cmocka_unit_test(what_cannot_be_put_back_is_asked_for),
        cmocka_unit_test(a_slower_malloc_is_seen),
        cmocka_unit_test(interval_timers_are_told_and_disarmed),
        cmocka_unit_test(what_was_there_stays),
        cmocka_unit_test(posix_timers_are_told_and_deleted),
        cmocka_unit_test(timers_are_told_whatever_became_of_the_list),
        cmocka_unit_test(rounding_is_told_and_restored),
        cmocka_unit_test(the_device_asks_and_undoes),
        cmocka_unit_test(threads_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
