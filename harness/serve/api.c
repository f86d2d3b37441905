/*
 * api.c - routes a request to the server and words its reply. Relies on server.h, submission.h and gym.h. Called by
 * http.c.
 */
#include "serve/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "serve/gym.h"

#define JSON_TYPE "application/json"

/* ---- replies ---- */

/* Takes the tree over. */
static void answer(int status, cJSON *tree, struct api_reply *out)
{
    *out = (struct api_reply){.status = tree ? status : 500, .type = JSON_TYPE};
    out->body = tree ? json_print(tree, false) : NULL;
    cJSON_Delete(tree);
}

void api_refuse(int status, const char *why, struct api_reply *out)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "error", why);
    answer(status, tree_finish(&t), out);
}

void api_reply_free(struct api_reply *reply)
{
    free(reply->body);
    reply->body = NULL;
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

static int parse_body(const struct api_request *request, cJSON **out, struct error *err)
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
    answer(202, tree_finish(&t), out);
}

static void post_jobs(struct server *server, const struct api_request *request, struct api_reply *out)
{
    cJSON *tree = NULL, *told = NULL;
    struct error err;
    int count = 0;
    if (parse_body(request, &tree, &err)) {
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
        answer(status, told, out);
    }
    cJSON_Delete(tree);
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
    int status = server_look(server, request->client, id, wait_of(request), &view, &err);
    if (status == 200)
        answer(200, view_tree(&view), out);
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

/* ---- KernelGYM ---- */

static void answer_gym(const char *task, const struct server_view *view, struct api_reply *out)
{
    cJSON *outcome = NULL;
    struct error ignored;
    if (view->outcome)
        json_parse(view->outcome, strlen(view->outcome), SUBMISSION_BODY_BYTES, "outcome", &outcome, &ignored);
    answer(200, gym_response(task, view->state, outcome), out);
    cJSON_Delete(outcome);
}

static void get_task(struct server *server, const struct api_request *request, const char *task, double seconds,
                     struct api_reply *out)
{
    const struct server_client who = {.name = request->client, .task = task};
    struct server_view view;
    struct error err;
    char id[DIGEST_HEX];
    server_task_id(&who, id);
    int status = server_look(server, request->client, id, seconds, &view, &err);
    if (status == 200)
        answer_gym(task, &view, out);
    else
        api_refuse(status, err.text, out);
    server_view_free(&view);
}

static int submit_task(struct server *server, const struct api_request *request, struct gym_request *gym,
                       struct error *err)
{
    struct server_view view;
    const struct server_client who = {.name = request->client, .task = gym->task};
    struct submission *submission = malloc(sizeof *submission);
    if (!submission) {
        submission_free(&gym->submission);
        error_set(err, EXIT_CODE_INTERNAL, "out of memory");
        return 500;
    }
    *submission = gym->submission;
    int status = server_submit(server, &who, submission, &view, err);
    server_view_free(&view);
    return status;
}

/* Waits for the outcome, as KernelGYM does; what is not done by then is asked for at /results. */
static void post_evaluate(struct server *server, const struct api_request *request, struct api_reply *out)
{
    cJSON *tree = NULL;
    struct error err;
    struct gym_request *gym = calloc(1, sizeof *gym);
    const struct submission_rules rules = server_rules(server);
    int status = gym ? 400 : 500;
    snprintf(err.text, sizeof err.text, "out of memory");
    if (gym && parse_body(request, &tree, &err) == 0 && gym_read(json_root(tree, "request"), &rules, gym, &err) == 0)
        status = submit_task(server, request, gym, &err);
    cJSON_Delete(tree);
    if (status < 300)
        get_task(server, request, gym->task,
                 gym->timeout_seconds > API_WAIT_SECONDS ? API_WAIT_SECONDS : gym->timeout_seconds, out);
    else
        api_refuse(status, err.text, out);
    free(gym);
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
    else if (id)
        get_job(server, request, id, out);
    else if (status || results)
        get_task(server, request, status ? status : results, wait_of(request), out);
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
        post_evaluate(server, request, out);
    else if (is(request, "DELETE") && id)
        delete_job(server, request, id, out);
    else if (is(request, "POST"))
        api_refuse(404, "there is no such path (docs/serve.md has them)", out);
    else
        api_refuse(405, "expected GET, POST or DELETE", out);
}

void api_handle(struct server *server, const struct api_request *request, struct api_reply *out)
{
    *out = (struct api_reply){.type = JSON_TYPE};
    if (strcmp(request->path, "/health") == 0)
        get_health(server, out);
    else if (!request->client)
        api_refuse(401, "expected the header \"Authorization: Bearer TOKEN\"", out);
    else
        route(server, request, out);
    server_count_refusal(server, out->status);
}
