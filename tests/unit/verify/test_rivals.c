/* verify/rivals on the device of a cell: who is held for threads that compute when nobody has asked for anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench_fixture.h"
#include "device/host_state.h"
#include "device/probe.h"
#include "verify/rivals.h"

static struct fixture f;
static struct probe_ops probes;
static struct host_threads threads;
static atomic_bool stop;
static char told[64]; /* whose turn it was last, but for the harness's */

static void note_turn(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    (void)context;
    (void)stage;
    (void)deadline_seconds;
    if (contender[0])
        snprintf(told, sizeof told, "%s", contender);
}

static void *compute(void *unused)
{
    while (!atomic_load(&stop))
        ;
    return unused;
}

static void *sleep_on(void *unused)
{
    while (!atomic_load(&stop))
        usleep(20000);
    return unused;
}

/* A cell on this kind of device with a thread that was made in the turn of the first contender. */
static pthread_t open_with(unsigned device_bit, bool asked, void *(*body)(void *))
{
    pthread_t thread;
    fixture_open(&f, 2);
    fixture_start(&f);
    f.config.honesty = true;
    f.device->info.device_bit = device_bit;
    probes = *f.device->probes;
    probes.threads = host_state_threads;
    f.device->probes = &probes;
    f.bench.threads = &threads;
    f.bench.report = note_turn;
    host_threads_begin(&threads, asked);
    host_threads_turn(&threads, "a-nn", false);
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    usleep(1000);
    host_threads_turn(&threads, "b-nn", false);
    host_threads_turn(&threads, "", false);
    rivals_begin(&f.bench);
    usleep(50000);
    return thread;
}

static bool disturbed(pthread_t thread)
{
    uint64_t start = clock_raw_ns(), had = clock_thread_ns();
    rivals_check(&f.bench);
    double share = (double)(clock_thread_ns() - had) / (double)(clock_raw_ns() - start + 1);
    bool found = threads.disturbed;
    bool busy = clock_raw_ns() - start >= RIVALS_LONGEST_NS || share < 0.05;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
    host_threads_end(&threads);
    threads.disturbed = false;
    f.bench.report = NULL;
    fixture_close(&f);
    if (!found && busy)
        skip(); /* the machine hardly runs anybody */
    return found;
}

static void who_computes_out_of_turn_is_named_on_any_device(void **state)
{
    static const unsigned bits[] = {CUDAL2_ON_CPU, CUDAL2_ON_CUDA};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        told[0] = '\0';
        assert_true(disturbed(open_with(bits[i], true, compute)));
        assert_string_equal(told, "a-nn");
    }
}

static void who_sleeps_is_not(void **state)
{
    (void)state;
    assert_false(disturbed(open_with(CUDAL2_ON_CUDA, true, sleep_on)));
}

/* A GPU without strangers' plugins. */
static void where_nobody_asks_nobody_looks(void **state)
{
    (void)state;
    pthread_t thread = open_with(CUDAL2_ON_CUDA, false, compute);
    assert_false(rivals_are_watched(&f.bench));
    told[0] = '\0';
    rivals_check(&f.bench);
    bool found = threads.disturbed;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
    host_threads_end(&threads);
    f.bench.report = NULL;
    fixture_close(&f);
    assert_false(found);
    assert_string_equal(told, "");
}

/* A driver's own, as far as anybody knows. */
static void a_gpus_threads_without_owner_are_let_be(void **state)
{
    (void)state;
    for (int cuda = 0; cuda < 2; cuda++) {
        pthread_t thread = open_with(cuda ? CUDAL2_ON_CUDA : CUDAL2_ON_CPU, true, compute);
        assert_int_equal(threads.n, 1);
        snprintf(threads.list[0].owner, HOST_THREADS_NAME, HOST_THREADS_NOBODY);
        bool found = disturbed(thread);
        assert_int_equal(found, !cuda);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_computes_out_of_turn_is_named_on_any_device),
        cmocka_unit_test(who_sleeps_is_not),
        cmocka_unit_test(where_nobody_asks_nobody_looks),
        cmocka_unit_test(a_gpus_threads_without_owner_are_let_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
