/* run/ledger through the supervisor: stopped runs go on, and only where they may. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake_worker.h"
#include "run_fixture.h"
#include "base/clock.h"

static void test_stop_and_resume(void **state)
{
    char seeds[N_CELLS][RECORD_REASON_MAX];
    (void)state;
    t.stop_after = 2;
    t.stop_value = SIGINT;
    assert_int_equal(go(""), EXIT_CODE_INTERRUPTED);
    assert_string_equal(t.err.text, "interrupted with 2 of 6 cells done; the same command with --resume goes on");
    struct journal_view v = view();
    assert_int_equal(v.cells, 2);
    assert_int_equal(v.ends, 0);
    snprintf(seeds[0], sizeof seeds[0], "%s", v.records[0]->reason);
    free_view(&v);
    assert_int_equal(access(t.output, F_OK), 0); /* the result so far */

    t.stop_after = 4;
    t.stop_value = SIGTERM;
    t.spec.resume = true;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    assert_memory_equal(t.err.text, "terminated with ", 16);

    t.stop_after = 0;
    assert_int_equal(go(""), 0);
    v = complete_view();
    assert_int_equal(v.sittings, 3);
    assert_int_equal(v.envs, 3);
    assert_string_equal(v.records[0]->reason, seeds[0]);
    assert_int_equal(v.records[0]->worker, 0);
    assert_int_equal(v.records[5]->worker, 2);
    free_view(&v);

    long before = starts(); /* complete: one worker is asked what is here, and nothing is measured or written */
    assert_int_equal(go(""), 0);
    assert_int_equal(starts(), before + 1);
    v = complete_view();
    assert_int_equal(v.sittings, 3);
    assert_int_equal(v.envs, 3);
    free_view(&v);
}

/* The seed drawn in the first sitting serves the later ones, so the cells do not depend on interruptions. */
static void test_seed_survives_resume(void **state)
{
    char whole[RECORD_REASON_MAX];
    (void)state;
    t.config.seed_given = true;
    t.config.seed = 5;
    assert_int_equal(go(""), 0);
    struct journal_view v = complete_view();
    snprintf(whole, sizeof whole, "%s", v.records[5]->reason);
    free_view(&v);
    unlink(t.journal);
    unlink(t.output);
    t.stop_after = 1;
    t.stop_value = SIGTERM;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    t.stop_after = 0;
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    v = complete_view();
    assert_string_equal(v.records[5]->reason, whole);
    free_view(&v);
}

/* The second signal does not wait for a cell that hangs. */
static void test_second_signal_kills(void **state)
{
    (void)state;
    t.stop_after = -1; /* at the first stage message */
    t.stop_value = -SIGINT;
    uint64_t start = clock_now_ns();
    assert_int_equal(go("harness=hang"), EXIT_CODE_INTERRUPTED);
    assert_true(clock_now_ns() - start < 5000000000u);
    assert_int_equal(access(t.journal, F_OK), -1);
}

static void interrupt_after_two(void)
{
    t.stop_after = 2;
    t.stop_value = SIGTERM;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    t.stop_after = 0;
    t.spec.resume = true;
}

static void expect_refusal(const char *word)
{
    assert_int_equal(go(NULL), EXIT_CODE_DATA);
    assert_non_null(strstr(t.err.text, word));
    struct journal_view v = view();
    assert_int_equal(v.cells, 2);
    free_view(&v);
}

static void test_resume_refuses_another_config(void **state)
{
    (void)state;
    interrupt_after_two();
    t.config.stop.max_blocks += t.config.stop.group_blocks;
    expect_refusal("cannot resume, the config differs: stop.max_blocks was ");
    t.config.cache[MODE_SERVER] = CACHE_FLUSH;
    t.config.modes = CUDAL2_BIT(MODE_OFFLINE);
    expect_refusal("server.cache (--cache) was \"warm\", is \"flush\"");
    expect_refusal("modes (--mode) was [\"offline\",\"server\"], is [\"offline\"]");
}

static void test_resume_refuses_another_seed(void **state)
{
    (void)state;
    interrupt_after_two();
    t.config.seed_given = true;
    t.config.seed = 6;
    expect_refusal("cannot resume, the config differs: seed (--seed) was not given, is \"6\"");
}

static void test_resume_refuses_another_driver(void **state)
{
    (void)state;
    interrupt_after_two();
    setenv("CUDAL2_FAKE_DRIVER", "2", 1);
    expect_refusal("driver");
}

static void test_a_finished_run_refuses_another_driver(void **state)
{
    (void)state;
    assert_int_equal(go(""), 0);
    t.spec.resume = true;
    setenv("CUDAL2_FAKE_DRIVER", "2", 1);
    assert_int_equal(go(NULL), EXIT_CODE_DATA);
    assert_non_null(strstr(t.err.text, "was measured in another environment: driver"));
    struct journal_view v = complete_view();
    assert_int_equal(v.envs, 1);
    free_view(&v);
}

static void test_existing_journal_is_not_overwritten(void **state)
{
    (void)state;
    interrupt_after_two();
    t.spec.resume = false;
    assert_int_equal(go(""), EXIT_CODE_CANTCREATE);
    assert_non_null(strstr(t.err.text, "--resume"));
    struct journal_view v = view();
    assert_int_equal(v.cells, 2);
    free_view(&v);
}

static void test_resume_of_nothing_starts(void **state)
{
    (void)state;
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    struct journal_view v = complete_view();
    free_view(&v);
}

static void test_output_that_cannot_be(void **state)
{
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/no/such/r.json", t.directory);
    assert_int_equal(run_spec_name(&t.spec, path, &t.err), 0);
    assert_int_equal(go(""), EXIT_CODE_CANTCREATE);
    assert_int_equal(run_spec_name(&t.spec, t.directory, &t.err), 0);
    assert_int_equal(go(""), EXIT_CODE_CANTCREATE);
    assert_int_equal(starts(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_stop_and_resume),
        TEST(test_seed_survives_resume),
        TEST(test_second_signal_kills),
        TEST(test_resume_refuses_another_config),
        TEST(test_resume_refuses_another_seed),
        TEST(test_resume_refuses_another_driver),
        TEST(test_a_finished_run_refuses_another_driver),
        TEST(test_existing_journal_is_not_overwritten),
        TEST(test_resume_of_nothing_starts),
        TEST(test_output_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
