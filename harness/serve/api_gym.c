/*
 * api_gym.c - KernelGYM's requests: tasks are jobs whose id is made of their name. Relies on gym.h for the forms.
 * Called by api.c.
 */
#include "serve/api_gym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/tree.h"
#include "serve/gym.h"

/* How far a task is, as KernelGYM says it, or the refusal: an HTTP status. */
static int look(struct server *server, const struct server_client *who, const struct server_wait *wait, cJSON **out,
                struct error *err)
{
    struct server_view view;
    char id[DIGEST_HEX];
    cJSON *outcome = NULL;
    struct error ignored;
    server_task_id(who, id);
    int status = server_watch(server, who->name, id, wait, &view, err);
    if (status == 200 && view.outcome)
        json_parse(view.outcome, strlen(view.outcome), SUBMISSION_BODY_BYTES, "outcome", &outcome, &ignored);
    *out = status == 200 ? gym_response(who->task, view.state, outcome) : NULL;
    cJSON_Delete(outcome);
    server_view_free(&view);
    return status;
}

void api_gym_look(struct server *server, const struct api_request *request, const char *task, double seconds,
                  struct api_reply *out)
{
    const struct server_client who = {.name = request->client, .task = task};
    const struct server_wait wait = api_wait(request, seconds);
    struct error err;
    cJSON *tree;
    int status = look(server, &who, &wait, &tree, &err);
    if (status == 200)
        api_answer(200, tree, out);
    else
        api_refuse(status, err.text, out);
}

/* Takes the request's submission over. */
static int submit(struct server *server, const struct api_request *request, struct gym_request *gym, struct error *err)
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

/* Reads a task and submits it. */
static int take(struct server *server, const struct api_request *request, struct json_at at, struct gym_request *gym,
                struct error *err)
{
    const struct submission_rules rules = server_rules(server);
    return gym_read(at, &rules, gym, err) ? 400 : submit(server, request, gym, err);
}

static double patience(double timeout_seconds)
{
    return timeout_seconds > API_WAIT_SECONDS ? API_WAIT_SECONDS : timeout_seconds;
}

void api_gym_evaluate(struct server *server, const struct api_request *request, struct api_reply *out)
{
    cJSON *tree = NULL;
    struct error err;
    struct gym_request *gym = calloc(1, sizeof *gym);
    int status = gym ? 400 : 500;
    snprintf(err.text, sizeof err.text, "out of memory");
    if (gym && api_parse(request, &tree, &err) == 0)
        status = take(server, request, json_root(tree, "request"), gym, &err);
    cJSON_Delete(tree);
    if (status < 300)
        api_gym_look(server, request, gym->task, patience(gym->timeout_seconds), out);
    else
        api_refuse(status, err.text, out);
    free(gym);
}

/* ---- batches ---- */

struct batch {
    const char *id; /* of the request's tree */
    cJSON *results; /* owned */
    uint64_t began_ns;
    int n;
    struct {
        char task[GYM_TASK_MAX];
        double timeout_seconds;
        char why[256]; /* not empty: it was refused */
    } tasks[API_GYM_BATCH];
};

static int read_batch(struct json_at root, struct batch *b, struct error *err)
{
    struct json_at tasks = json_member(root, "tasks");
    if (json_read_string(json_member(root, "batch_id"), &b->id, err) || json_read_array(tasks, 1, &b->n, err))
        return err->code;
    return b->n <= API_GYM_BATCH ? 0 : json_fail(tasks, err, "expected at most %d tasks", API_GYM_BATCH);
}

/* A refused task is called what its client calls it, where that is a name. */
static void submit_task(struct server *server, const struct api_request *request, struct json_at at, struct batch *b,
                        int index)
{
    struct error err;
    struct gym_request *gym = calloc(1, sizeof *gym);
    int status = 500;
    snprintf(err.text, sizeof err.text, "out of memory");
    if (gym)
        status = take(server, request, at, gym, &err);
    if (gym)
        snprintf(b->tasks[index].task, sizeof b->tasks[index].task, "%s", gym->task);
    b->tasks[index].timeout_seconds = gym ? patience(gym->timeout_seconds) : 0;
    if (status >= 300)
        snprintf(b->tasks[index].why, sizeof b->tasks[index].why, "%.255s", err.text);
    free(gym);
}

/* Each has its own patience, and all are waited for at once. */
static void collect(struct server *server, const struct api_request *request, struct batch *b)
{
    for (int i = 0; i < b->n; i++) {
        const struct server_client who = {.name = request->client, .task = b->tasks[i].task};
        double passed = 1e-9 * (double)(clock_now_ns() - b->began_ns), left = b->tasks[i].timeout_seconds - passed;
        const struct server_wait wait = api_wait(request, left > 0 ? left : 0);
        cJSON *one = NULL;
        struct error err;
        if (b->tasks[i].why[0])
            one = gym_refusal(who.task, b->tasks[i].why);
        else if (look(server, &who, &wait, &one, &err) != 200)
            one = gym_refusal(who.task, err.text);
        if (b->results && !tree_append(b->results, one))
            b->results = NULL;
    }
}

void api_gym_batch(struct server *server, const struct api_request *request, struct api_reply *out)
{
    cJSON *tree = NULL;
    const cJSON *node = NULL;
    struct json_at task;
    struct error err;
    int index = 0, at = 0;
    struct batch *b = calloc(1, sizeof *b);
    int status = b ? 400 : 500;
    snprintf(err.text, sizeof err.text, "out of memory");
    if (b && api_parse(request, &tree, &err) == 0 && read_batch(json_root(tree, "request"), b, &err) == 0)
        status = 200;
    if (status == 200) {
        b->began_ns = clock_now_ns();
        b->results = cJSON_CreateArray();
        while (json_each(json_member(json_root(tree, "request"), "tasks"), &node, &index, &task))
            submit_task(server, request, task, b, at++);
        collect(server, request, b);
        api_answer(200, gym_batch_response(b->id, b->results), out);
    } else {
        api_refuse(status, err.text, out);
    }
    cJSON_Delete(tree);
    free(b);
}
