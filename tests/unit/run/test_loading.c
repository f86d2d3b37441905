/* run/supervisor and run/process: workers that do not start, plugins that are the end of a worker while they are loaded
 * or compiled, and what a worker is given. The worker is fake_worker.h's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake_worker.h"
#include "run_fixture.h"
#include "base/clock.h"
#include "run/offenders.h"
#include "run/process.h"

static void test_start_fails_for_good(void **state)
{
    (void)state;
    assert_int_equal(go("start:99=exit7"), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(t.err.text, "code 7"));
    assert_int_equal(starts(), 3);
    assert_int_equal(access(t.journal, F_OK), -1); /* nothing measured, nothing left in the way */
    assert_int_equal(access(t.output, F_OK), -1);
}

/* A GPU gets a moment to come back: one pause before the second start, two before the third. */
static void test_start_fails_twice(void **state)
{
    (void)state;
    t.spec.pause_seconds = 0.3;
    uint64_t start = clock_now_ns();
    assert_int_equal(go("start:2=crash"), 0);
    assert_true(clock_now_ns() - start >= 900000000u);
    struct journal_view v = complete_view();
    assert_int_equal(starts(), 3);
    assert_int_equal(v.envs, 1);
    free_view(&v);
}

/* beta is left out from then on; everybody else is measured, and nobody counts it as a start that failed. */
static void expect_refused(const char *script, const char *status)
{
    assert_int_equal(go(script), verdict_is_refuted(verdict_of(status)) ? EXIT_CODE_VERIFICATION : 0);
    struct journal_view v = complete_view();
    assert_int_equal(starts(), 2);
    assert_int_equal(v.envs, 1);
    assert_int_equal(t.n_notes, 1);
    assert_non_null(strstr(t.last_note, "while it loaded beta"));
    for (int i = 0; i < N_CELLS; i++) {
        const struct contender_record *beta = &v.records[i]->contenders[1];
        assert_string_equal(record_verdict(&v.records[i]->contenders[0]), "ok");
        assert_string_equal(record_verdict(beta), i < OFFENDER_CELLS ? status : "left_out");
    }
    assert_string_equal(v.records[0]->contenders[1].stage, "load");
    free_view(&v);
}

static void test_crash_while_loading(void **state)
{
    (void)state;
    expect_refused("betaload=crash", "crash");
}

static void test_exit_while_loading(void **state)
{
    (void)state;
    expect_refused("betaload=exit", "early_exit");
}

static void test_hang_while_loading(void **state)
{
    (void)state;
    expect_refused("betaload=hang", "hang");
}

static void test_forged_message_while_loading(void **state)
{
    (void)state;
    expect_refused("betaload=forge", "tamper_suspected");
}

static void test_several_plugins_that_do_not_load(void **state)
{
    (void)state;
    assert_int_equal(go("alphaload=crash,betaload=exit,gammaload=abort"), EXIT_CODE_INCOMPARABLE);
    struct journal_view v = complete_view();
    assert_int_equal(starts(), 4);
    assert_string_equal(record_verdict(&v.records[0]->contenders[0]), "crash");
    assert_string_equal(record_verdict(&v.records[0]->contenders[1]), "early_exit");
    assert_string_equal(record_verdict(&v.records[0]->contenders[2]), "crash");
    free_view(&v);
}

/* The compiler dies of somebody's kernel: the next worker compiles one by one. */
static void test_crash_while_compiling(void **state)
{
    (void)state;
    assert_int_equal(go("compile=crash"), 0);
    struct journal_view v = complete_view();
    assert_int_equal(starts(), 2);
    assert_non_null(strstr(t.last_note, "compiled"));
    for (int i = 0; i < N_CELLS; i++)
        assert_string_equal(record_outcome(v.records[i]), "ok");
    free_view(&v);
}

/* What a sanitizer or profiler needs to follow the program into its workers. */
static void test_isolation_off_keeps_the_environment(void **state)
{
    char *from[] = {(char *)"SECRET=x", (char *)"OMP_NUM_THREADS=99", (char *)"LD_PRELOAD=y",
                    (char *)"CUDAL2_ISOLATION=off", NULL};
    (void)state;
    for (int off = 1; off >= 0; off--) {
        char **got = process_environment(from, 2);
        assert_non_null(got);
        int secrets = 0, threads = 0, preloads = 0;
        for (size_t i = 0; got[i]; i++) {
            secrets += strcmp(got[i], "SECRET=x") == 0;
            preloads += strcmp(got[i], "LD_PRELOAD=y") == 0;
            assert_string_not_equal(got[i], "OMP_NUM_THREADS=99");
            threads += strcmp(got[i], "OMP_NUM_THREADS=2") == 0;
        }
        assert_int_equal(secrets, off);
        assert_true(off ? preloads == 1 : preloads <= 1); /* a sanitizer's build keeps this one */
        assert_int_equal(threads, 1);
        process_environment_free(got);
        from[3] = (char *)"CUDAL2_ISOLATION=on";
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_start_fails_for_good),
        TEST(test_start_fails_twice),
        TEST(test_crash_while_loading),
        TEST(test_exit_while_loading),
        TEST(test_hang_while_loading),
        TEST(test_forged_message_while_loading),
        TEST(test_several_plugins_that_do_not_load),
        TEST(test_crash_while_compiling),
        TEST(test_isolation_off_keeps_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
