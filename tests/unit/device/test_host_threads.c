/* device/host_threads and verify/rivals: whose a new thread is, and whether it computes out of turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "verify/rivals.h"

static struct host_threads threads;
static sem_t wake;
static atomic_bool stop;

static void *sleep_until_woken(void *unused)
{
    (void)unused;
    sem_wait(&wake);
    return NULL;
}

static void *compute_until_stopped(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        ;
    return NULL;
}

static pthread_t start(void *(*body)(void *))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    return thread;
}

static void wake_and_join(pthread_t thread)
{
    sem_post(&wake);
    pthread_join(thread, NULL);
}

static void stop_and_join(pthread_t thread)
{
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
}

static const char *owner_of_last(void)
{
    return threads.n > 0 ? threads.list[threads.n - 1].owner : "none";
}

static void a_new_thread_is_whose_turn_it_was(void **state)
{
    (void)state;
    host_threads_begin(&threads);
    assert_int_equal(threads.n, 0);
    host_threads_turn(&threads, "first", false);
    pthread_t thread = start(sleep_until_woken);
    host_threads_turn(&threads, "second", true);
    assert_int_equal(threads.n, 1);
    assert_string_equal(owner_of_last(), "first");
    wake_and_join(thread);
    usleep(50000);
    host_threads_turn(&threads, "", true);
    assert_int_equal(threads.n, 0);
    host_threads_end(&threads);
}

/* The first one's thread sleeps in the second one's turn, and so has not made the new one. */
static void others_that_sleep_make_no_threads(void **state)
{
    (void)state;
    host_threads_begin(&threads);
    host_threads_turn(&threads, "first", false);
    pthread_t one = start(sleep_until_woken);
    usleep(50000);
    host_threads_turn(&threads, "second", false);
    pthread_t two = start(sleep_until_woken);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 2);
    assert_string_equal(threads.list[0].owner, "first");
    assert_string_equal(threads.list[1].owner, "second");
    sem_post(&wake); /* whoever of them takes it */
    sem_post(&wake);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    host_threads_end(&threads);
}

static void a_thread_that_two_may_have_made_is_nobodys(void **state)
{
    (void)state;
    host_threads_begin(&threads);
    host_threads_turn(&threads, "first", false);
    pthread_t one = start(compute_until_stopped);
    host_threads_turn(&threads, "second", false);
    pthread_t two = start(sleep_until_woken);
    usleep(50000);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 2);
    assert_string_equal(threads.list[1].owner, HOST_THREADS_NOBODY);
    stop_and_join(one);
    wake_and_join(two);
    host_threads_end(&threads);
}

/* A contender may close what it finds. */
static void the_directory_is_opened_again(void **state)
{
    (void)state;
    host_threads_begin(&threads);
    host_threads_turn(&threads, "first", false);
    close(threads.directory);
    int other = open("/dev/null", O_RDONLY);
    pthread_t thread = start(sleep_until_woken);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 1);
    assert_string_equal(owner_of_last(), "first");
    wake_and_join(thread);
    close(other);
    host_threads_end(&threads);
}

static void who_computes_out_of_turn_is_seen(void **state)
{
    char owner[HOST_THREADS_NAME] = "";
    (void)state;
    host_threads_begin(&threads);
    host_threads_turn(&threads, "quiet", false);
    pthread_t quiet = start(sleep_until_woken);
    host_threads_turn(&threads, "", false);
    assert_false(rivals_look(&threads, owner));
    host_threads_turn(&threads, "loud", false);
    pthread_t loud = start(compute_until_stopped);
    host_threads_turn(&threads, "", false);
    assert_true(rivals_look(&threads, owner));
    assert_string_equal(owner, "loud");
    stop_and_join(loud);
    assert_false(rivals_look(&threads, owner));
    wake_and_join(quiet);
    host_threads_end(&threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_thread_is_whose_turn_it_was),
        cmocka_unit_test(others_that_sleep_make_no_threads),
        cmocka_unit_test(a_thread_that_two_may_have_made_is_nobodys),
        cmocka_unit_test(the_directory_is_opened_again),
        cmocka_unit_test(who_computes_out_of_turn_is_seen),
    };
    sem_init(&wake, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
