/* run/audit through the supervisor, with scripted workers that say they have a GPU: what was timed is watched in fresh
 * workers, once, and nothing that happens there costs the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fake_worker.h"
#include "journal_fixture.h"
#include "run_fixture.h"
#include "record/activity.h"
#include "result/result.h"
#include "run/audit_jobs.h"

static struct activity_book book;

static int set_up_gpu(void **state)
{
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    return set_up(state);
}

static int tear_down_gpu(void **state)
{
    unsetenv("CUDAL2_FAKE_KIND");
    activity_book_free(&book);
    return tear_down(state);
}

static const struct activity_book *read_book(void)
{
    activity_book_free(&book);
    assert_int_equal(activity_book_read(t.journal, &book, &t.err), 0);
    return &book;
}

/* Workers that were started to watch. */
static long audits(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/audits", t.directory);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

/* A member of what was seen of `name` in the cell of this m and mode; NULL when it is not there. */
static const cJSON *seen(const char *mode, int m, const char *name, const char *key)
{
    char cell[RECORD_KEY_MAX];
    const cJSON *c;
    snprintf(cell, sizeof cell, "%s/f32-f32-%dx32x32", mode, m);
    cJSON_ArrayForEach(c, activity_book_cell(&book, cell))
    {
        if (strcmp(cJSON_GetObjectItem(c, "name")->valuestring, name) == 0)
            return cJSON_GetObjectItem(c, key);
    }
    return NULL;
}

static void test_every_cell_is_watched_once(void **state)
{
    (void)state;
    assert_int_equal(go(""), 0);
    struct journal_view v = complete_view();
    assert_int_equal(v.envs, 1); /* who watches is in no env line: a cell's worker counts those that timed */
    free_view(&v);
    assert_int_equal(cJSON_GetArraySize(read_book()->cells), N_CELLS);
    assert_int_equal(starts(), 1);
    assert_int_equal(audits(), 1);
    assert_non_null(book.recorder);
    assert_null(book.unavailable);
    assert_non_null(seen("server", 96, "gamma", "launch"));
    assert_int_equal(t.n_notes, 1);
    assert_string_equal(t.last_note, "everything is timed; watching launches in 6 cells");
}

/* A finished run stays finished. */
static void test_resume_of_a_finished_run(void **state)
{
    (void)state;
    assert_int_equal(go(""), 0);
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    assert_int_equal(audits(), 1);
}

static void test_no_gpu(void **state)
{
    (void)state;
    unsetenv("CUDAL2_FAKE_KIND");
    assert_int_equal(go(""), 0);
    read_book();
    assert_null(book.cells);
    assert_null(book.unavailable);
    assert_int_equal(audits(), 0);
}

static void test_turned_off(void **state)
{
    (void)state;
    t.config.activity = ACTIVITY_OFF;
    assert_int_equal(go(""), 0);
    assert_null(read_book()->cells);
    assert_int_equal(audits(), 0);
}

static void test_no_recorder(void **state)
{
    (void)state;
    assert_int_equal(go("recorder=none"), 0);
    struct journal_view v = complete_view();
    free_view(&v);
    read_book();
    assert_null(book.cells);
    assert_string_equal(cJSON_GetObjectItem(book.unavailable, "unavailable")->valuestring, "no CUPTI: nowhere");
    assert_int_equal(audits(), 1); /* it would say the same again */
    assert_string_equal(t.last_note, "nothing is watched: no CUPTI: nowhere");
}

static void test_a_worker_that_does_not_start(void **state)
{
    (void)state;
    assert_int_equal(go("auditor=crash"), 0);
    struct journal_view v = complete_view();
    free_view(&v);
    read_book();
    assert_non_null(strstr(cJSON_GetObjectItem(book.unavailable, "unavailable")->valuestring, "crash: "));
    assert_int_equal(audits(), 2);
}

/* The first start of two fails twice; the other worker does it all. */
static void test_one_of_two_workers(void **state)
{
    (void)state;
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    assert_int_equal(go("firstauditor=exit7"), 0);
    assert_int_equal(cJSON_GetArraySize(read_book()->cells), N_CELLS);
    assert_null(book.unavailable);
}

static void test_neither_of_two_workers(void **state)
{
    (void)state;
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    assert_int_equal(go("recorder=none"), 0);
    read_book();
    assert_null(book.cells);
    assert_string_equal(cJSON_GetObjectItem(book.unavailable, "unavailable")->valuestring, "no CUPTI: nowhere");
}

/* The contender that took the worker with it is not watched any more, the others are, in that cell too. */
static void test_a_crash_while_watching(void **state)
{
    (void)state;
    assert_int_equal(go("betawatched@64=crash"), 0);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++)
        for (size_t c = 0; c < 3; c++)
            assert_string_equal(record_verdict(&v.records[i]->contenders[c]), "ok"); /* it is no verdict */
    free_view(&v);
    assert_int_equal(cJSON_GetArraySize(read_book()->cells), N_CELLS);
    assert_int_equal(audits(), 2);
    assert_non_null(seen("offline", 32, "beta", "launch"));
    assert_string_equal(seen("offline", 64, "beta", "unavailable")->valuestring, "crash");
    assert_string_equal(seen("server", 32, "beta", "unavailable")->valuestring, "crash");
    assert_non_null(seen("offline", 64, "alpha", "launch"));
    assert_non_null(seen("offline", 64, "gamma", "launch"));
}

static void test_a_hang_while_watching(void **state)
{
    (void)state;
    assert_int_equal(go("gammawatched@32=hang"), 0);
    read_book();
    assert_string_equal(seen("offline", 32, "gamma", "unavailable")->valuestring, "hang");
    assert_non_null(seen("server", 96, "alpha", "launch"));
}

/* Nobody to blame: the cell is given up after two tries, and the next one goes on. */
static void test_the_harness_fails(void **state)
{
    (void)state;
    assert_int_equal(go("watcher@64=crash"), 0);
    read_book();
    assert_non_null(strstr(seen("offline", 64, "alpha", "unavailable")->valuestring, "worker lost 2 times"));
    assert_non_null(seen("offline", 96, "alpha", "launch"));
    assert_int_equal(audits(), 5);
}

/* What a watcher may not say is not believed. */
static void test_a_verdict_that_is_none(void **state)
{
    (void)state;
    assert_int_equal(go("alphawatched@32=nonsense"), 0);
    read_book();
    assert_non_null(strstr(seen("offline", 32, "alpha", "unavailable")->valuestring, "worker lost 2 times"));
    assert_null(seen("offline", 32, "alpha", "status"));
}

static void test_a_verdict_on_somebody_else(void **state)
{
    (void)state;
    assert_int_equal(go("slander@32=x"), 0);
    read_book();
    assert_non_null(strstr(seen("offline", 32, "alpha", "unavailable")->valuestring, "other contenders"));
    assert_null(seen("offline", 32, "rival", "status"));
}

/* ---- verdicts ---- */

static const cJSON *result_of(cJSON *result, const char *key, const char *contender)
{
    const cJSON *cell;
    cJSON_ArrayForEach(cell, cJSON_GetObjectItem(result, "cells"))
    {
        if (strcmp(cJSON_GetObjectItem(cell, "key")->valuestring, key) == 0)
            return cJSON_GetObjectItem(cJSON_GetObjectItem(cell, "contenders"), contender);
    }
    return NULL;
}

static void test_a_verdict_refutes(void **state)
{
    cJSON *result = NULL;
    (void)state;
    assert_int_equal(go("alphawatched@64=escape"), EXIT_CODE_VERIFICATION);
    assert_string_equal(t.err.text, "stream_escape: alpha at offline/f32-f32-64x32x32 (2 failed verification in all)");
    assert_int_equal(json_read_file(t.output, RESULT_FILE_MAX_BYTES, &result, &t.err), 0);
    const cJSON *alpha = result_of(result, "offline/f32-f32-64x32x32", "alpha");
    assert_string_equal(cJSON_GetObjectItem(alpha, "status")->valuestring, "stream_escape");
    assert_string_equal(cJSON_GetObjectItem(alpha, "stage")->valuestring, "activity");
    assert_string_equal(cJSON_GetObjectItem(alpha, "reason")->valuestring, "kernel x in stream 9 began early");
    assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(alpha, "activity"), "launch"));
    alpha = result_of(result, "offline/f32-f32-32x32x32", "alpha");
    assert_string_equal(cJSON_GetObjectItem(alpha, "status")->valuestring, "ok");
    const cJSON *summary = cJSON_GetObjectItem(cJSON_GetObjectItem(result, "summary"), "activity");
    assert_int_equal(cJSON_GetObjectItem(summary, "launches")->valueint, 3 * N_CELLS);
    assert_int_equal(cJSON_GetObjectItem(summary, "refuted")->valueint, 2);
    cJSON_Delete(result);

    t.spec.resume = true; /* the verdict is the journal's, not the sitting's */
    assert_int_equal(go(""), EXIT_CODE_VERIFICATION);
}

/* ---- resume ---- */

/* Stopped when everything is timed: the journal has no end, and the next sitting watches what is left. */
static void test_stop_and_resume(void **state)
{
    (void)state;
    t.stop_at_note = "everything is timed";
    t.stop_value = SIGINT;
    assert_int_equal(go(""), EXIT_CODE_INTERRUPTED);
    assert_string_equal(
        t.err.text,
        "stopped: every cell is timed, 6 rows of launches are not watched yet; the same command with --resume goes on");
    struct journal_view v = view();
    assert_int_equal(v.cells, N_CELLS);
    assert_int_equal(v.ends, 0);
    free_view(&v);
    assert_int_equal(access(t.output, F_OK), 0);

    t.stop_at_note = NULL;
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    v = complete_view();
    assert_int_equal(v.envs, 1);
    free_view(&v);
    assert_int_equal(starts(), 1);
    assert_int_equal(cJSON_GetArraySize(read_book()->cells), N_CELLS);
}

/* Stopped half way by a signal that comes with the loss of a worker: what is in the journal is not watched again. */
static void test_stop_half_way(void **state)
{
    (void)state;
    t.stop_at_note = "worker lost";
    t.stop_value = SIGTERM;
    assert_int_equal(go("betawatched@96=crash"), EXIT_CODE_TEMPORARY);
    size_t before = (size_t)cJSON_GetArraySize(read_book()->cells);
    assert_int_equal(before, 2);
    t.stop_at_note = NULL;
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    assert_int_equal(cJSON_GetArraySize(read_book()->cells), N_CELLS); /* a second look at a cell would be refused */
    assert_non_null(seen("offline", 96, "beta", "launch"));
}

/* ---- choosing ---- */

/* A journal of n cells with two contenders each, of which the candidate has `variants` different kernels. */
static void write_cells(struct ledger *l, size_t n, int variants)
{
    struct cudal2_problem problem = {.m = 1, .n = 32, .k = 32, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    l->plan.cells = calloc(n, sizeof *l->plan.cells);
    l->plan.n_cells = n;
    l->seed = 5;
    snprintf(l->journal_path, sizeof l->journal_path, "%s", t.journal);
    l->journal = new_journal(t.journal);
    for (size_t i = 0; i < n; i++) {
        char key[16];
        struct cell_record *r = record_new();
        problem.m = (int64_t)i + 1;
        l->plan.cells[i] = (struct plan_cell){.problem = problem, .mode = MODE_OFFLINE};
        r->problem = problem;
        r->blocks = r->groups = 1;
        r->group_of = calloc(1, sizeof *r->group_of);
        r->order = calloc(1, sizeof *r->order);
        r->order[0] = strdup("1");
        r->n_contenders = 3;
        const char *const names[] = {"cublas-nn", "ours-nn", "ours-nn+copy"};
        for (int c = 0; c < 3; c++) {
            snprintf(r->contenders[c].name, sizeof r->contenders[c].name, "%s", names[c]);
            r->contenders[c].verdict = VERDICT_OK;
        }
        r->contenders[1].candidate = true;
        snprintf(r->contenders[2].copy_of, sizeof r->contenders[2].copy_of, "ours-nn");
        snprintf(key, sizeof key, "v%d", (int)i % variants);
        r->contenders[1].tuning = cJSON_CreateObject();
        cJSON_AddStringToObject(r->contenders[1].tuning, "variant", key);
        series_add(&r->contenders[1].timings[TIMING_DEVICE], 0, 1000);
        snprintf(r->contenders[1].rung, sizeof r->contenders[1].rung, "graph");
        put_cell(l->journal, r);
    }
}

static void free_ledger(struct ledger *l)
{
    journal_close(l->journal);
    free(l->plan.cells);
}

/* Every kernel of the candidate at least once, everybody in a tenth of the cells. */
static void test_a_sample(void **state)
{
    struct ledger l = {.created = false};
    struct audit_jobs jobs;
    bool has[300] = {false};
    size_t whole = 0, single = 0;
    (void)state;
    write_cells(&l, 400, 300);
    for (size_t i = 0; i < l.plan.n_cells; i++)
        l.plan.cells[i].cost_seconds = 1;
    assert_int_equal(audit_jobs_make(&l, ACTIVITY_SAMPLE, &jobs, &t.err), 0);
    for (size_t i = 0; i < jobs.n; i++) {
        int n = cJSON_GetArraySize(jobs.list[i].contenders);
        whole += n == 2; /* never the copy */
        single += n == 1;
        const cJSON *ours = cJSON_GetArrayItem(jobs.list[i].contenders, n - 1);
        assert_string_equal(cJSON_GetObjectItem(ours, "name")->valuestring, "ours-nn");
        assert_null(cJSON_GetObjectItem(ours, "candidate"));
        assert_float_equal(cJSON_GetObjectItem(ours, "timed_ns")->valuedouble, 1000, 0);
        has[atoi(cJSON_GetObjectItem(ours, "variant")->valuestring + 1)] = true;
    }
    assert_int_equal(whole, 40);
    for (size_t i = 0; i < 300; i++)
        assert_true(has[i]);
    assert_true(single >= 260 && single <= 300);
    audit_jobs_sort(&jobs); /* cells of one length: two contenders take longer than one */
    for (size_t i = 0; i < jobs.n; i++)
        assert_int_equal(cJSON_GetArraySize(jobs.list[i].contenders), i < whole ? 2 : 1);
    audit_jobs_free(&jobs);
    free_ledger(&l);
}

static void test_few_cells_are_all(void **state)
{
    struct ledger l = {.created = false};
    struct audit_jobs jobs;
    (void)state;
    write_cells(&l, 40, 1);
    assert_int_equal(audit_jobs_make(&l, ACTIVITY_SAMPLE, &jobs, &t.err), 0);
    assert_int_equal(jobs.n, AUDIT_SAMPLE_LEAST);
    audit_jobs_free(&jobs);
    assert_int_equal(audit_jobs_make(&l, ACTIVITY_ALL, &jobs, &t.err), 0);
    assert_int_equal(jobs.n, 40);
    audit_jobs_free(&jobs);
    l.plan.cells[7].cost_seconds = 2; /* for several workers the longest come first */
    l.plan.cells[30].cost_seconds = 3;
    assert_int_equal(audit_jobs_make(&l, ACTIVITY_ALL, &jobs, &t.err), 0);
    assert_int_equal(jobs.list[0].cell, 0);
    audit_jobs_sort(&jobs);
    assert_int_equal(jobs.list[0].cell, 30);
    assert_int_equal(jobs.list[1].cell, 7);
    assert_int_equal(jobs.list[2].cell, 0);
    audit_jobs_free(&jobs);
    free_ledger(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_gpu, tear_down_gpu)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_every_cell_is_watched_once),
        TEST(test_resume_of_a_finished_run),
        TEST(test_no_gpu),
        TEST(test_turned_off),
        TEST(test_no_recorder),
        TEST(test_a_worker_that_does_not_start),
        TEST(test_one_of_two_workers),
        TEST(test_neither_of_two_workers),
        TEST(test_a_crash_while_watching),
        TEST(test_a_hang_while_watching),
        TEST(test_the_harness_fails),
        TEST(test_a_verdict_that_is_none),
        TEST(test_a_verdict_on_somebody_else),
        TEST(test_a_verdict_refutes),
        TEST(test_stop_and_resume),
        TEST(test_stop_half_way),
        TEST(test_a_sample),
        TEST(test_few_cells_are_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
