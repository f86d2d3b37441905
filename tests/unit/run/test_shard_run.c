/* run/: a shard through the supervisor: its part of the plan, going on, and a GPU that is lost on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_worker.h"
#include "run_fixture.h"

static void shard(unsigned index, unsigned count)
{
    t.spec.shard = (struct shard){index, count};
    t.spec.resume = true;
}

static int cells(void)
{
    struct journal_view v = view();
    int n = v.cells;
    free_view(&v);
    return n;
}

static void assert_all_ok(void)
{
    struct journal_view v = view();
    for (int i = 0; i < N_CELLS; i++)
        for (size_t j = 0; v.records[i] && j < v.records[i]->n_contenders; j++)
            assert_string_equal(record_verdict(&v.records[i]->contenders[j]), "ok");
    free_view(&v);
}

/* Six cells: the sentinel, and five dealt to two. */
static void test_parts(void **state)
{
    (void)state;
    shard(0, 2);
    assert_int_equal(go(""), 0);
    int first = cells();
    unlink(t.journal);
    unlink(t.output);
    shard(1, 2);
    assert_int_equal(go(""), 0);
    assert_int_equal(first + cells(), N_CELLS + 1);
}

static void test_goes_on_with_its_own_alone(void **state)
{
    (void)state;
    shard(1, 2);
    t.stop_after = 1;
    t.stop_value = SIGTERM;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    assert_int_equal(cells(), 1);
    t.stop_after = 0;
    shard(0, 2);
    assert_int_equal(go(""), EXIT_CODE_DATA);
    assert_non_null(strstr(t.err.text, "the journal is shard 1/2, this is 0/2"));
    shard(1, 3);
    assert_int_equal(go(""), EXIT_CODE_DATA);
    t.spec.shard.count = 0;
    assert_int_equal(go(""), EXIT_CODE_DATA);
    assert_non_null(strstr(t.err.text, "the journal is shard 1/2; give --shard 1/2"));
    shard(1, 2);
    assert_int_equal(go(""), 0);
}

/* Another node may have a GPU that works; of what never started none is expected to. */
static void test_a_lost_gpu_is_tried_again(void **state)
{
    (void)state;
    shard(0, 2);
    assert_int_equal(go("start:99=exit7"), EXIT_CODE_UNAVAILABLE);
    t.stop_after = 1;
    t.stop_value = SIGTERM;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    t.stop_after = 0;
    assert_int_equal(go("start:99=exit7"), EXIT_CODE_TEMPORARY);
    assert_non_null(strstr(t.err.text, "code 7"));
    assert_int_equal(go(""), 0);
}

/* In its first cell, with nothing measured. Who was running has done nothing. */
static void test_a_gpu_that_falls_off_the_bus(void **state)
{
    (void)state;
    shard(0, 2);
    assert_int_equal(go("gpu=gone"), EXIT_CODE_TEMPORARY);
    assert_non_null(strstr(t.err.text, "cpu (GPU-first) has worked in this run and does not any more"));
    assert_int_not_equal(access(t.journal, F_OK), 0);
    assert_int_equal(go("gpu=gone"), 0);
    assert_all_ok();
}

/* The other GPU of the host measures what is left. */
static void test_one_of_two_gpus_falls_off_the_bus(void **state)
{
    (void)state;
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    assert_int_equal(go("gpu=gone"), 0);
    assert_int_equal(cells(), N_CELLS);
    assert_all_ok();
}

/* A task that was killed may have left its run behind. */
static void test_waits_for_the_journal(void **state)
{
    (void)state;
    shard(0, 2);
    t.stop_after = 1;
    t.stop_value = SIGTERM;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    t.stop_after = 0;
    t.spec.lock_seconds = 0.3;
    int fd = open(t.journal, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    uint64_t start = clock_now_ns();
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    assert_true(clock_now_ns() - start >= 300000000u);
    assert_non_null(strstr(t.err.text, "another task is writing this journal"));
    close(fd);
    assert_int_equal(go(""), 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on_with_its_own_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_lost_gpu_is_tried_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_gpu_that_falls_off_the_bus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_of_two_gpus_falls_off_the_bus, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_for_the_journal, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
