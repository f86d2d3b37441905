/* run/supervisor against workers that misbehave on order (fake_worker.h): every cell once, the culprit named. */
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
#include "base/file.h"
#include "result/make.h"
#include "run/offenders.h"

/* Every cell once, `name` with this verdict in the first three and left out of the rest, the other two ok. */
static void expect_verdict(const char *script, const char *name, const char *status, const char *reason)
{
    /* alpha is the only candidate: a run in which it never produced a number is not a clean one. */
    int code = strcmp(name, "alpha") == 0 ? EXIT_CODE_INCOMPARABLE : 0;
    assert_int_equal(go(script), verdict_is_refuted(verdict_of(status)) ? EXIT_CODE_VERIFICATION : code);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++)
        for (size_t c = 0; c < 3; c++) {
            const struct contender_record *r = &v.records[i]->contenders[c];
            bool bad = strcmp(r->name, name) == 0, tried = i < OFFENDER_CELLS;
            assert_string_equal(record_verdict(r), !bad ? "ok" : tried ? status : "left_out");
            assert_true(!bad || strstr(r->reason, tried ? reason : "left out after 3 ") != NULL);
            assert_true(!bad || strcmp(r->stage, tried ? "setup" : "probe") == 0);
        }
    /* one worker for each cell that lost one, and one that finished */
    assert_int_equal(v.envs, OFFENDER_CELLS + 1);
    assert_int_equal(t.n_notes, OFFENDER_CELLS);
    free_view(&v);
}

/* ---- contenders that misbehave ---- */

static void test_clean_run(void **state)
{
    (void)state;
    assert_int_equal(go(""), 0);
    struct journal_view v = complete_view();
    assert_int_equal(v.envs, 1);
    assert_int_equal(v.sittings, 1);
    assert_int_equal(t.n_notes, 0);
    for (int i = 0; i < N_CELLS; i++)
        assert_int_equal(v.records[i]->worker, 0); /* the index into env[], not what the worker claims */
    assert_string_equal(v.records[1]->label, "two");
    free_view(&v);
}

static void test_crash(void **state)
{
    (void)state;
    expect_verdict("beta=crash", "beta", "crash", "signal 11");
}

static void test_abort(void **state)
{
    (void)state;
    expect_verdict("alpha=abort", "alpha", "crash", "signal 6");
}

static void test_early_exit(void **state)
{
    (void)state;
    expect_verdict("gamma=exit", "gamma", "early_exit", "code 0");
}

static void test_exit_code(void **state)
{
    (void)state;
    expect_verdict("gamma=exit7", "gamma", "early_exit", "code 7");
}

static void test_hang(void **state)
{
    (void)state;
    expect_verdict("beta=hang", "beta", "hang", "setup");
}

static void test_device_lost(void **state)
{
    (void)state;
    expect_verdict("beta=lost", "beta", "cuda_error", "ILLEGAL_ADDRESS");
}

static void test_garbage(void **state)
{
    (void)state;
    expect_verdict("beta=garbage", "beta", "tamper_suspected", "");
}

static void test_binary(void **state)
{
    (void)state;
    expect_verdict("beta=binary", "beta", "tamper_suspected", "");
}

static void test_forged_record(void **state)
{
    (void)state;
    expect_verdict("beta=forge", "beta", "tamper_suspected", "nonce");
}

/* A record that would be believed, but for the stage page: beta is still running. */
static void test_record_sent_by_a_contender(void **state)
{
    (void)state;
    expect_verdict("beta=early", "beta", "tamper_suspected", "while beta was running, in stage setup");
}

static void test_record_with_an_older_nonce(void **state)
{
    (void)state;
    expect_verdict("beta=replay", "beta", "tamper_suspected", "nonce");
}

static void test_anonymous_stage(void **state)
{
    (void)state;
    expect_verdict("beta=anonymous", "beta", "tamper_suspected", "nonce");
}

/* The blame is that of the last moment, however quickly it moved. */
static void test_blame_in_a_storm_of_stages(void **state)
{
    (void)state;
    expect_verdict("beta=storm", "beta", "crash", "signal 11");
}

/* Who wrote half a line is told before another could be taken for the one who did. */
static void test_half_a_line(void **state)
{
    (void)state;
    expect_verdict("beta=half", "beta", "tamper_suspected", "written to");
}

/* A code by which a worker says in what state a hook left the process (tests/unit/run/test_death.c has the others). */
static void test_locale_left_changed(void **state)
{
    (void)state;
    expect_verdict("gamma=code87", "gamma", "device_state_changed", "locale");
}

static void test_socket_closed(void **state)
{
    (void)state;
    expect_verdict("beta=close", "beta", "tamper_suspected", "closed");
}

static void test_socket_kept_open_by_a_child(void **state)
{
    (void)state;
    expect_verdict("beta=orphan", "beta", "early_exit", "code 0");
}

/* ---- left out for the rest of the run ---- */

static void expect_left_out(int cell, const char *reason)
{
    struct journal_view v = complete_view();
    const struct contender_record *r = &v.records[cell]->contenders[1];
    assert_string_equal(r->name, "beta");
    assert_string_equal(record_verdict(r), "left_out");
    assert_string_equal(r->reason, reason);
    free_view(&v);
}

static void test_left_out_says_why(void **state)
{
    (void)state;
    assert_int_equal(go("beta=hang"), 0);
    expect_left_out(3, "left out after 3 hangs");
    expect_left_out(5, "left out after 3 hangs");
}

static void test_left_out_for_faults_of_several_kinds(void **state)
{
    (void)state;
    assert_int_equal(go("beta@32=crash,beta@64=hang,beta@96=exit"), 0);
    expect_left_out(3, "left out after 3 lost workers");
}

static void test_two_faults_are_forgiven(void **state)
{
    (void)state;
    assert_int_equal(go("beta@32=crash"), 0); /* in both modes */
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++)
        assert_string_equal(record_verdict(&v.records[i]->contenders[1]), i % 3 == 0 ? "crash" : "ok");
    free_view(&v);
}

/* The count is that of the journal: two cells before the interruption, the third after it. */
static void test_left_out_counts_over_a_resume(void **state)
{
    (void)state;
    t.stop_after = 2;
    t.stop_value = SIGTERM;
    assert_int_equal(go("beta=crash"), EXIT_CODE_TEMPORARY);
    t.stop_after = 0;
    t.spec.resume = true;
    assert_int_equal(go("beta=crash"), 0);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++)
        assert_string_equal(record_verdict(&v.records[i]->contenders[1]), i < 3 ? "crash" : "left_out");
    free_view(&v);
}

/* Two culprits in one cell: each costs a worker, both are recorded, the third contender still races. */
static void test_several_culprits(void **state)
{
    (void)state;
    assert_int_equal(go("alpha@64=crash,gamma@64=exit,beta@32=hang"), 0);
    struct journal_view v = complete_view();
    for (int mode = 0; mode < 2; mode++) {
        const struct cell_record *first = v.records[3 * mode], *second = v.records[3 * mode + 1];
        assert_string_equal(record_verdict(&first->contenders[1]), "hang");
        assert_string_equal(record_verdict(&first->contenders[0]), "ok");
        assert_string_equal(record_verdict(&second->contenders[0]), "crash");
        assert_string_equal(record_verdict(&second->contenders[1]), "ok");
        assert_string_equal(record_verdict(&second->contenders[2]), "early_exit");
    }
    assert_int_equal(v.envs, 7);
    free_view(&v);
}

static void test_wrong_result_has_its_exit_code(void **state)
{
    (void)state;
    assert_int_equal(go("beta@64=wrong"), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(t.err.text, "beta"));
    struct journal_view v = complete_view();
    free_view(&v);
}

/* ---- the harness that fails ---- */

static void test_harness_fails_twice(void **state)
{
    (void)state;
    assert_int_equal(go("harness@64=crash"), EXIT_CODE_INCOMPARABLE);
    struct journal_view v = complete_view();
    assert_string_equal(record_outcome(v.records[1]), "failed");
    assert_non_null(strstr(v.records[1]->reason, "signal 11"));
    assert_string_equal(v.records[1]->label, "two");
    assert_string_equal(record_outcome(v.records[0]), "ok");
    assert_string_equal(record_outcome(v.records[5]), "ok");
    assert_int_equal(starts(), 5); /* two for each of the two cells, one that finished */
    free_view(&v);
}

/* Our own failure is never a contender's verdict, even when a contender was running. */
static void test_infrastructure_is_not_blamed(void **state)
{
    (void)state;
    assert_int_equal(go("beta@64=memory"), EXIT_CODE_INCOMPARABLE);
    struct journal_view v = complete_view();
    assert_string_equal(record_outcome(v.records[1]), "failed");
    assert_non_null(strstr(v.records[1]->reason, "out of memory"));
    free_view(&v);
}

static void test_record_of_another_cell(void **state)
{
    (void)state;
    assert_int_equal(go("harness@64=othercell"), EXIT_CODE_INCOMPARABLE);
    struct journal_view v = complete_view();
    assert_string_equal(record_outcome(v.records[1]), "failed");
    assert_non_null(strstr(v.records[1]->reason, "another cell"));
    free_view(&v);
}

static void test_worker_says_why_it_cannot_start(void **state)
{
    (void)state;
    assert_int_equal(go("start:99=memory"), EXIT_CODE_INTERNAL);
    assert_non_null(strstr(t.err.text, "out of memory"));
    assert_int_equal(starts(), 1);
}

static void test_program_that_is_not_there(void **state)
{
    (void)state;
    t.spec.program = "/nonexistent/worker";
    assert_int_equal(go(""), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(t.err.text, "127"));
}

/* ---- several workers ---- */

static void two_workers(void)
{
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
}

static void test_two_workers_share_the_cells(void **state)
{
    (void)state;
    two_workers();
    assert_int_equal(go("harness=slow"), 0);
    struct journal_view v = complete_view();
    int of_worker[2] = {0};
    assert_int_equal(v.envs, 2);
    for (int i = 0; i < N_CELLS; i++)
        of_worker[v.records[i]->worker]++;
    assert_int_equal(of_worker[0], 3);
    assert_int_equal(of_worker[1], 3);
    free_view(&v);
}

/* Of two workers one never comes up: its cell goes to the other. */
static void test_one_of_two_workers_is_enough(void **state)
{
    (void)state;
    two_workers();
    assert_int_equal(go("start:4=exit,harness=slow"), 0);
    struct journal_view v = complete_view();
    free_view(&v);
}

static void test_crashes_in_two_workers(void **state)
{
    (void)state;
    two_workers();
    assert_int_equal(go("beta=crash,gamma@64=hang"), 0);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++) { /* the longest come first: those from idle, and of each mode the largest */
        const char *status = record_verdict(&v.records[N_CELLS - 1 - i]->contenders[1]);
        if (i != OFFENDER_CELLS) /* that one may be under way when the third crash comes */
            assert_string_equal(status, i < OFFENDER_CELLS ? "crash" : "left_out");
    }
    free_view(&v);
}

/* ---- what a worker is given ---- */

/* What a director has seen. */
struct steering {
    int ready, requests, early; /* early: requests before any worker was up */
};

static int steer_ready(void *context, const cJSON *env, struct error *err)
{
    struct steering *s = context;
    (void)err;
    assert_non_null(env);
    s->ready++;
    return 0;
}

static int steer_request(void *context, struct cell_request *request, struct error *err)
{
    struct steering *s = context;
    (void)err;
    assert_non_null(request);
    s->requests++;
    s->early += s->ready == 0;
    return 0;
}

static int steer_write(void *context, const char *journal_path, const char *output, struct error *err)
{
    (void)context;
    return result_write(journal_path, output, err);
}

/* The tuner chooses for the device it has been told of: the first cells, too. */
static void test_director_is_asked_when_a_worker_is_up(void **state)
{
    struct steering s = {0};
    const struct run_director director = {
        .context = &s, .ready = steer_ready, .request = steer_request, .write = steer_write};
    (void)state;
    two_workers();
    t.director = &director;
    t.spec.search = true;
    assert_int_equal(go(""), 0);
    assert_int_equal(s.early, 0);
    assert_int_equal(s.requests, N_CELLS);
    assert_in_range(s.ready, 1, 2);
}

/* A cell that is sent again to the next worker is the same one. */
static void test_director_is_asked_once_for_each_cell(void **state)
{
    struct steering s = {0};
    const struct run_director director = {
        .context = &s, .ready = steer_ready, .request = steer_request, .write = steer_write};
    (void)state;
    t.director = &director;
    t.spec.search = true;
    assert_int_equal(go("beta=crash"), 0);
    assert_int_equal(s.early, 0);
    assert_int_equal(s.requests, N_CELLS);
    assert_true(s.ready > 1);
}

static void test_child_is_clean(void **state)
{
    char path[128], *text = NULL;
    size_t length;
    (void)state;
    setenv("LD_PRELOAD_TEST", "x", 1);
    setenv("CUDA_VISIBLE_DEVICES", "3", 1);
    setenv("SECRET", "x", 1);
    setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
    int leak = open("/dev/null", O_RDONLY); /* deliberately without O_CLOEXEC */
    assert_int_equal(go(""), 0);
    close(leak);
    unsetenv("CUDA_VISIBLE_DEVICES");
    snprintf(path, sizeof path, "%s/environ", t.directory);
    assert_int_equal(file_read(path, 1 << 20, &text, &length, &t.err), 0);
    assert_memory_equal(text, "fd 0\nfd 1\nfd 2\nfd 3\nfd 5\nfd 6\nleads its session\n", 43);
    assert_null(strstr(text, "fd 4"));
    assert_null(strstr(text, "SECRET"));
    assert_null(strstr(text, "NVIDIA_TF32_OVERRIDE"));
    assert_null(strstr(text, "LD_PRELOAD_TEST"));
    assert_non_null(strstr(text, "\nOMP_WAIT_POLICY=passive\n"));
    assert_non_null(strstr(text, "\nOMP_NUM_THREADS="));
    assert_non_null(strstr(text, "\nCUDA_DEVICE_ORDER=PCI_BUS_ID\n"));
    assert_non_null(strstr(text, "\nCUDA_VISIBLE_DEVICES=3\n"));
    assert_non_null(strstr(text, "\nPATH="));
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_clean_run),
        TEST(test_crash),
        TEST(test_abort),
        TEST(test_early_exit),
        TEST(test_exit_code),
        TEST(test_hang),
        TEST(test_device_lost),
        TEST(test_garbage),
        TEST(test_binary),
        TEST(test_forged_record),
        TEST(test_record_sent_by_a_contender),
        TEST(test_record_with_an_older_nonce),
        TEST(test_anonymous_stage),
        TEST(test_left_out_says_why),
        TEST(test_left_out_for_faults_of_several_kinds),
        TEST(test_two_faults_are_forgiven),
        TEST(test_left_out_counts_over_a_resume),
        TEST(test_blame_in_a_storm_of_stages),
        TEST(test_half_a_line),
        TEST(test_locale_left_changed),
        TEST(test_socket_closed),
        TEST(test_socket_kept_open_by_a_child),
        TEST(test_several_culprits),
        TEST(test_wrong_result_has_its_exit_code),
        TEST(test_harness_fails_twice),
        TEST(test_infrastructure_is_not_blamed),
        TEST(test_record_of_another_cell),
        TEST(test_worker_says_why_it_cannot_start),
        TEST(test_program_that_is_not_there),
        TEST(test_two_workers_share_the_cells),
        TEST(test_one_of_two_workers_is_enough),
        TEST(test_crashes_in_two_workers),
        TEST(test_director_is_asked_when_a_worker_is_up),
        TEST(test_director_is_asked_once_for_each_cell),
        TEST(test_child_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
