/* serve/watched and serve/evaluate: a line of parameters is watched in its first job, in a worker of its own, and what
 * is seen there decides the outcome. Workers are scripted and say they have a GPU. */
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
#include "serve/spent.h"
#include "serve/watched.h"
#include "served_gpu.h"

#define ID "0123456789abcdef0123456789abcdef"

static struct submission s;
static struct store store;
static volatile int stop;

static void put(const char *leaf, const char *text)
{
    char path[256];
    struct error err;
    snprintf(path, sizeof path, "%s/%s", kernels, leaf);
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), 0);
}

static int begin(void **state)
{
    struct error err;
    char jobs[160], directory[PATH_MAX];
    if (scratch_make(state))
        return -1;
    snprintf(kernels, sizeof kernels, "%s/kernels", scratch);
    snprintf(jobs, sizeof jobs, "%s/jobs", scratch);
    setenv("CUDAL2_FAKE_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    setenv("CUDAL2_FAKE", "beside=slow", 1);
    s = (struct submission){.kind = CANDIDATE_KERNEL, .name = "k", .baseline = "beta", .half_width = 0.5, .seconds = 1};
    s.accumulate = CUDAL2_ACC_F32;
    s.n_problems = 1;
    s.parameters = cJSON_Parse("{\"BM\":64}");
    if (file_make_directories(kernels, &err) || store_open(jobs, &store, &err) ||
        shape_parse("64x32x32", &s.problems[0], &err) || store_path(&store, ID, "", directory, &err))
        return -1;
    put("k.cu", "one");
    return file_make_directories(directory, &err);
}

static int end(void **state)
{
    submission_free(&s);
    store_close(&store);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_KIND");
    return scratch_remove(state);
}

static struct evaluation evaluation_of(bool watch)
{
    return (struct evaluation){.store = &store,
                               .id = ID,
                               .submission = &s,
                               .devices = &gpu,
                               .kernels = kernels,
                               .stop = &stop,
                               .watch = watch};
}

/* ---- keys ---- */

/* Good until the next call but one. */
static const char *key(void)
{
    static char keys[2][DIGEST_HEX];
    static unsigned n;
    const struct evaluation e = evaluation_of(false);
    char *out = keys[n++ % 2];
    out[0] = '\0';
    bool has = watched_key(&e, out);
    assert_int_equal(has, out[0] != 0);
    return out;
}

static void change(const char *parameters)
{
    cJSON_Delete(s.parameters);
    s.parameters = cJSON_Parse(parameters);
}

static void a_line(void **state)
{
    char first[DIGEST_HEX];
    (void)state;
    snprintf(first, sizeof first, "%s", key());
    s.problems[0].m = 128;
    s.half_width = 0.1;
    assert_string_equal(key(), first); /* a line, not a problem */
    change("{\"BM\":128}");
    assert_string_not_equal(key(), first);
    change("{\"BM\":64}");
    assert_string_equal(key(), first);
    s.accumulate = CUDAL2_ACC_F16;
    assert_string_not_equal(key(), first);
    s.accumulate = CUDAL2_ACC_F32;
    put("k.cu", "another");
    assert_string_not_equal(key(), first); /* other code */
}

static void other_candidates_have_no_key(void **state)
{
    (void)state;
    s.kind = CANDIDATE_NAMED;
    assert_string_equal(key(), "");
    s.kind = CANDIDATE_SOURCE;
    assert_string_equal(key(), "");
}

static void a_list_of_lines(void **state)
{
    struct watched_lines w = {0};
    char name[DIGEST_HEX];
    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "%032x", i);
        watched_add(&w, name, i % 2 == 0);
        watched_add(&w, name, i % 2 == 1); /* the first answer stays */
    }
    assert_int_equal(w.n, 9);
    assert_null(watched_find(&w, "no such line"));
    snprintf(name, sizeof name, "%032x", 3);
    assert_false(watched_find(&w, name)->seen);
    watched_free(&w);
    assert_null(watched_find(&w, name));
}

/* ---- jobs ---- */

static long counted(const char *leaf)
{
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", scratch, leaf);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

/* Workers that were started to watch. */
static long audits(void)
{
    return counted("audits");
}

/* Cells that they watched. */
static long watches(void)
{
    return counted("watches");
}

/* "" where the outcome says nothing of it. */
static cJSON *measure(bool watch)
{
    const struct evaluation e = evaluation_of(watch);
    struct error err = {0};
    cJSON *outcome = NULL;
    if (evaluate(&e, &outcome, &err))
        fail_msg("%s", err.text);
    return outcome;
}

static void watched_or_not(void **state)
{
    (void)state;
    cJSON *outcome = measure(false);
    assert_int_equal(audits(), 0);
    assert_string_equal(tree_text(outcome, "watched"), "no");
    cJSON_Delete(outcome);
    outcome = measure(true);
    assert_int_equal(audits(), 1);
    assert_string_equal(tree_text(outcome, "watched"), "now");
    cJSON_Delete(outcome);
}

/* The rule of the grid, whose intervals are known to hold; matrices of its own for each block are a GPU's alone. */
static void the_stop_rule(void **state)
{
    static const struct devices kinds[] = {{.count = 1, .on_cuda = true, .spec = {"cuda:0"}},
                                           {.count = 1, .spec = {"cpu"}}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct evaluation e = evaluation_of(false);
        struct error err = {0};
        char *journal = NULL;
        cJSON *outcome = NULL;
        e.devices = &kinds[i];
        setenv("CUDAL2_FAKE_KIND", i == 0 ? "cuda" : "cpu", 1);
        if (evaluate(&e, &outcome, &err) || store_get(e.store, e.id, STORE_JOURNAL, &journal, &err))
            fail_msg("%s", err.text);
        assert_non_null(strstr(journal, "\"min_blocks\":8,\"look_every\":2,\"max_blocks\":512"));
        assert_non_null(strstr(journal, "\"least_blocks\":8"));
        assert_non_null(strstr(journal, "\"other_timings_every\":512"));
        assert_non_null(strstr(journal, i == 0 ? "\"group_blocks\":1" : "\"group_blocks\":2"));
        cJSON_Delete(outcome);
        free(journal);
    }
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
}

/* The watch is told apart from measuring, and no result is written beside the journal. */
static void where_the_time_goes(void **state)
{
    struct spent spent = {0};
    struct evaluation e = evaluation_of(true);
    struct error err = {0};
    char path[PATH_MAX];
    cJSON *outcome = NULL;
    (void)state;
    e.spent = &spent;
    assert_int_equal(evaluate(&e, &outcome, &err), 0);
    assert_true(spent.start > 0 && spent.watch > 0);
    assert_int_equal(store_path(e.store, e.id, STORE_JOURNAL, path, &err), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(store_path(e.store, e.id, "run.json", path, &err), 0);
    assert_int_not_equal(access(path, F_OK), 0);
    cJSON_Delete(outcome);
}

static void source_is_watched_in_every_job(void **state)
{
    (void)state;
    s.kind = CANDIDATE_SOURCE;
    cJSON_Delete(measure(false));
    assert_int_equal(audits(), 1);
}

/* What has code on the host is watched by a process that nobody was in before. */
static void a_plugin_has_a_watcher_of_its_own(void **state)
{
    static struct warm warm[2];
    struct evaluation e = evaluation_of(true);
    struct error err = {0};
    (void)state;
    warm->watcher = warm + 1;
    e.warm = warm;
    for (long i = 1; i <= 4; i++) {
        cJSON *outcome = NULL;
        s.kind = i <= 2 ? CANDIDATE_NAMED : CANDIDATE_KERNEL;
        snprintf(s.name, sizeof s.name, i <= 2 ? "alpha" : "k");
        assert_int_equal(evaluate(&e, &outcome, &err), 0);
        assert_string_equal(tree_text(outcome, "watched"), "now");
        assert_string_equal(tree_text(outcome, "worker"), i % 2 ? "new" : "warm");
        assert_int_equal(audits(), i < 4 ? i : 3); /* the second one of a kernel has the first one's */
        assert_int_equal(watches(), i);
        cJSON_Delete(outcome);
    }
    warm_end(warm);
    assert_false(warm_any(warm));
}

static void what_is_seen_decides(void **state)
{
    (void)state;
    setenv("CUDAL2_FAKE", "alphawatched=escape", 1);
    cJSON *outcome = measure(true);
    assert_string_equal(tree_text(outcome, "verdict"), "stream_escape");
    assert_true(tree_number(tree_member(outcome, "reward"), "value") == 0);
    cJSON_Delete(outcome);
}

static void nobody_can_watch(void **state)
{
    (void)state;
    setenv("CUDAL2_FAKE", "recorder=none", 1);
    cJSON *outcome = measure(true);
    assert_int_equal(audits(), 2); /* once more behind a trial: namespaces may be in its way */
    assert_string_equal(tree_text(outcome, "watched"), "no");
    cJSON_Delete(outcome);
}

/* ---- the server ---- */

/* Submits and waits. What was said of watching, good until the next call. */
static const char *serve(struct server *server, const char *parameters, int m)
{
    static char watched[16];
    const struct server_client client = {"alice", NULL};
    struct server_view view;
    struct error err = {0};
    char id[DIGEST_HEX];
    struct submission *one = malloc(sizeof *one);
    assert_non_null(one);
    *one = s;
    one->parameters = cJSON_Parse(parameters);
    one->problems[0].m = m;
    assert_int_equal(server_submit(server, &client, one, &view, &err), 202);
    snprintf(id, sizeof id, "%s", view.id);
    server_view_free(&view);
    assert_int_equal(server_look(server, "alice", id, 60, &view, &err), 200);
    assert_string_equal(view.state, "done");
    cJSON *outcome = cJSON_Parse(view.outcome);
    assert_string_equal(tree_text(outcome, "verdict"), "ok");
    snprintf(watched, sizeof watched, "%s", tree_text(outcome, "watched"));
    cJSON_Delete(outcome);
    server_view_free(&view);
    return watched;
}

static struct server *open_server(void)
{
    struct server *server = NULL;
    struct error err = {0};
    if (open_served(&gpu, 9, &server, &err))
        fail_msg("%s", err.text);
    return server;
}

static void once_for_each_line(void **state)
{
    (void)state;
    struct server *server = open_server();
    assert_string_equal(serve(server, "{\"BM\":64}", 32), "now");
    assert_string_equal(serve(server, "{\"BM\":64}", 64), "before");
    assert_int_equal(watches(), 1);
    assert_string_equal(serve(server, "{\"BM\":128}", 32), "now");
    assert_string_equal(serve(server, "{\"BM\":128}", 64), "before");
    assert_int_equal(watches(), 2);
    assert_int_equal(audits(), 1); /* by the worker that watched the first line */
    put("k.cu", "changed");
    assert_string_equal(serve(server, "{\"BM\":64}", 96), "now");
    assert_int_equal(watches(), 3);
    assert_int_equal(audits(), 2); /* other code is another worker's */
    server_drain(server, false);
    server_close(server);
}

/* A worker that has watched before may have kept something of it: its word, and its loss, count for nothing. */
static void an_old_watcher_accuses_nobody(void **state)
{
    static const char *const scripts[] = {"beside=slow,oldwatched=escape", "beside=slow,oldwatched=crash"};
    (void)state;
    for (long i = 0; i < 2; i++) {
        setenv("CUDAL2_FAKE", scripts[i], 1);
        struct server *server = open_server();
        assert_string_equal(serve(server, "{\"BM\":64}", 32 + (int)i), "now");
        assert_string_equal(serve(server, "{\"BM\":128}", 32 + (int)i), "now"); /* and `ok`, by a new one */
        assert_true(audits() >= 2 * (i + 1));
        server_drain(server, false);
        server_close(server);
    }
}

/* It is not tried with every job of the line, and never said to have been. */
static void no_recorder_is_met_once(void **state)
{
    (void)state;
    setenv("CUDAL2_FAKE", "beside=slow,recorder=none", 1);
    struct server *server = open_server();
    assert_string_equal(serve(server, "{\"BM\":64}", 32), "no");
    assert_string_equal(serve(server, "{\"BM\":64}", 64), "no");
    assert_int_equal(audits(), 2); /* of the first job */
    server_drain(server, false);
    server_close(server);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    if (argc > 1 && strcmp(argv[1], "verify") == 0)
        return fake_compiler();
    const struct CMUnitTest tests[] = {
        TEST(a_line),
        TEST(other_candidates_have_no_key),
        TEST(a_list_of_lines),
        TEST(watched_or_not),
        TEST(a_plugin_has_a_watcher_of_its_own),
        TEST(an_old_watcher_accuses_nobody),
        TEST(the_stop_rule),
        TEST(where_the_time_goes),
        TEST(source_is_watched_in_every_job),
        TEST(what_is_seen_decides),
        TEST(nobody_can_watch),
        TEST(once_for_each_line),
        TEST(no_recorder_is_met_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
