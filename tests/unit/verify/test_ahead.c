/* verify/ahead.c: whose thread computes when inputs are new is found, and nobody whose thread computes anyway. On the
 * scripted device, with threads of this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "cheat_fixture.h"
#include "device/probe.h"
#include "measure/timed.h"
#include "verify/ahead.h"

static struct host_threads threads;
static struct probe_ops probes;
static sem_t written; /* once for each time that inputs were */
static atomic_bool stop;
static unsigned renewals, heard_of; /* so many of four */

/* As the CPU device's: nothing else is asked of this one. */
static int renew(struct device *d, const struct probe_renewal *r, struct error *err)
{
    (void)d, (void)r, (void)err;
    if (renewals++ % 4 < heard_of)
        sem_post(&written);
    return 0;
}

static unsigned some(void)
{
    return 1;
}

static void compute(uint64_t ns)
{
    uint64_t end = clock_thread_ns() + ns;
    while (clock_thread_ns() < end && !atomic_load(&stop))
        ;
}

static void *work_when_written(void *unused)
{
    (void)unused;
    while (sem_wait(&written) == 0 && !atomic_load(&stop))
        compute(3000000);
    return NULL;
}

static void *work_now_and_then(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        compute(20000);
        usleep(300);
    }
    return NULL;
}

/* The first contender's thread, in a cell that is ready to be checked. `heard` is heard_of. */
static pthread_t open_with(void *(*body)(void *), unsigned heard)
{
    struct error err;
    pthread_t thread;
    open_cell();
    fixture_start(&f);
    heard_of = heard;
    renewals = 0;
    probes = *f.device->probes;
    probes.renew = renew;
    probes.threads = some;
    f.device->probes = &probes;
    f.device->info.device_bit = CUDAL2_ON_CPU;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    host_threads_begin(&threads, true);
    host_threads_turn(&threads, f.bench.entrants[0].record->name, false);
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    usleep(20000);
    host_threads_turn(&threads, "", false);
    f.bench.threads = &threads;
    return thread;
}

static void close_with(pthread_t thread)
{
    atomic_store(&stop, true);
    sem_post(&written);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
    while (sem_trywait(&written) == 0)
        ;
    f.bench.threads = NULL;
    host_threads_end(&threads);
    timed_close(&f.bench);
    fixture_close(&f);
}

static enum verdict check(size_t entrant)
{
    static struct timed_check t;
    struct error err;
    const struct ahead_counts *counts = &f.bench.entrants[entrant].ahead;
    unsigned most = counts->trials + AHEAD_TRIALS;
    t = (struct timed_check){.bench = &f.bench, .entrant = &f.bench.entrants[entrant], .random = &f.bench.random};
    for (int i = 0; i < 50 && counts->trials < most && t.verdict == VERDICT_OK;
         i++) /* none counts where threads do not rest */
        assert_int_equal(ahead_check(&t, &err), 0);
    if (t.verdict != VERDICT_OK)
        assert_non_null(strstr(t.reason, "when its inputs were new"));
    return t.verdict;
}

/* On a busy machine a trial may find that the thread had no processor. */
static void expect_found(unsigned checks)
{
    enum verdict verdict = VERDICT_OK;
    for (unsigned i = 0; i < checks && verdict == VERDICT_OK; i++)
        verdict = check(0);
    assert_int_equal(verdict, VERDICT_EARLY_WORK);
}

static void who_works_when_inputs_are_new_is_found(void **state)
{
    (void)state;
    pthread_t thread = open_with(work_when_written, 4);
    expect_found(3);
    assert_int_equal(check(1), VERDICT_OK); /* its rival has no threads */
    assert_int_equal(f.bench.entrants[1].ahead.trials, 0);
    close_with(thread);
}

/* Hits are added up over checks. */
static void who_does_so_three_times_of_four_is_found_later(void **state)
{
    (void)state;
    pthread_t thread = open_with(work_when_written, 3);
    assert_int_equal(check(0), VERDICT_OK);
    expect_found(4);
    close_with(thread);
}

static void who_works_now_and_then_is_honest(void **state)
{
    (void)state;
    pthread_t thread = open_with(work_now_and_then, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(check(0), VERDICT_OK);
    close_with(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_works_when_inputs_are_new_is_found),
        cmocka_unit_test(who_does_so_three_times_of_four_is_found_later),
        cmocka_unit_test(who_works_now_and_then_is_honest),
    };
    sem_init(&written, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
