/* serve/together and serve/evaluate: kernels of one code that wait for the same problem are measured in the same cells,
 * each has its own outcome, and a fault of one leaves each to be measured by itself. Workers are scripted and say they
 * have a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/tree.h"
#include "fake_worker.h"
#include "run/warm.h"
#include "serve/server_state.h"
#include "served_gpu.h"
#include "worker/worker.h"

#define MOST 8

static struct server *server;
static char ids[MOST + 1][DIGEST_HEX];
static size_t n_ids;

/* ---- the server ---- */

static int begin(void **state)
{
    struct error err = {0};
    if (scratch_make(state))
        return -1;
    snprintf(kernels, sizeof kernels, "%s/kernels", scratch);
    setenv("CUDAL2_FAKE_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    setenv("CUDAL2_FAKE", "beside=slow,harness@1=hold", 1);
    n_ids = 0;
    return file_make_directories(kernels, &err) || open_served(&gpu, 20, &server, &err) ? -1 : 0;
}

static int end(void **state)
{
    server_drain(server, false);
    server_close(server);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_KIND");
    return scratch_remove(state);
}

static void submit(int m, int bm)
{
    const struct server_client client = {"alice", NULL};
    struct server_view view;
    struct error err = {0};
    char parameters[32];
    struct submission *s = malloc(sizeof *s);
    assert_non_null(s);
    *s = (struct submission){
        .kind = CANDIDATE_KERNEL, .name = "k", .baseline = "beta", .half_width = 0.5, .seconds = 1, .share = true};
    s->accumulate = CUDAL2_ACC_F32;
    s->n_problems = 1;
    assert_int_equal(shape_parse("64x32x32", &s->problems[0], &err), 0);
    s->problems[0].m = m;
    snprintf(parameters, sizeof parameters, "{\"BM\":%d}", bm);
    s->parameters = cJSON_Parse(parameters);
    assert_int_equal(server_submit(server, &client, s, &view, &err), 202);
    snprintf(ids[n_ids++], DIGEST_HEX, "%s", view.id);
    server_view_free(&view);
}

static void wait_until(enum job_state state, size_t n)
{
    size_t is = 0;
    for (int i = 0; i < 2000 && is != n; i++) {
        usleep(5000);
        pthread_mutex_lock(&server->lock);
        is = jobs_count(&server->jobs, NULL, state);
        pthread_mutex_unlock(&server->lock);
    }
    assert_int_equal(is, n);
}

/* While the first job has the device the others come to the point where they can be measured. */
static void submit_behind_another(const int (*jobs)[2], size_t n)
{
    submit(1, 64);
    wait_until(JOB_MEASURING, 1);
    for (size_t i = 0; i < n; i++)
        submit(jobs[i][0], jobs[i][1]);
    wait_until(JOB_READY, n);
    scratch_write("audits", ""); /* which it waits for */
}

static cJSON *outcome_of(size_t job)
{
    struct server_view view;
    struct error err = {0};
    assert_int_equal(server_look(server, "alice", ids[job], 60, &view, &err), 200);
    assert_string_equal(view.state, "done");
    cJSON *outcome = cJSON_Parse(view.outcome);
    server_view_free(&view);
    return outcome;
}

/* How many it was measured with; 0: alone. */
static size_t together(size_t job)
{
    cJSON *outcome = outcome_of(job);
    size_t n = tree_whole(outcome, "together");
    cJSON_Delete(outcome);
    return n;
}

/* ---- who is measured together ---- */

static void the_same_problem(void **state)
{
    static const int jobs[][2] = {{32, 64}, {32, 128}, {64, 64}, {32, 256}};
    static const char *const names[] = {"", "submitted-nn", "submitted2-nn", "", "submitted3-nn"};
    (void)state;
    submit_behind_another(jobs, 4);
    assert_int_equal(together(0), 0);
    assert_int_equal(together(3), 0); /* another problem */
    for (size_t i = 1; i < 5; i += i == 2 ? 2 : 1) {
        char path[PATH_MAX];
        struct error err;
        cJSON *outcome = outcome_of(i);
        const cJSON *problem = cJSON_GetArrayItem(tree_member(outcome, "problems"), 0);
        assert_int_equal(tree_whole(outcome, "together"), 3);
        assert_string_equal(tree_text(outcome, "verdict"), "ok");
        assert_string_equal(tree_text(problem, "contender"), names[i]);
        assert_true(tree_number(tree_member(outcome, "reward"), "value") > 0);
        assert_int_equal(store_path(&server->store, ids[i], STORE_JOURNAL, path, &err), 0);
        assert_int_equal(access(path, F_OK), 0);
        char *journal = NULL;
        assert_int_equal(store_get(&server->store, ids[i], STORE_JOURNAL, &journal, &err), 0);
        assert_non_null(strstr(journal, "\"min_blocks\":12,"));
        assert_non_null(strstr(journal, "\"max_cell_seconds\":3,")); /* one for each */
        free(journal);
        cJSON_Delete(outcome);
    }
}

/* One look at all lines that are new; the worker that looks is kept as well. */
static void watched_together(void **state)
{
    static const int jobs[][2] = {{32, 64}, {32, 128}, {32, 256}};
    static const char *const told[] = {"now", "now", "now", "now"};
    struct stat st;
    (void)state;
    submit_behind_another(jobs, 3);
    for (size_t i = 0; i < 4; i++) {
        cJSON *outcome = outcome_of(i);
        assert_string_equal(tree_text(outcome, "watched"), told[i]);
        cJSON_Delete(outcome);
    }
    assert_int_equal(stat(scratch_path("watches"), &st), 0);
    assert_int_equal(st.st_size, 2); /* of the first job, and of the three */
    assert_int_equal(stat(scratch_path("audits"), &st), 0);
    assert_int_equal(st.st_size, 1);
}

static void no_more_than_some(void **state)
{
    int jobs[MOST + 1][2];
    (void)state;
    for (int i = 0; i < MOST; i++) {
        jobs[i][0] = 32;
        jobs[i][1] = i + 1;
    }
    assert_int_equal(EVALUATE_MOST, MOST);
    submit_behind_another((const int(*)[2])jobs, MOST);
    for (size_t i = 1; i <= MOST; i++)
        assert_int_equal(together(i), MOST);
}

/* ---- what is told of the time ---- */

static void each_has_its_share(void **state)
{
    static const int jobs[][2] = {{32, 64}, {32, 128}};
    (void)state;
    submit_behind_another(jobs, 2);
    cJSON *first = outcome_of(1), *second = outcome_of(2);
    assert_true(tree_number(first, "measuring_seconds") > 0);
    assert_true(tree_number(first, "measuring_seconds") - tree_number(second, "measuring_seconds") < 1e-9);
    assert_true(tree_number(tree_member(first, "spent"), "start") - tree_number(tree_member(second, "spent"), "start") <
                1e-9);
    cJSON_Delete(first);
    cJSON_Delete(second);
}

/* ---- faults ---- */

/* The wrong one has its verdict by itself as "submitted", which is a good name there, and the others are as if it had
 * never been beside them. */
static void a_fault_separates_them(void **state)
{
    static const int jobs[][2] = {{32, 64}, {32, 128}, {32, 256}};
    (void)state;
    setenv("CUDAL2_FAKE", "beside=slow,harness@1=hold,submitted2-nn=wrong", 1);
    submit_behind_another(jobs, 3);
    for (size_t i = 1; i < 4; i++) {
        cJSON *outcome = outcome_of(i);
        assert_string_equal(tree_text(outcome, "verdict"), "ok");
        assert_int_equal(tree_whole(outcome, "together"), 0);
        assert_string_equal(tree_text(outcome, "worker"), i == 1 ? "new" : "warm"); /* that worker has ended */
        cJSON_Delete(outcome);
    }
}

static void a_crash_separates_them(void **state)
{
    static const int jobs[][2] = {{32, 64}, {32, 128}};
    (void)state;
    setenv("CUDAL2_FAKE", "beside=slow,harness@1=hold,submitted-nn=crash", 1);
    submit_behind_another(jobs, 2);
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(together(i), 0);
}

/* ---- workers that measure ---- */

/* On the CPU device, where plugins stand in for kernels: each has an outcome of its own times. */
static void of_real_workers(void **state)
{
    static const struct devices cpu = {.count = 1, .spec = {"cpu"}};
    static const char *const names[] = {"steady", "swayed"};
    struct submission s[2];
    struct evaluation list[2];
    struct warm warm = {.held = false};
    volatile int stop = 0;
    cJSON *outcomes[2];
    struct error err = {0};
    char plugins[PATH_MAX], directory[PATH_MAX];
    (void)state;
    unsetenv("CUDAL2_FAKE");
    snprintf(plugins, sizeof plugins, "%s/tests/plugins", getenv("CUDAL2_BUILD") ? getenv("CUDAL2_BUILD") : "build");
    for (size_t i = 0; i < 2; i++) {
        s[i] = (struct submission){.baseline = "honest", .half_width = 0.5, .seconds = 0.1, .n_problems = 1};
        s[i].accumulate = CUDAL2_ACC_F32;
        snprintf(s[i].name, sizeof s[i].name, "%s", names[i]);
        assert_int_equal(shape_parse("16x24x32", &s[i].problems[0], &err), 0);
        list[i] =
            (struct evaluation){.store = &server->store, .submission = &s[i], .devices = &cpu, .plugins = plugins};
        list[i].id = i ? "00000000000000000000000000000001" : "00000000000000000000000000000002";
        list[i].stop = &stop;
        list[i].warm = &warm;
        assert_int_equal(store_path(&server->store, list[i].id, "", directory, &err), 0);
        assert_int_equal(file_make_directories(directory, &err), 0);
    }
    if (evaluate_together(list, 2, outcomes, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < 2; i++) {
        char pair[32];
        assert_non_null(outcomes[i]);
        snprintf(pair, sizeof pair, "%s-nn", names[i]);
        const cJSON *problem = cJSON_GetArrayItem(tree_member(outcomes[i], "problems"), 0);
        assert_string_equal(tree_text(problem, "contender"), pair);
        snprintf(pair, sizeof pair, "%s-max", names[i]);
        assert_string_equal(tree_text(problem, "candidate"), pair);
        assert_true(tree_number(problem, "candidate_ns") > 0 && tree_number(problem, "ratio") > 0);
        assert_int_equal(tree_whole(outcomes[i], "together"), 2);
        cJSON_Delete(outcomes[i]);
    }
    assert_true(warm.held); /* for the next ones */
    warm_end(&warm);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return getenv("CUDAL2_FAKE") ? fake_worker() : worker_main(argv + 2);
    if (argc > 1 && strcmp(argv[1], "verify") == 0)
        return fake_compiler();
    const struct CMUnitTest tests[] = {
        TEST(the_same_problem),       TEST(watched_together),       TEST(no_more_than_some), TEST(each_has_its_share),
        TEST(a_fault_separates_them), TEST(a_crash_separates_them), TEST(of_real_workers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
