/* serve/peers and serve/server: two servers, on no device at all, whose directories lie in one: either is asked for
 * what the other was given, and nothing is taken twice. */
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
#include "scratch_fixture.h"
#include "serve/api.h"
#include "serve/server_state.h"

static const char *const names[] = {"blocked", "openblas", NULL};
static const struct devices nowhere = {.count = 0};
static struct server *one, *two;
static char shared[128];

static void begin(const char *name, bool alone, struct server **out)
{
    static char directories[2][160];
    char *directory = directories[out == &two];
    struct error err = {0};
    snprintf(directory, sizeof directories[0], "%s/%s", shared, name);
    const struct server_options options = {.directory = directory,
                                           .peers = alone ? NULL : shared,
                                           .devices = &nowhere,
                                           .candidates = names,
                                           .baselines = names,
                                           .baseline = "openblas",
                                           .queue = 10,
                                           .quota = 10,
                                           .quiet = true};
    if (server_open(&options, out, &err))
        fail_msg("%s", err.text);
}

static void end(struct server **which)
{
    if (*which) {
        server_drain(*which, true);
        server_close(*which);
    }
    *which = NULL;
}

static int begin_both(void **state)
{
    if (scratch_make(state))
        return -1;
    snprintf(shared, sizeof shared, "%s/shared", scratch);
    begin("one", false, &one);
    begin("two", false, &two);
    return 0;
}

static int end_both(void **state)
{
    end(&one);
    end(&two);
    return scratch_remove(state);
}

/* The status; the body, parsed, if `told` is not NULL (the caller's to delete). */
static int ask(struct server *server, const char *method, const char *path, const char *body, cJSON **told)
{
    struct api_reply reply;
    const struct api_request request = {
        .method = method, .path = path, .client = "alice", .body = body, .length = strlen(body)};
    api_handle(server, &request, &reply);
    if (told)
        *told = cJSON_Parse(reply.body);
    api_reply_free(&reply);
    return reply.status;
}

/* The path of the job. */
static void submit(struct server *server, int k, int status, char path[64])
{
    char text[128];
    cJSON *told = NULL;
    snprintf(text, sizeof text, "{\"candidate\":\"blocked\",\"problem\":\"8x8x%d\"}", k);
    assert_int_equal(ask(server, "POST", "/v1/jobs", text, &told), status);
    snprintf(path, 64, "/v1/jobs/%.32s", tree_text(told, "id"));
    cJSON_Delete(told);
}

static void assert_told(struct server *server, const char *path, const char *member, const char *text)
{
    cJSON *told = NULL;
    assert_int_equal(ask(server, "GET", path, "", &told), 200);
    assert_string_equal(tree_text(told, member), text);
    cJSON_Delete(told);
}

/* Its first server's part: the outcome is on disk, and told. */
static void finish(struct server *server, const char *path, const char *outcome)
{
    pthread_mutex_lock(&server->lock);
    struct job *job = jobs_find(&server->jobs, path + strlen("/v1/jobs/"));
    assert_non_null(job);
    server_finish(server, job, cJSON_Parse(outcome));
    pthread_mutex_unlock(&server->lock);
}

#define GOOD "{\"verdict\":\"ok\",\"reward\":{\"value\":1.5,\"low\":1,\"high\":2}}"

static size_t open_jobs(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t n = jobs_count(&server->jobs, NULL, JOB_STATES);
    pthread_mutex_unlock(&server->lock);
    return n;
}

static void either_is_asked(void **state)
{
    char path[64], again[64];
    (void)state;
    submit(one, 1, 202, path);
    assert_told(two, path, "state", "queued");
    submit(two, 1, 200, again); /* not measured twice */
    assert_string_equal(path, again);
    assert_int_equal(open_jobs(two), 0);
    assert_int_equal(ask(two, "DELETE", path, "", NULL), 409);
    finish(one, path, GOOD);
    assert_told(two, path, "verdict", "ok");
    submit(two, 1, 200, again);
    assert_int_equal(open_jobs(two), 0);
    assert_int_equal(ask(two, "GET", "/v1/jobs/00000000000000000000000000000000", "", NULL), 404);
}

static void another_client_is_told_nothing(void **state)
{
    char path[64];
    struct server_view view;
    struct error err;
    (void)state;
    submit(one, 1, 202, path);
    assert_int_equal(server_look(two, "bob", path + strlen("/v1/jobs/"), 0, &view, &err), 404);
    server_view_free(&view);
}

/* A directory beside the servers', where a path for an id would lead. */
static void an_id_is_no_path(void **state)
{
    static const char text[] = "{\"client\":\"alice\",\"submission\":{}}";
    char path[PATH_MAX];
    struct error err;
    (void)state;
    snprintf(path, sizeof path, "%s/other", scratch);
    assert_int_equal(file_make_directories(path, &err), 0);
    snprintf(path, sizeof path, "%s/other/submission.json", scratch);
    assert_int_equal(file_write_atomic(path, text, strlen(text), &err), 0);
    assert_int_equal(ask(two, "GET", "/v1/jobs/../../other", "", NULL), 404);
}

static char waited_for[64];

static void *finish_soon(void *context)
{
    usleep(300000);
    finish(context, waited_for, GOOD);
    return NULL;
}

static void a_wait_ends_with_the_job(void **state)
{
    pthread_t thread;
    struct server_view view;
    struct error err;
    (void)state;
    submit(one, 1, 202, waited_for);
    assert_int_equal(pthread_create(&thread, NULL, finish_soon, one), 0);
    assert_int_equal(server_look(two, "alice", waited_for + strlen("/v1/jobs/"), 60, &view, &err), 200);
    pthread_join(thread, NULL);
    assert_non_null(view.outcome);
    server_view_free(&view);
}

/* What waits at a server that is down is not lost, and may be measured elsewhere; what is done there is told. */
static void one_is_down(void **state)
{
    char waits[64], done[64], nothing[64], again[64];
    (void)state;
    submit(one, 1, 202, waits);
    submit(one, 2, 202, done);
    submit(one, 3, 202, nothing);
    finish(one, done, GOOD);
    finish(one, nothing, "{\"verdict\":\"failed\",\"reward\":null}");
    end(&one);
    assert_told(two, done, "verdict", "ok");
    assert_int_equal(ask(two, "GET", waits, "", NULL), 503);
    submit(two, 1, 202, again);
    assert_told(two, waits, "state", "queued");
    submit(two, 3, 202, again); /* nothing was learnt of it */
    begin("one", false, &one);
    assert_told(one, waits, "state", "queued");
}

static void streams(void **state)
{
    char path[64], events[80];
    struct api_reply reply;
    (void)state;
    submit(one, 1, 202, path);
    finish(one, path, GOOD);
    snprintf(events, sizeof events, "%s/events", path);
    const struct api_request request = {.method = "GET", .path = events, .client = "alice", .body = ""};
    api_handle(two, &request, &reply);
    assert_int_equal(reply.status, 200);
    const char *text = events_next(reply.events);
    assert_non_null(text);
    assert_non_null(strstr(text, "event: outcome\ndata: {\"verdict\":\"ok\""));
    assert_null(events_next(reply.events));
    api_reply_free(&reply);
}

static void one_without_peers(void **state)
{
    char path[64], again[64];
    (void)state;
    end(&two);
    begin("two", true, &two);
    submit(one, 1, 202, path);
    assert_int_equal(ask(two, "GET", path, "", NULL), 404);
    submit(two, 1, 202, again);
    assert_string_equal(path, again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(either_is_asked, begin_both, end_both),
        cmocka_unit_test_setup_teardown(another_client_is_told_nothing, begin_both, end_both),
        cmocka_unit_test_setup_teardown(an_id_is_no_path, begin_both, end_both),
        cmocka_unit_test_setup_teardown(a_wait_ends_with_the_job, begin_both, end_both),
        cmocka_unit_test_setup_teardown(one_is_down, begin_both, end_both),
        cmocka_unit_test_setup_teardown(streams, begin_both, end_both),
        cmocka_unit_test_setup_teardown(one_without_peers, begin_both, end_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
