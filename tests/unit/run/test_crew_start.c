/* run/crew and run/warm: how a worker is started, on a GPU too, and kept between two runs. Workers are scripted
 * (fake_worker.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "feed_fixture.h"

/* ---- a start ---- */

/* Namespaces may be in the way of a GPU's driver: before a start counts as failed they are tried with it. */
static void test_a_gpu_that_does_not_open_is_tried_first(void **state)
{
    const char *arguments[STARTING_ARGUMENTS];
    const struct start_request start = {0};
    (void)state;
    f.crew.slots[0].device = "cuda:0";
    assert_int_equal(feed(2, "start:1=exit"), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(starts(), 2);
    assert_true(f.crew.slots[0].wary);
    starting_arguments(&start, "cuda:0", true, arguments);
    assert_string_equal(arguments[0], "wary");
    starting_arguments(&start, "cuda:0", false, arguments);
    assert_string_equal(arguments[0], "at");
}

/* A worker's driver brings up one GPU, until that has failed. */
static void test_a_worker_is_shown_its_gpu_alone(void **state)
{
    char path[128], text[64] = "";
    (void)state;
    crew_close(&f.crew);
    setenv("CUDAL2_CACHE", t.directory, 1);
    snprintf(t.spec.devices.lock[0], sizeof t.spec.devices.lock[0], "GPU-1");
    assert_int_equal(crew_open(&f.crew, &t.err), 0);
    f.crew.slots[0].device = "cuda:0";
    assert_int_equal(feed(1, "start:1=exit"), 0);
    snprintf(path, sizeof path, "%s/shown", t.directory);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, "GPU-1\nall\n");
    unsetenv("CUDAL2_CACHE");
}

static void test_a_trial_is_the_last_resort(void **state)
{
    (void)state;
    f.crew.slots[0].device = "cuda:0";
    assert_int_equal(feed(3, "start:9=exit"), 0);
    assert_int_equal(starts(), 3); /* two count */
    assert_int_equal(f.retired, 1);
}

/* ---- workers between runs ---- */

static const char key[DIGEST_HEX] = "0123456789abcdef0123456789abcdef", other[DIGEST_HEX] = "other";

/* A run of its own, of two cells, that may have `warm`'s worker. */
static void run_with(struct warm *warm, const char *whose, const char *script)
{
    const struct crew_setup setup = {.spec = &t.spec, .stop = &t.stop, .warm = warm};
    warm_begin(warm, whose);
    crew_close(&f.crew);
    f.task.warm = warm;
    f.taken = f.answered = 0;
    f.up = false;
    f.order[0] = '\0';
    crew_init(&f.crew, &setup);
    assert_int_equal(crew_open(&f.crew, &t.err), 0);
    assert_int_equal(feed(2, script), 0);
    assert_string_equal(f.order, "32 64 ");
}

static void test_a_worker_is_kept(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    assert_true(warm.held && !warm.taken);
    pid_t kept = warm.slot.process.pid;
    run_with(&warm, key, "");
    assert_true(warm.held && warm.taken);
    assert_int_equal(warm.slot.process.pid, kept);
    assert_int_equal(warm.runs, 2);
    assert_int_equal(starts(), 1);
    warm_end(&warm);
    assert_false(warm.held);
    assert_int_equal(kill(kept, 0), -1);
}

static void test_a_worker_is_not_kept_for_others(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    pid_t kept = warm.slot.process.pid;
    run_with(&warm, other, "");
    assert_true(warm.held && !warm.taken);
    assert_int_equal(kill(kept, 0), -1);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

static void test_a_worker_is_not_kept_for_ever(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    warm.runs = WARM_RUNS;
    run_with(&warm, key, "");
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* While nobody looked. */
static void test_a_kept_worker_that_died(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    kill(warm.slot.process.pid, SIGKILL);
    while (!process_ended(&warm.slot.process))
        usleep(1000);
    run_with(&warm, key, "");
    assert_false(warm.taken);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* The run goes on with a new process, as after any lost start. */
static void test_a_kept_worker_that_does_not_start_again(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "again=crash");
    run_with(&warm, key, "again=crash");
    assert_true(warm.taken);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* A worker that waits holds its GPU, and so does nobody else. */
static void test_a_kept_worker_has_the_lock(void **state)
{
    const struct crew_setup setup = {.spec = &t.spec};
    struct warm warm = {0};
    struct crew stranger;
    (void)state;
    setenv("CUDAL2_CACHE", t.directory, 1);
    snprintf(t.spec.devices.lock[0], sizeof t.spec.devices.lock[0], "GPU-2");
    t.spec.lock_seconds = 0.1;
    run_with(&warm, key, "");
    run_with(&warm, key, "");
    assert_int_equal(starts(), 1);
    crew_close(&f.crew);
    crew_init(&stranger, &setup);
    assert_int_equal(crew_open(&stranger, &t.err), EXIT_CODE_TEMPORARY);
    crew_close(&stranger);
    warm_end(&warm);
    assert_int_equal(crew_open(&stranger, &t.err), 0);
    crew_close(&stranger);
    unsetenv("CUDAL2_CACHE");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_a_gpu_that_does_not_open_is_tried_first),
        TEST(test_a_worker_is_shown_its_gpu_alone),
        TEST(test_a_trial_is_the_last_resort),
        TEST(test_a_worker_is_kept),
        TEST(test_a_worker_is_not_kept_for_others),
        TEST(test_a_worker_is_not_kept_for_ever),
        TEST(test_a_kept_worker_that_died),
        TEST(test_a_kept_worker_that_does_not_start_again),
        TEST(test_a_kept_worker_has_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
