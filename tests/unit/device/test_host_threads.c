/* device/host_threads and verify/rivals: whose a new thread is, and whether it computes out of turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
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

static bool is_asleep(const char *id)
{
    char path[300], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", id);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%*d %*s %c", &state) != 1)
            state = '?';
        fclose(f);
    }
    return state == 'S';
}

/* Threads besides this one; in *asleep how many of them sleep. */
static int count(int *asleep)
{
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    *asleep = 0;
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks))
        if (atoi(e->d_name) > 0 && atoi(e->d_name) != getpid()) {
            n++;
            *asleep += is_asleep(e->d_name);
        }
    closedir(tasks);
    return n;
}

/* A thread that was started has yet to run, and one that was joined to leave the list. */
static void wait_for(int n, int n_asleep)
{
    int asleep = -1, there = -1;
    for (int i = 0; i < 20000 && (there != n || asleep != n_asleep); i++) {
        usleep(1000);
        there = count(&asleep);
    }
    if (there != n || asleep != n_asleep)
        fail_msg("%d threads, %d asleep, instead of %d and %d", there, asleep, n, n_asleep);
}

static void begin(void)
{
    wait_for(0, 0);
    host_threads_begin(&threads, true);
}

/* What a test that failed has left goes, or it would disturb the next. */
static int end(void **state)
{
    int asleep = 0;
    (void)state;
    atomic_store(&stop, true);
    for (int i = 0; i < 5000 && count(&asleep) > 0; i++) {
        sem_post(&wake);
        usleep(1000);
    }
    atomic_store(&stop, false);
    while (sem_trywait(&wake) == 0)
        ;
    host_threads_end(&threads);
    return 0;
}

/* True when somebody is found, in owner. A machine that is too busy to prove anything skips the test. */
static bool somebody_computes(char owner[HOST_THREADS_NAME])
{
    uint64_t since = clock_raw_ns();
    bool found = rivals_look(&threads, owner);
    if (!found && clock_raw_ns() - since >= RIVALS_LONGEST_NS)
        skip();
    return found;
}

static const char *owner_of_last(void)
{
    return threads.n > 0 ? threads.list[threads.n - 1].owner : "none";
}

static void a_new_thread_is_whose_turn_it_was(void **state)
{
    (void)state;
    begin();
    assert_int_equal(threads.n, 0);
    host_threads_turn(&threads, "first", false);
    pthread_t thread = start(sleep_until_woken);
    host_threads_turn(&threads, "second", true);
    assert_int_equal(threads.n, 1);
    assert_string_equal(owner_of_last(), "first");
    wake_and_join(thread);
    wait_for(0, 0);
    host_threads_turn(&threads, "", true);
    assert_int_equal(threads.n, 0);
}

/* On a GPU: no thread is listed or looked at, old or new, and the turn has its name. */
static void where_nobody_asks_turns_are_names(void **state)
{
    (void)state;
    wait_for(0, 0);
    pthread_t old = start(sleep_until_woken);
    wait_for(1, 1);
    host_threads_begin(&threads, false);
    host_threads_turn(&threads, "first", false);
    assert_string_equal(threads.turn, "first");
    pthread_t thread = start(sleep_until_woken);
    wait_for(2, 2);
    host_threads_turn(&threads, "second", true);
    assert_string_equal(threads.turn, "second");
    assert_int_equal(threads.n, 0);
    assert_int_equal(threads.directory, -1);
    assert_false(threads.looked);
    sem_post(&wake);
    sem_post(&wake);
    pthread_join(old, NULL);
    pthread_join(thread, NULL);
}

/* The first one's thread sleeps in the second one's turn, and so has not made the new one. */
static void others_that_sleep_make_no_threads(void **state)
{
    (void)state;
    begin();
    host_threads_turn(&threads, "first", false);
    pthread_t one = start(sleep_until_woken);
    wait_for(1, 1);
    host_threads_turn(&threads, "second", false);
    pthread_t two = start(sleep_until_woken);
    wait_for(2, 2);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 2);
    assert_string_equal(threads.list[0].owner, "first");
    assert_string_equal(threads.list[1].owner, "second");
    sem_post(&wake); /* whoever of them takes it */
    sem_post(&wake);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

static void a_thread_that_two_may_have_made_is_nobodys(void **state)
{
    (void)state;
    begin();
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
}

/* A contender may close what it finds. */
static void the_directory_is_opened_again(void **state)
{
    (void)state;
    begin();
    host_threads_turn(&threads, "first", false);
    close(threads.directory);
    int other = open("/dev/null", O_RDONLY);
    pthread_t thread = start(sleep_until_woken);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 1);
    assert_string_equal(owner_of_last(), "first");
    wake_and_join(thread);
    close(other);
}

static void who_computes_out_of_turn_is_seen(void **state)
{
    char owner[HOST_THREADS_NAME] = "";
    (void)state;
    begin();
    host_threads_turn(&threads, "quiet", false);
    pthread_t quiet = start(sleep_until_woken);
    wait_for(1, 1);
    host_threads_turn(&threads, "", false);
    assert_false(rivals_look(&threads, owner));
    host_threads_turn(&threads, "loud", false);
    pthread_t loud = start(compute_until_stopped);
    host_threads_turn(&threads, "", false);
    assert_true(somebody_computes(owner));
    assert_string_equal(owner, "loud");
    stop_and_join(loud);
    assert_false(rivals_look(&threads, owner));
    wake_and_join(quiet);
}

/* A pool made anew: as many threads as before. */
static void a_thread_in_anothers_place_is_whose_turn_it_was(void **state)
{
    (void)state;
    begin();
    host_threads_turn(&threads, "first", false);
    pthread_t old = start(sleep_until_woken);
    host_threads_turn(&threads, "second", false);
    wait_for(1, 1);
    host_threads_turn(&threads, "first", false);
    wake_and_join(old);
    wait_for(0, 0);
    pthread_t new = start(sleep_until_woken);
    wait_for(1, 1);
    host_threads_turn(&threads, "second", true);
    pthread_t more = start(sleep_until_woken);
    wait_for(2, 2);
    host_threads_turn(&threads, "", true);
    assert_int_equal(threads.n, 2);
    assert_string_equal(threads.list[0].owner, "first");
    assert_string_equal(threads.list[1].owner, "second");
    sem_post(&wake); /* whoever of them takes it */
    sem_post(&wake);
    pthread_join(new, NULL);
    pthread_join(more, NULL);
}

/* Of more than eight threads the number alone is looked at between timed turns. */
static void whose_turn_is_not_known_is_nobodys(void **state)
{
    pthread_t many[10];
    (void)state;
    begin();
    host_threads_turn(&threads, "first", false);
    for (int i = 0; i < 9; i++)
        many[i] = start(sleep_until_woken);
    wait_for(9, 9);
    host_threads_turn(&threads, "second", true);
    host_threads_turn(&threads, "third", true);
    many[9] = start(sleep_until_woken);
    wait_for(10, 10);
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 10);
    assert_string_equal(threads.list[0].owner, "first");
    assert_string_equal(owner_of_last(), HOST_THREADS_NOBODY);
    for (int i = 0; i < 10; i++)
        sem_post(&wake);
    for (int i = 0; i < 10; i++)
        pthread_join(many[i], NULL);
}

static atomic_ullong burnt_ns; /* of processor time, by those that have ended */

/* Lives for a moment and starts its successor. */
static void *pass_on(void *unused)
{
    pthread_t next;
    pthread_attr_t detached;
    uint64_t until = clock_now_ns() + 200000;
    while (clock_now_ns() < until)
        ;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (!atomic_load(&stop) && pthread_create(&next, &detached, pass_on, NULL) != 0)
        fail();
    pthread_attr_destroy(&detached);
    atomic_fetch_add(&burnt_ns, clock_thread_ns());
    return unused;
}

/* Each successor waits for a processor anew, so on a busy machine one line of them hardly gets any. A look takes 20 s
 * at most, and asks for 0.9 s of nobody's: where they had twice that, they must be seen. */
#define LINES 8
#define ENOUGH_NS 1800000000u

static void threads_that_live_for_a_moment_are_seen(void **state)
{
    char owner[HOST_THREADS_NAME];
    pthread_t first[LINES];
    (void)state;
    begin();
    host_threads_turn(&threads, "first", false);
    for (int i = 0; i < LINES; i++)
        first[i] = start(pass_on);
    for (int i = 0; i < LINES; i++)
        pthread_join(first[i], NULL);
    host_threads_turn(&threads, "", false);
    uint64_t before = atomic_load(&burnt_ns);
    bool seen = rivals_look(&threads, owner);
    if (!seen && atomic_load(&burnt_ns) - before < ENOUGH_NS)
        skip();
    assert_true(seen);
    assert_string_equal(owner, HOST_THREADS_NOBODY);
    atomic_store(&stop, true);
    wait_for(0, 0);
    atomic_store(&stop, false);
}

static uint64_t spin_ns;

static void *spin_and_sleep(void *unused)
{
    (void)unused;
    uint64_t end = clock_thread_ns() + spin_ns;
    while (clock_thread_ns() < end && !atomic_load(&stop))
        ;
    sem_wait(&wake);
    return NULL;
}

/* libpthreadpool's threads spin for up to 60 ms of processor time, which on a busy machine takes them much longer. */
static void a_pool_that_spins_before_it_sleeps_is_honest(void **state)
{
    char owner[HOST_THREADS_NAME] = "";
    (void)state;
    begin();
    host_threads_turn(&threads, "", false);
    pthread_t busy[6]; /* what else the machine does */
    for (int i = 0; i < 6; i++)
        busy[i] = start(compute_until_stopped);
    host_threads_turn(&threads, "spins", false);
    spin_ns = 120000000;
    pthread_t thread = start(spin_and_sleep);
    host_threads_turn(&threads, "", false);
    assert_false(rivals_look(&threads, owner));
    sem_post(&wake);
    pthread_join(thread, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < 6; i++)
        pthread_join(busy[i], NULL);
    atomic_store(&stop, false);
}

#define TURN_NS 30000000u

/* Computes in every other turn. */
static void *compute_in_turns(void *odd)
{
    while (!atomic_load(&stop))
        if (clock_raw_ns() / TURN_NS % 2 != (odd != NULL))
            usleep(1000);
    return NULL;
}

/* Neither stands out in every look. Of the other it cannot be told whose it is; who is known is named. Where this
 * thread hardly runs that proves nothing, and then nobody is named. */
static void threads_of_two_that_take_turns_are_seen(void **state)
{
    char owner[HOST_THREADS_NAME] = "", nobody[HOST_THREADS_NAME] = "";
    pthread_t loud[2];
    int asleep;
    (void)state;
    begin();
    for (size_t i = 0; i < 2; i++) {
        host_threads_turn(&threads, i == 0 ? "first" : "second", false);
        assert_int_equal(pthread_create(&loud[i], NULL, compute_in_turns, i == 0 ? NULL : loud), 0);
        while (count(&asleep) != (int)i + 1)
            usleep(1000);
    }
    host_threads_turn(&threads, "", false);
    assert_int_equal(threads.n, 2);
    snprintf(threads.list[0].owner, HOST_THREADS_NAME, "first"); /* whichever it is */
    snprintf(threads.list[1].owner, HOST_THREADS_NAME, HOST_THREADS_NOBODY);
    uint64_t since = clock_raw_ns(), ran = clock_thread_ns();
    bool seen = rivals_look(&threads, owner);
    double share = (double)(clock_thread_ns() - ran) / (double)(clock_raw_ns() - since);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(loud[i], NULL);
    atomic_store(&stop, false);
    assert_false(rivals_look(&threads, nobody));
    if (!seen && share < 0.8)
        skip();
    assert_true(seen);
    assert_string_equal(owner, "first");
}

/* On a busy machine it may get no processor for a whole window. */
static void who_computes_is_seen_on_a_busy_machine(void **state)
{
    char owner[HOST_THREADS_NAME] = "";
    pthread_t busy[6];
    (void)state;
    begin();
    for (int i = 0; i < 6; i++)
        busy[i] = start(compute_until_stopped);
    host_threads_turn(&threads, "", false);
    host_threads_turn(&threads, "loud", false);
    pthread_t loud = start(compute_until_stopped);
    host_threads_turn(&threads, "", false);
    assert_true(somebody_computes(owner));
    assert_string_equal(owner, "loud");
    atomic_store(&stop, true);
    for (int i = 0; i < 6; i++)
        pthread_join(busy[i], NULL);
    stop_and_join(loud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_new_thread_is_whose_turn_it_was, end),
        cmocka_unit_test_teardown(where_nobody_asks_turns_are_names, end),
        cmocka_unit_test_teardown(others_that_sleep_make_no_threads, end),
        cmocka_unit_test_teardown(a_thread_that_two_may_have_made_is_nobodys, end),
        cmocka_unit_test_teardown(the_directory_is_opened_again, end),
        cmocka_unit_test_teardown(who_computes_out_of_turn_is_seen, end),
        cmocka_unit_test_teardown(a_thread_in_anothers_place_is_whose_turn_it_was, end),
        cmocka_unit_test_teardown(whose_turn_is_not_known_is_nobodys, end),
        cmocka_unit_test_teardown(threads_of_two_that_take_turns_are_seen, end),
        cmocka_unit_test_teardown(threads_that_live_for_a_moment_are_seen, end),
        cmocka_unit_test_teardown(who_computes_is_seen_on_a_busy_machine, end),
        cmocka_unit_test_teardown(a_pool_that_spins_before_it_sleeps_is_honest, end),
    };
    sem_init(&wake, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
