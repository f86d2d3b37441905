/* serve/server_work and serve/compiling: source is compiled while another job has the GPU, and that job ends while a
 * compiler is busy. Workers are scripted and say they have a GPU; the compiler waits on order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/tree.h"
#include "fake_script.h"
#include "fake_worker.h"
#include "serve/server_state.h"
#include "served_gpu.h"

static struct server *server;

static int begin(void **state)
{
    struct error err = {0};
    if (scratch_make(state))
        return -1;
    snprintf(kernels, sizeof kernels, "%s/kernels", scratch);
    setenv("CUDAL2_FAKE_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    setenv("CUDAL2_FAKE", "beside=slow,harness@1=hold", 1);
    return file_make_directories(kernels, &err) || open_served(&gpu, 20, &server, &err) ? -1 : 0;
}

static int end(void **state)
{
    server_drain(server, true);
    server_close(server);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_KIND");
    return scratch_remove(state);
}

/* What the child was told of problems and layouts. */
static void keep_problems(int argc, char **argv)
{
    struct error ignored;
    char *text = NULL, path[256];
    size_t length;
    snprintf(path, sizeof path, "%s/problems", getenv("CUDAL2_FAKE_DIR"));
    for (int i = 0; i + 1 < argc && !text; i++)
        if (strcmp(argv[i], "--config") == 0 && file_read(argv[i + 1], 4096, &text, &length, &ignored) == 0)
            file_write_atomic(path, text, length, &ignored);
    free(text);
}

/* The test program as the server's compiling child: where the test says so, it ends when the test lets it. */
static int compiler_on_order(int argc, char **argv)
{
    keep_problems(argc, argv);
    if (script_has_file("busy"))
        script_wait_for("compiled");
    return fake_compiler();
}

static unsigned layouts; /* of what is submitted */

static void submit_source(int m, char id[DIGEST_HEX])
{
    const struct server_client client = {"alice", NULL};
    struct server_view view;
    struct error err = {0};
    struct submission *s = malloc(sizeof *s);
    assert_non_null(s);
    *s = (struct submission){
        .kind = CANDIDATE_SOURCE, .format = SOURCE_CUDA, .baseline = "beta", .half_width = 0.5, .seconds = 1};
    s->accumulate = CUDAL2_ACC_F32;
    s->n_problems = 1;
    s->layouts = layouts;
    assert_int_equal(shape_parse("64x32x32", &s->problems[0], &err), 0);
    s->problems[0].m = m;
    s->source = strdup("// nothing");
    s->manifest = cJSON_Parse("{\"entry\":\"k\"}");
    assert_int_equal(server_submit(server, &client, s, &view, &err), 202);
    snprintf(id, DIGEST_HEX, "%s", view.id);
    server_view_free(&view);
}

static size_t count(enum job_state state)
{
    pthread_mutex_lock(&server->lock);
    size_t n = jobs_count(&server->jobs, NULL, state);
    pthread_mutex_unlock(&server->lock);
    return n;
}

static void wait_for_one(enum job_state state)
{
    for (int i = 0; i < 2000 && count(state) != 1; i++)
        usleep(5000);
    assert_int_equal(count(state), 1);
}

static void is_ok(const char *id)
{
    struct server_view view;
    struct error err = {0};
    assert_int_equal(server_look(server, "alice", id, 60, &view, &err), 200);
    assert_string_equal(view.state, "done");
    if (!strstr(view.outcome, "\"verdict\":\"ok\""))
        fail_msg("%s", view.outcome);
    server_view_free(&view);
}

static void compiled_while_another_is_measured(void **state)
{
    char first[DIGEST_HEX], second[DIGEST_HEX];
    (void)state;
    submit_source(1, first);
    wait_for_one(JOB_MEASURING);
    submit_source(32, second);
    wait_for_one(JOB_READY);
    assert_int_equal(count(JOB_MEASURING), 1); /* still */
    scratch_write("audits", "");               /* which it waits for */
    is_ok(first);
    is_ok(second);
}

static void measured_while_another_is_compiled(void **state)
{
    char first[DIGEST_HEX], second[DIGEST_HEX];
    (void)state;
    submit_source(1, first);
    wait_for_one(JOB_MEASURING);
    scratch_write("busy", "");
    submit_source(32, second);
    wait_for_one(JOB_COMPILING);
    assert_int_equal(count(JOB_MEASURING), 1);
    scratch_write("audits", "");
    is_ok(first);
    assert_int_equal(count(JOB_COMPILING), 1); /* still */
    scratch_write("compiled", "");
    is_ok(second);
}

/* What a worker would compile while the device waits, the child does. */
static void every_layout_that_is_measured(void **state)
{
    static const char *const told[] = {NULL, "\"nn\"", "\"tn\""};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char id[DIGEST_HEX], *text = NULL;
        size_t length;
        struct error err;
        layouts = (unsigned)i; /* bits; 0: all of them */
        scratch_write("audits", "");
        submit_source(32 + i, id);
        is_ok(id);
        assert_int_equal(file_read(scratch_path("problems"), 4096, &text, &length, &err), 0);
        cJSON *tree = cJSON_Parse(text), *list = cJSON_GetObjectItem(tree, "layouts");
        assert_int_equal(tree_whole(cJSON_GetArrayItem(tree_member(tree, "shapes"), 0), "m"), 32 + i);
        assert_string_equal(tree_text(tree, "dtype"), "f16");
        assert_int_equal(cJSON_GetArraySize(list), told[i] ? 1 : 0);
        assert_true(!told[i] || strstr(text, told[i]));
        cJSON_Delete(tree);
        free(text);
    }
    layouts = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    if (argc > 1 && strcmp(argv[1], "verify") == 0)
        return compiler_on_order(argc, argv);
    const struct CMUnitTest tests[] = {TEST(compiled_while_another_is_measured),
                                       TEST(measured_while_another_is_compiled), TEST(every_layout_that_is_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
