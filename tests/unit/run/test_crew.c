/* run/crew with a task that is neither measuring nor auditing: cells that come one by one for as long as somebody has
 * some, as a server has. Workers are scripted (fake_worker.h). */
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

/* ---- work that comes ---- */

static void test_one_worker_for_all_that_comes(void **state)
{
    (void)state;
    assert_int_equal(feed(5, ""), 0);
    assert_string_equal(f.order, "32 64 96 128 160 ");
    assert_true(f.waiting > 0); /* it was up before there was anything to do */
    assert_true(f.turns > 0);
    assert_int_equal(starts(), 1);
    assert_int_equal(f.crew.slots[0].state, SLOT_EMPTY); /* it has been told to go, and is gone */
}

static void test_a_task_ends_it(void **state)
{
    (void)state;
    f.end_after = 2;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(crew_stop_signal(&f.crew), 0);
}

static void test_a_second_task_has_fresh_workers(void **state)
{
    (void)state;
    assert_int_equal(feed(1, ""), 0);
    f.taken = f.answered = 0;
    f.up = false;
    assert_int_equal(feed(2, ""), 0);
    assert_string_equal(f.order, "32 32 64 ");
    assert_int_equal(starts(), 2);
}

/* One that sleeps for its workers' sake is woken by whoever has work. */
static void test_woken(void **state)
{
    uint64_t one = 1, began = clock_now_ns();
    int fd = eventfd(0, EFD_CLOEXEC);
    (void)state;
    assert_int_equal(write(fd, &one, sizeof one), sizeof one);
    slots_wait(f.crew.slots, f.crew.n, fd, 60000);
    assert_true(clock_now_ns() - began < 30000000000u);
    close(fd);
}

/* ---- workers that are lost ---- */

static void test_who_is_to_blame_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "beta@64=crash"), 0);
    assert_string_equal(f.order, "32 64 96 ");
    assert_int_equal(f.blamed, 1);
    assert_int_equal(f.failed, 0);
    assert_int_equal(starts(), 2);
}

/* It stands still in a stage, which the task is told of, until its deadline. */
static void test_who_hangs_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(feed(1, "beta@32=hang"), 0);
    assert_string_equal(f.order, "32 ");
    assert_int_equal(f.blamed, 1);
    assert_true(f.stages > 0);
}

static void test_nobody_is_to_blame(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "harness@64=crash"), 0);
    assert_string_equal(f.order, "32 96 ");
    assert_int_equal(f.failed, 1);
    assert_non_null(strstr(f.reason, "worker lost 2 times, last in stage "));
    assert_int_equal(starts(), 3);
}

static void test_a_device_without_workers(void **state)
{
    (void)state;
    f.up = true; /* so that work is taken before a worker is there */
    assert_int_equal(feed(3, "start:9=exit"), 0);
    assert_int_equal(starts(), 2);
    assert_int_equal(f.retired, 1);
    assert_int_equal(f.given_back, 1);
    assert_false(crew_is_alive(&f.crew));
    assert_int_equal(f.crew.last.code, EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(f.crew.last.text, "cpu: worker did not start: early_exit"));
}

/* As under ncu, whose library crashes a worker. */
static void test_a_worker_under_a_profiler(void **state)
{
    (void)state;
    setenv("CUDA_INJECTION64_PATH", "libinjection.so", 1);
    assert_int_equal(feed(3, "start:9=crash"), 0);
    unsetenv("CUDA_INJECTION64_PATH");
    assert_non_null(strstr(f.crew.last.text, "cpu: worker did not start: crash"));
    assert_non_null(
        strstr(f.crew.last.text, "CUDA_INJECTION64_PATH is set: if by a profiler, use `verify --in-process`"));
}

/* The one of that number is another worker's, or nobody's that was asked for. */
static void test_a_gpu_that_is_another_one(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "gpu=gone"), 0);
    assert_string_equal(f.order, "");
    assert_int_equal(f.retired, 1);
    assert_int_equal(f.given_back, 1);
    assert_int_equal(f.crew.last.code, EXIT_CODE_UNAVAILABLE);
    assert_string_equal(f.crew.last.text, "cpu (GPU-first) has worked in this run and does not any more: its number is "
                                          "GPU-second's now (dmesg may name an Xid)");
}

/* ---- ends ---- */

static void test_an_error_ends_it(void **state)
{
    (void)state;
    f.refuses = true;
    assert_int_equal(feed(3, ""), EXIT_CODE_DATA);
    assert_string_equal(t.err.text, "not this one");
    assert_string_equal(f.order, "");
}

/* The cell in hand is finished, the next is not begun. */
static void test_a_signal(void **state)
{
    (void)state;
    f.stop_after = 2;
    t.stop_value = SIGTERM;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(crew_stop_signal(&f.crew), SIGTERM);
    assert_int_equal(f.crew.slots[0].state, SLOT_EMPTY);
}

/* Nothing is waited for: crew_close kills what is left. */
static void test_a_second_signal(void **state)
{
    (void)state;
    f.stop_after = 1;
    t.stop_value = -SIGTERM;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 ");
    assert_true(f.crew.slots[0].process.pid > 0);
}

static void test_a_budget(void **state)
{
    const struct crew_setup setup = {.spec = &t.spec};
    struct crew crew;
    (void)state;
    t.spec.budget_seconds = 1e-6;
    crew_init(&crew, &setup);
    while (clock_now_ns() <= crew.deadline_ns)
        continue;
    assert_int_equal(crew_stop_signal(&crew), SIGALRM);
}

struct notes {
    char last[300];
};

static void keep_note(void *context, const char *line)
{
    struct notes *notes = context;
    snprintf(notes->last, sizeof notes->last, "%s", line);
}

/* Two crews do not share a GPU: the second says for whom it waits, and who it was. */
static void test_a_lock(void **state)
{
    struct notes notes = {{""}};
    const struct crew_setup setup = {.spec = &t.spec, .note = keep_note, .note_context = &notes};
    struct crew first, second;
    char expected[300], node[64] = "";
    (void)state;
    setenv("CUDAL2_CACHE", t.directory, 1);
    snprintf(t.spec.devices.lock[0], sizeof t.spec.devices.lock[0], "GPU-1");
    t.spec.lock_seconds = 0.1;
    crew_init(&first, &setup);
    crew_init(&second, &setup);
    assert_int_equal(crew_open(&first, &t.err), 0);
    assert_string_equal(notes.last, "");
    assert_int_equal(crew_open(&second, &t.err), EXIT_CODE_TEMPORARY);
    assert_int_equal(gethostname(node, sizeof node - 1), 0);
    snprintf(expected, sizeof expected, "process %ld on %s measures on GPU-1: waiting for it, 0 s at most",
             (long)getpid(), node);
    assert_string_equal(notes.last, expected);
    snprintf(expected, sizeof expected, "process %ld on %s measures on GPU-1 (waited 0 s): give each task a GPU",
             (long)getpid(), node);
    assert_non_null(strstr(t.err.text, expected));
    crew_close(&second);
    crew_close(&first);
    notes.last[0] = '\0';
    assert_int_equal(crew_open(&second, &t.err), 0);
    assert_string_equal(notes.last, "");
    crew_close(&second);
    unsetenv("CUDAL2_CACHE");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_one_worker_for_all_that_comes),
        TEST(test_a_task_ends_it),
        TEST(test_a_second_task_has_fresh_workers),
        TEST(test_woken),
        TEST(test_who_is_to_blame_is_left_out),
        TEST(test_who_hangs_is_left_out),
        TEST(test_nobody_is_to_blame),
        TEST(test_a_device_without_workers),
        TEST(test_a_worker_under_a_profiler),
        TEST(test_a_gpu_that_is_another_one),
        TEST(test_an_error_ends_it),
        TEST(test_a_signal),
        TEST(test_a_second_signal),
        TEST(test_a_budget),
        TEST(test_a_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
