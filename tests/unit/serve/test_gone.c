/* serve/server on two GPUs of which one falls off: it does not take the queue's jobs with it, health and metrics
 * say so, and when it is back it works again. Workers are scripted and say they have a GPU. */
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
#include "fake_worker.h"
#include "served_gpu.h"

#define JOBS 32

static const struct devices gpus = {.count = 2, .on_cuda = true, .spec = {"cuda:0", "cuda:1"}};
static struct server *server;
static char ids[JOBS][DIGEST_HEX];

static int begin(void **state)
{
    struct error err = {0};
    if (scratch_make(state))
        return -1;
    snprintf(kernels, sizeof kernels, "%s/kernels", scratch);
    setenv("CUDAL2_FAKE_DIR", scratch, 1);
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    setenv("CUDAL2_FAKE", "beside=slow", 1);
    return file_make_directories(kernels, &err) || open_served(&gpus, JOBS, &server, &err) ? -1 : 0;
}

static int end(void **state)
{
    server_drain(server, true);
    server_close(server);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_KIND");
    unsetenv("CUDAL2_FAKE_GONE");
    return scratch_remove(state);
}

static void submit(int which)
{
    const struct server_client client = {"alice", NULL};
    struct server_view view;
    struct error err = {0};
    struct submission *s = malloc(sizeof *s);
    assert_non_null(s);
    *s =
        (struct submission){.kind = CANDIDATE_KERNEL, .name = "k", .baseline = "beta", .half_width = 0.5, .seconds = 1};
    s->accumulate = CUDAL2_ACC_F32;
    s->n_problems = 1;
    assert_int_equal(shape_parse("64x32x32", &s->problems[0], &err), 0);
    s->problems[0].m = 32 * (which + 1);
    s->parameters = cJSON_Parse("{\"BM\":64}");
    assert_int_equal(server_submit(server, &client, s, &view, &err), 202);
    snprintf(ids[which], DIGEST_HEX, "%s", view.id);
    server_view_free(&view);
}

/* How many of the jobs had a reward. */
static int good(int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) {
        struct server_view view;
        struct error err = {0};
        assert_int_equal(server_look(server, "alice", ids[i], 60, &view, &err), 200);
        all += view.outcome && strstr(view.outcome, "\"verdict\":\"ok\"") != NULL;
        server_view_free(&view);
    }
    return all;
}

static void the_other_one_goes_on(void **state)
{
    bool draining;
    (void)state;
    setenv("CUDAL2_FAKE_GONE", "cuda:1", 1);
    for (int i = 0; i < JOBS; i++)
        submit(i);
    assert_int_equal(good(JOBS), JOBS);
    char *health = server_health(server, &draining), *metrics = server_metrics(server);
    assert_non_null(strstr(health, "\"failing\":[\"cuda:1\"]"));
    assert_non_null(strstr(metrics, "cudal2_serve_devices_failing 1\n"));
    free(health);
    free(metrics);
}

/* With no other one a job is given up after its tries, with no reward; a device that is back is used again. */
static void it_comes_back(void **state)
{
    struct server_view view;
    struct error err = {0};
    bool draining;
    (void)state;
    setenv("CUDAL2_FAKE_GONE", "cuda:0 cuda:1", 1);
    submit(0);
    assert_int_equal(good(1), 0);
    assert_int_equal(server_look(server, "alice", ids[0], 0, &view, &err), 200);
    assert_non_null(strstr(view.outcome, "\"verdict\":\"failed\""));
    assert_non_null(strstr(view.outcome, "3 tries, the last: cuda:"));
    assert_non_null(strstr(view.outcome, "\"reward\":null"));
    server_view_free(&view);
    char *health = server_health(server, &draining);
    assert_non_null(strstr(health, "\"failing\":[\"cuda:0\",\"cuda:1\"]"));
    free(health);
    unsetenv("CUDAL2_FAKE_GONE");
    for (int i = 1; i < JOBS; i++)
        submit(i);
    assert_int_equal(good(JOBS), JOBS - 1);
    health = server_health(server, &draining);
    assert_null(strstr(health, "\"failing\":[\"cuda:0\",\"cuda:1\"]"));
    free(health);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    if (argc > 1 && strcmp(argv[1], "verify") == 0)
        return fake_compiler();
    const struct CMUnitTest tests[] = {TEST(the_other_one_goes_on), TEST(it_comes_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
