/* serve/server and serve/api on no device at all: what is taken, refused, told and found again; nothing is measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/tree.h"
#include "scratch_fixture.h"
#include "serve/api.h"
#include "serve/server_state.h"

static const char *const names[] = {"blocked", "openblas", NULL};
static const struct devices nowhere = {.count = 0};
static struct server *server;

static void begin(void)
{
    static char directory[128];
    struct error err = {0};
    snprintf(directory, sizeof directory, "%s/jobs", scratch);
    const struct server_options options = {.directory = directory,
                                           .devices = &nowhere,
                                           .candidates = names,
                                           .baselines = names,
                                           .baseline = "openblas",
                                           .queue = 3,
                                           .quota = 2,
                                           .quiet = true};
    if (server_open(&options, &server, &err))
        fail_msg("%s", err.text);
}

static void end(void)
{
    server_drain(server, true);
    server_close(server);
}

static int begin_test(void **state)
{
    if (scratch_make(state))
        return -1;
    begin();
    return 0;
}

static int end_test(void **state)
{
    end();
    return scratch_remove(state);
}

/* The status; the body, parsed, if `told` is not NULL (the caller's to delete). */
static int ask(const char *client, const char *method, const char *path, const char *body, cJSON **told)
{
    struct api_reply reply;
    const struct api_request request = {
        .method = method, .path = path, .client = client, .body = body, .length = strlen(body)};
    api_handle(server, &request, &reply);
    assert_non_null(reply.body);
    if (told)
        *told = cJSON_Parse(reply.body);
    api_reply_free(&reply);
    return reply.status;
}

static int ask_waiting(const char *client, const char *path)
{
    struct api_reply reply;
    const struct api_request request = {.method = "GET", .path = path, .client = client, .wait = "60", .body = ""};
    api_handle(server, &request, &reply);
    api_reply_free(&reply);
    return reply.status;
}

static const char *job(int k)
{
    static char text[128];
    snprintf(text, sizeof text, "{\"candidate\":\"blocked\",\"problem\":\"8x8x%d\"}", k);
    return text;
}

/* Submits; the id, good until the next call. */
static const char *submit(const char *client, int k, int status)
{
    static char path[64];
    cJSON *told = NULL;
    assert_int_equal(ask(client, "POST", "/v1/jobs", job(k), &told), status);
    snprintf(path, sizeof path, "/v1/jobs/%.32s", tree_text(told, "id"));
    cJSON_Delete(told);
    return path;
}

static void limits(void **state)
{
    (void)state;
    submit("alice", 1, 202);
    submit("alice", 1, 200); /* the same */
    submit("alice", 2, 202);
    submit("alice", 3, 429); /* her quota */
    submit("bob", 1, 202);   /* his own, though of the same content */
    submit("bob", 2, 429);   /* the queue */
    submit("alice", 2, 200); /* what is known needs no room */
}

static void own_jobs(void **state)
{
    char path[64];
    cJSON *told = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    submit("alice", 2, 202);
    assert_int_equal(ask("bob", "GET", path, "", NULL), 404);
    assert_int_equal(ask("bob", "DELETE", path, "", NULL), 404);
    assert_int_equal(ask(NULL, "GET", path, "", NULL), 401);
    assert_int_equal(ask("alice", "GET", path, "", &told), 200);
    assert_string_equal(tree_text(told, "state"), "queued");
    assert_true(tree_number(told, "ahead") == 0);
    cJSON_Delete(told);
}

static void taken_back(void **state)
{
    char path[64];
    cJSON *told = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    assert_int_equal(ask("alice", "DELETE", path, "", &told), 200);
    assert_string_equal(tree_text(told, "verdict"), "cancelled");
    assert_true(cJSON_IsNull(tree_member(told, "reward")));
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "DELETE", path, "", NULL), 409);
    submit("alice", 1, 202); /* nothing was learnt of it: it waits again */
}

static struct events *open_events(const char *client, const char *path)
{
    char events[80];
    struct api_reply reply;
    snprintf(events, sizeof events, "%s/events", path);
    const struct api_request request = {.method = "GET", .path = events, .client = client, .body = ""};
    api_handle(server, &request, &reply);
    struct events *e = reply.events;
    assert_int_equal(reply.status, e ? 200 : 404);
    assert_string_equal(reply.type, e ? "text/event-stream" : "application/json");
    reply.events = NULL;
    api_reply_free(&reply);
    return e;
}

static void assert_streams(int n)
{
    char expected[64];
    char *text = server_metrics(server);
    snprintf(expected, sizeof expected, "\ncudal2_serve_streams %d\n", n);
    assert_non_null(strstr(text, expected));
    free(text);
}

/* The line before says what it is, the one after has the type. */
static void assert_described(const char *metrics, const char *name)
{
    char help[128], type[128];
    snprintf(help, sizeof help, "# HELP %s ", name);
    snprintf(type, sizeof type, "\n# TYPE %s ", name);
    const char *at = strstr(metrics, help);
    if (!at || strchr(at, '\n') != strstr(metrics, type) || strchr(at, '\n') < at + strlen(help) + 10)
        fail_msg("%s without HELP and TYPE", name);
}

static void metrics_are_described(void **state)
{
    char path[64], name[96];
    int n = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    assert_int_equal(ask("alice", "DELETE", path, "", NULL), 200); /* an outcome */
    char *metrics = server_metrics(server);
    for (const char *line = metrics; *line; line = strchr(line, '\n') + 1) {
        if (*line == '#')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " {"), line);
        assert_described(metrics, name);
        n++;
    }
    assert_int_equal(n, 15);
    free(metrics);
}

static void streams(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    assert_null(open_events("bob", path));
    assert_null(open_events("alice", "/v1/jobs/00000000000000000000000000000000"));
    struct events *e = open_events("alice", path);
    assert_streams(1);
    const char *first = events_next(e);
    assert_memory_equal(first, "event: state\ndata: {\"id\":\"", 26);
    assert_non_null(strstr(first, "\"state\":\"queued\",\"ahead\":0}\n\n"));
    assert_int_equal(ask("alice", "DELETE", path, "", NULL), 200);
    const char *last = events_next(e);
    assert_memory_equal(last, "event: outcome\ndata: {\"verdict\":\"cancelled\"", 43);
    assert_string_equal(strchr(strstr(last, "data:"), '\n'), "\n\n"); /* one line */
    assert_null(events_next(e));
    events_close(e);
    assert_streams(0);
}

/* Who waits is not waited for. */
static void streams_end_with_the_server(void **state)
{
    (void)state;
    struct events *e = open_events("alice", submit("alice", 1, 202));
    server_drain(server, false);
    assert_non_null(events_next(e)); /* the state, once */
    assert_null(events_next(e));
    assert_null(events_next(e));
    events_close(e);
}

static bool has_left(const void *times)
{
    ++*(int *)(uintptr_t)times;
    return true;
}

/* A client that waits and leaves holds no thread of the transport's until its job is done. */
static void who_leaves_is_not_waited_for(void **state)
{
    char path[64];
    struct api_reply reply;
    int times = 0;
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    const struct api_request request = {.method = "GET",
                                        .path = path,
                                        .client = "alice",
                                        .wait = "60",
                                        .body = "",
                                        .gone = has_left,
                                        .connection = &times};
    uint64_t began = clock_now_ns();
    api_handle(server, &request, &reply);
    assert_true(clock_now_ns() - began < 30000000000ull);
    assert_int_equal(times, 1);
    assert_int_equal(reply.status, 200);
    assert_non_null(strstr(reply.body, "\"state\":\"queued\""));
    api_reply_free(&reply);
}

static void restarts(void **state)
{
    char waits[64], gone[64];
    cJSON *told = NULL;
    (void)state;
    snprintf(waits, sizeof waits, "%s", submit("alice", 1, 202));
    snprintf(gone, sizeof gone, "%s", submit("alice", 2, 202));
    assert_int_equal(ask("alice", "DELETE", gone, "", NULL), 200);
    end();
    begin();
    assert_int_equal(ask("alice", "GET", waits, "", &told), 200);
    assert_string_equal(tree_text(told, "state"), "queued");
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "GET", gone, "", &told), 200);
    assert_string_equal(tree_text(told, "verdict"), "cancelled");
    cJSON_Delete(told);
    assert_int_equal(ask("bob", "GET", waits, "", NULL), 404);
}

/* ---- what was measured ---- */

static struct job *begin_to_measure(const char *path)
{
    struct job *job = jobs_find(&server->jobs, path + strlen("/v1/jobs/"));
    assert_non_null(job);
    job->state = JOB_MEASURING;
    return job;
}

static cJSON *outcome_of(int k)
{
    char text[160];
    snprintf(
        text, sizeof text,
        "{\"verdict\":\"ok\",\"reward\":{},\"problems\":[{\"problem\":\"8x8x%d\",\"verdict\":\"ok\",\"ratio\":2}]}", k);
    return cJSON_Parse(text);
}

static cJSON *wait_for(const char *path)
{
    struct api_reply reply;
    const struct api_request request = {.method = "GET", .path = path, .client = "alice", .wait = "30", .body = ""};
    api_handle(server, &request, &reply);
    assert_int_equal(reply.status, 200);
    cJSON *told = cJSON_Parse(reply.body);
    api_reply_free(&reply);
    assert_string_equal(tree_text(told, "state"), "done");
    return told;
}

/* Kept one after the other, each a neighbour of the next; the second was submitted first. */
static void found_in_order(void **state)
{
    char first[64], second[64];
    (void)state;
    snprintf(second, sizeof second, "%s", submit("alice", 1, 202));
    snprintf(first, sizeof first, "%s", submit("alice", 2, 202));
    pthread_mutex_lock(&server->lock);
    server_found(server, begin_to_measure(first), outcome_of(2));
    server_found(server, begin_to_measure(second), outcome_of(1));
    pthread_mutex_unlock(&server->lock);
    cJSON *told = wait_for(first);
    assert_null(tree_member(told, "neighbours"));
    cJSON_Delete(told);
    told = wait_for(second);
    const cJSON *near = tree_member(told, "neighbours");
    assert_int_equal(cJSON_GetArraySize(near), 1);
    assert_string_equal(tree_text(near->child, "problem"), "8x8x2");
    cJSON_Delete(told);
}

/* An end at once loses nothing that was found, and what was not found begins again. */
static void found_before_the_end(void **state)
{
    char found[64], lost[64];
    cJSON *told = NULL;
    (void)state;
    snprintf(found, sizeof found, "%s", submit("alice", 1, 202));
    snprintf(lost, sizeof lost, "%s", submit("alice", 2, 202));
    pthread_mutex_lock(&server->lock);
    server_found(server, begin_to_measure(found), outcome_of(1));
    begin_to_measure(lost);
    server->draining = true; /* before the thread that keeps it has looked */
    pthread_mutex_unlock(&server->lock);
    end();
    begin();
    assert_int_equal(ask("alice", "GET", found, "", &told), 200);
    assert_string_equal(tree_text(told, "verdict"), "ok");
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "GET", lost, "", &told), 200);
    assert_string_equal(tree_text(told, "state"), "queued");
    cJSON_Delete(told);
}

static void drains(void **state)
{
    cJSON *told = NULL;
    (void)state;
    server_drain(server, false);
    submit("alice", 1, 503);
    assert_int_equal(ask(NULL, "GET", "/health", "", &told), 503);
    assert_string_equal(tree_text(told, "status"), "draining");
    cJSON_Delete(told);
}

static void tasks(void **state)
{
    static const char task[] = "{\"task_id\":\"t\",\"kernel_code\":\"code\",\"timeout\":0,"
                               "\"cudal2\":{\"candidate\":\"blocked\",\"problem\":\"8x8x%d\"}}";
    char text[256];
    cJSON *told = NULL;
    (void)state;
    snprintf(text, sizeof text, task, 1);
    assert_int_equal(ask("alice", "POST", "/evaluate", text, &told), 200);
    assert_string_equal(tree_text(told, "status"), "pending");
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "GET", "/status/t", "", NULL), 200);
    assert_int_equal(ask("bob", "GET", "/status/t", "", NULL), 404);
    snprintf(text, sizeof text, task, 2);
    assert_int_equal(ask("alice", "POST", "/evaluate", text, NULL), 409);
    assert_int_equal(ask("bob", "POST", "/evaluate", text, NULL), 200);
}

/* KernelGYM's batch: results in order, also of what was refused. */
static void task_batches(void **state)
{
    static const char task[] = "{\"task_id\":\"%s\",\"kernel_code\":\"code\",\"timeout\":0,"
                               "\"cudal2\":{\"candidate\":\"%s\",\"problem\":\"8x8x8\"}}";
    char text[1024];
    cJSON *told = NULL;
    (void)state;
    int used = snprintf(text, sizeof text, "{\"batch_id\":\"b\",\"tasks\":[");
    used += snprintf(text + used, sizeof text - (size_t)used, task, "t1", "blocked");
    used += snprintf(text + used, sizeof text - (size_t)used, ",");
    used += snprintf(text + used, sizeof text - (size_t)used, task, "t2", "blokced");
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    assert_int_equal(ask("alice", "POST", "/evaluate/batch", text, &told), 200);
    assert_string_equal(tree_text(told, "batch_id"), "b");
    assert_string_equal(tree_text(told, "batch_status"), "processing");
    assert_true(tree_number(told, "total_tasks") == 2 && tree_number(told, "completed_tasks") == 0);
    assert_true(tree_number(told, "failed_tasks") == 1);
    const cJSON *results = tree_member(told, "results");
    assert_string_equal(tree_text(cJSON_GetArrayItem(results, 0), "task_id"), "t1");
    assert_string_equal(tree_text(cJSON_GetArrayItem(results, 0), "status"), "pending");
    assert_string_equal(tree_text(cJSON_GetArrayItem(results, 1), "task_id"), "t2");
    assert_string_equal(tree_text(cJSON_GetArrayItem(results, 1), "status"), "failed");
    assert_non_null(strstr(tree_text(cJSON_GetArrayItem(results, 1), "error_message"), "did you mean blocked"));
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "GET", "/results/t1", "", NULL), 200);
    assert_int_equal(ask("alice", "POST", "/evaluate/batch", "{\"batch_id\":\"b\",\"tasks\":[]}", NULL), 400);
    assert_int_equal(ask("alice", "POST", "/evaluate/batch", "{\"tasks\":[1]}", NULL), 400);
}

static void batches(void **state)
{
    cJSON *told = NULL;
    char text[512];
    (void)state;
    int used = snprintf(text, sizeof text, "{\"jobs\":[%s,", job(1));
    used += snprintf(text + used, sizeof text - (size_t)used, "{\"candidate\":\"blokced\",\"problem\":\"8x8x8\"},");
    snprintf(text + used, sizeof text - (size_t)used, "%s]}", job(2));
    assert_int_equal(ask("alice", "POST", "/v1/jobs", text, &told), 202);
    const cJSON *jobs = tree_member(told, "jobs");
    assert_int_equal(cJSON_GetArraySize(jobs), 3);
    assert_string_equal(tree_text(cJSON_GetArrayItem(jobs, 0), "state"), "queued");
    assert_true(tree_number(cJSON_GetArrayItem(jobs, 1), "status") == 400);
    assert_string_equal(tree_text(cJSON_GetArrayItem(jobs, 2), "state"), "queued");
    cJSON_Delete(told);
    assert_int_equal(ask("alice", "POST", "/v1/jobs", "{\"jobs\":[],\"x\":1}", NULL), 400);
}

/* Long polls and streams hold connections: a client has so many, and none of another's. What does not wait is told. */
static void waits_have_a_limit(void **state)
{
    static struct events *open[WAITS_OF_ONE];
    char path[64], events[80];
    (void)state;
    snprintf(path, sizeof path, "%s", submit("alice", 1, 202));
    snprintf(events, sizeof events, "%s/events", path);
    for (size_t i = 0; i < WAITS_OF_ONE; i++)
        assert_non_null(open[i] = open_events("alice", path));
    assert_int_equal(ask("alice", "GET", events, "", NULL), 429);
    assert_int_equal(ask_waiting("alice", path), 429);
    assert_int_equal(ask("alice", "POST", "/evaluate", "{}", NULL), 429);
    assert_int_equal(ask("alice", "GET", path, "", NULL), 200);
    assert_int_equal(ask("alice", "DELETE", path, "", NULL), 200);
    submit("bob", 1, 202);
    assert_int_equal(ask("bob", "POST", "/evaluate", "{}", NULL), 400);
    events_close(open[0]);
    assert_int_equal(ask_waiting("alice", path), 200); /* done: at once */
    assert_int_equal(ask_waiting("alice", path), 200); /* the last one's place is free again */
    for (size_t i = 1; i < WAITS_OF_ONE; i++)
        events_close(open[i]);
    assert_int_equal(server->waits.all, 0);
}

static void routes(void **state)
{
    (void)state;
    assert_int_equal(ask("alice", "GET", "/", "", NULL), 404);
    assert_int_equal(ask("alice", "GET", "/v1/jobs/../../etc/passwd", "", NULL), 404);
    assert_int_equal(ask("alice", "POST", "/v1/job", "{}", NULL), 404);
    assert_int_equal(ask("alice", "PATCH", "/v1/jobs", "{}", NULL), 405);
    assert_int_equal(ask("alice", "POST", "/v1/jobs", "", NULL), 400);
    assert_int_equal(ask("alice", "POST", "/evaluate", "[1]", NULL), 400);
    assert_int_equal(ask("alice", "GET", "/metrics", "", NULL), 200);
    assert_int_equal(ask(NULL, "GET", "/metrics", "", NULL), 401);
    assert_int_equal(ask(NULL, "GET", "/health", "", NULL), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits, begin_test, end_test),
        cmocka_unit_test_setup_teardown(own_jobs, begin_test, end_test),
        cmocka_unit_test_setup_teardown(taken_back, begin_test, end_test),
        cmocka_unit_test_setup_teardown(restarts, begin_test, end_test),
        cmocka_unit_test_setup_teardown(found_in_order, begin_test, end_test),
        cmocka_unit_test_setup_teardown(found_before_the_end, begin_test, end_test),
        cmocka_unit_test_setup_teardown(drains, begin_test, end_test),
        cmocka_unit_test_setup_teardown(tasks, begin_test, end_test),
        cmocka_unit_test_setup_teardown(batches, begin_test, end_test),
        cmocka_unit_test_setup_teardown(task_batches, begin_test, end_test),
        cmocka_unit_test_setup_teardown(metrics_are_described, begin_test, end_test),
        cmocka_unit_test_setup_teardown(streams, begin_test, end_test),
        cmocka_unit_test_setup_teardown(streams_end_with_the_server, begin_test, end_test),
        cmocka_unit_test_setup_teardown(who_leaves_is_not_waited_for, begin_test, end_test),
        cmocka_unit_test_setup_teardown(waits_have_a_limit, begin_test, end_test),
        cmocka_unit_test_setup_teardown(routes, begin_test, end_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
