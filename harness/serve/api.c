/*
 * api.c - routes a request to the server and words its reply. Relies on server.h, submission.h and api_gym.h. Called by
 * http.c.
 */
#include "serve/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "serve/api_gym.h"

#define JSON_TYPE "application/json"

/* ---- replies ---- */

void api_answer(int status, cJSON *tree, struct api_reply *out)
{
    *out = (struct api_reply){.status = tree ? status : 500, .type = JSON_TYPE};
    out->body = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
}

void api_refuse(int status, const char *why, struct api_reply *out)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "error", why);
    api_answer(status, tree_finish(&t), out);
}

void api_reply_free(struct api_reply *reply)
{
    free(reply->body);
    events_close(reply->events);
    reply->body = NULL;
    reply->events = NULL;
}

static cJSON *view_tree(const struct server_view *view)
{
    cJSON *tree = NULL;
    struct error ignored;
    if (view->outcome) {
        json_parse(view->outcome, strlen(view->outcome), SUBMISSION_BODY_BYTES, "outcome", &tree, &ignored);
        return tree;
    }
    struct tree t = tree_begin();
    tree_put_text(&t, "id", view->id);
    tree_put_text(&t, "state", view->state);
    tree_put_number(&t, "ahead", (double)view->ahead);
    return tree_finish(&t);
}

/* ---- /v1/jobs ---- */

int api_parse(const struct api_request *request, cJSON **out, struct error *err)
{
    return json_parse(request->body ? request->body : "", request->length, SUBMISSION_BODY_BYTES, "request", out, err);
}

/* One submission; the tree says what became of it. */
static int submit_one(struct server *server, const char *client, struct json_at at, cJSON **told)
{
    struct error err;
    struct server_view view = {.state = ""};
    const struct submission_rules rules = server_rules(server);
    const struct server_client who = {.name = client};
    struct submission *submission = calloc(1, sizeof *submission);
    int status = 500;
    if (submission && submission_read(at, &rules, submission, &err) == 0)
        status = server_submit(server, &who, submission, &view, &err);
    else {
        status = submission && err.code == EXIT_CODE_DATA ? 400 : 500;
        free(submission);
    }
    if (status < 300) {
        *told = view_tree(&view);
    } else {
        struct tree t = tree_begin();
        tree_put_text(&t, "error", status == 500 && !submission ? "out of memory" : err.text);
        tree_put_number(&t, "status", status);
        *told = tree_finish(&t);
    }
    server_view_free(&view);
    return status;
}

/* Each stands for itself: one that is refused does not keep the others out. */
static void submit_batch(struct server *server, const char *client, struct json_at list, struct api_reply *out)
{
    struct tree t = tree_begin();
    cJSON *told = cJSON_CreateArray();
    const cJSON *node = NULL;
    struct json_at element;
    int index = 0;
    while (json_each(list, &node, &index, &element)) {
        cJSON *one = NULL;
        submit_one(server, client, element, &one);
        if (told && !tree_append(told, one))
            told = NULL;
    }
    tree_put(&t, "jobs", told);
    api_answer(202, tree_finish(&t), out);
}

static void post_jobs(struct server *server, const struct api_request *request, struct api_reply *out)
{
    cJSON *tree = NULL, *told = NULL;
    struct error err;
    int count = 0;
    if (api_parse(request, &tree, &err)) {
        api_refuse(400, err.text, out);
        return;
    }
    struct json_at root = json_root(tree, "request"), list = json_member(root, "jobs");
    if (list.node &&
        (json_only_keys(root, (const char *const[]){"jobs", NULL}, &err) || json_read_array(list, 1, &count, &err)))
        api_refuse(400, err.text, out);
    else if (count > SUBMISSION_BATCH)
        api_refuse(400, "request: $.jobs: expected at most 256 submissions", out);
    else if (list.node)
        submit_batch(server, request->client, list, out);
    else {
        int status = submit_one(server, request->client, root, &told);
        api_answer(status, told, out);
    }
    cJSON_Delete(tree);
}

struct server_wait api_wait(const struct api_request *request, double seconds)
{
    return (struct server_wait){.seconds = seconds, .gone = request->gone, .context = request->connection};
}

static double wait_of(const struct api_request *request)
{
    double seconds = request->wait ? strtod(request->wait, NULL) : 0;
    return !(seconds > 0) ? 0 : seconds > API_WAIT_SECONDS ? API_WAIT_SECONDS : seconds;
}

static void get_job(struct server *server, const struct api_request *request, const char *id, struct api_reply *out)
{
    struct server_view view;
    struct error err;
    const struct server_wait wait = api_wait(request, wait_of(request));
    int status = server_watch(server, request->client, id, &wait, &view, &err);
    if (status == 200)
        api_answer(200, view_tree(&view), out);
    else
        api_refuse(status, err.text, out);
    server_view_free(&view);
}

static void delete_job(struct server *server, const struct api_request *request, const char *id, struct api_reply *out)
{
    struct error err;
    int status = server_cancel(server, request->client, id, &err);
    if (status == 200)
        get_job(server, request, id, out);
    else
        api_refuse(status, err.text, out);
}

/* "ID/events". */
static bool is_events(const char *id)
{
    return strlen(id) == DIGEST_HEX - 1 + strlen("/events") && strcmp(id + DIGEST_HEX - 1, "/events") == 0;
}

static void get_events(struct server *server, const struct api_request *request, const char *path,
                       struct api_reply *out)
{
    char id[DIGEST_HEX];
    struct error err;
    snprintf(id, sizeof id, "%s", path);
    int status = events_open(server, request->client, id, &out->events, &err);
    if (status != 200) {
        api_refuse(status, err.text, out);
        return;
    }
    out->status = 200;
    out->type = "text/event-stream";
}

/* ---- monitoring ---- */

static void get_health(struct server *server, struct api_reply *out)
{
    bool draining;
    char *text = server_health(server, &draining);
    *out = (struct api_reply){.status = draining ? 503 : 200, .type = JSON_TYPE, .body = text};
}

static void get_metrics(struct server *server, struct api_reply *out)
{
    *out = (struct api_reply){.status = 200, .type = "text/plain; version=0.0.4", .body = server_metrics(server)};
}

/* ---- routes ---- */

/* What follows `prefix`; NULL when it does not begin so, or nothing follows. */
static const char *behind(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(path, prefix, length) == 0 && path[length] ? path + length : NULL;
}

static bool is(const struct api_request *request, const char *method)
{
    return strcmp(request->method, method) == 0;
}

static void get(struct server *server, const struct api_request *request, struct api_reply *out)
{
    const char *id = behind(request->path, "/v1/jobs/"), *status = behind(request->path, "/status/");
    const char *results = behind(request->path, "/results/");
    if (strcmp(request->path, "/metrics") == 0)
        get_metrics(server, out);
    else if (id && is_events(id))
        get_events(server, request, id, out);
    else if (id)
        get_job(server, request, id, out);
    else if (status || results)
        api_gym_look(server, request, status ? status : results, wait_of(request), out);
    else
        api_refuse(404, "there is no such path (docs/serve.md has them)", out);
}

static void route(struct server *server, const struct api_request *request, struct api_reply *out)
{
    const char *id = behind(request->path, "/v1/jobs/");
    if (is(request, "GET") || is(request, "HEAD"))
        get(server, request, out);
    else if (is(request, "POST") && strcmp(request->path, "/v1/jobs") == 0)
        post_jobs(server, request, out);
    else if (is(request, "POST") && strcmp(request->path, "/evaluate") == 0)
        api_gym_evaluate(server, request, out);
    else if (is(request, "POST") && strcmp(request->path, "/evaluate/batch") == 0)
        api_gym_batch(server, request, out);
    else if (is(request, "DELETE") && id)
        delete_job(server, request, id, out);
    else if (is(request, "POST"))
        api_refuse(404, "there is no such path (docs/serve.md has them)", out);
    else
        api_refuse(405, "expected GET, POST or DELETE", out);
}

/* Whether it may hold its connection until something has an outcome. Streams count themselves. */
static bool may_wait(const struct api_request *request)
{
    bool evaluates = strcmp(request->path, "/evaluate") == 0 || strcmp(request->path, "/evaluate/batch") == 0;
    return is(request, "POST") ? evaluates : wait_of(request) > 0;
}

/* Who may not wait is told before anything is submitted. */
static void route_waiting(struct server *server, const struct api_request *request, struct api_reply *out)
{
    struct error err;
    int status = server_wait_begin(server, request->client, &err);
    if (status != 200) {
        api_refuse(status, err.text, out);
        return;
    }
    route(server, request, out);
    server_wait_end(server, request->client);
}

void api_handle(struct server *server, const struct api_request *request, struct api_reply *out)
{
    *out = (struct api_reply){.type = JSON_TYPE};
    if (strcmp(request->path, "/health") == 0)
        get_health(server, out);
    else if (!request->client)
        api_refuse(401, "expected the header \"Authorization: Bearer TOKEN\"", out);
    else if (may_wait(request))
        route_waiting(server, request, out);
    else
        route(server, request, out);
    server_count_refusal(server, out->status);
}
