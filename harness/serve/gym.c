/*
 * gym.c - translates between KernelGYM's forms and ours. Relies on submission.h and verdict.h. Called by api_gym.c.
 */
#include "serve/gym.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tree.h"
#include "serve/verdict.h"

#define DEFAULT_TIMEOUT 300.0

static const char *const priority_names[] = {"low", "normal", "high", "urgent", NULL};
static const int priority_values[] = {0, 3, 6, 9};

/* ---- the request ---- */

/* KernelGYM's own clients have no member of ours to send, but the text of a reference: there it stands from the first
 * '{' on. NULL: no such text. */
static int read_reference(struct json_at at, cJSON **out, struct error *err)
{
    const cJSON *reference = json_member(at, "reference_code").node;
    const char *text = cJSON_IsString(reference) ? strchr(reference->valuestring, '{') : NULL;
    *out = NULL;
    return text ? json_parse(text, strlen(text), SUBMISSION_BODY_BYTES, "reference_code", out, err) : 0;
}

/* The object that says what is measured, owned by the caller. */
static int read_ours(struct json_at at, cJSON **out, struct error *err)
{
    struct json_at ours = json_member(at, "cudal2");
    int code = 0;
    *out = ours.node ? cJSON_Duplicate(ours.node, true) : NULL;
    if (!ours.node)
        code = read_reference(at, out, err);
    if (!code && !cJSON_IsObject(*out))
        code = json_expected(ours, err,
                             "an object with \"problem\", and \"manifest\" for CUDA source in kernel_code, or "
                             "\"candidate\", or \"kernel\" and \"parameters\"; or the same as text in reference_code "
                             "(docs/serve.md)");
    if (code) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return code;
}

/* The submission that it means, owned by the caller. */
static int make_form(struct json_at at, cJSON **out, struct error *err)
{
    static const char *const names[] = {"candidate", "kernel", NULL};
    const char *text;
    bool named = false;
    *out = NULL;
    if (json_read_string(json_member(at, "kernel_code"), &text, err) || read_ours(at, out, err))
        return err->code;
    for (size_t i = 0; names[i]; i++)
        named |= tree_member(*out, names[i]) != NULL;
    for (size_t i = 0; source_format_names[i]; i++)
        named |= tree_member(*out, source_format_names[i]) != NULL;
    if (named || cJSON_AddStringToObject(*out, "source", text))
        return 0;
    cJSON_Delete(*out);
    *out = NULL;
    return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a submission");
}

static int read_task(struct json_at at, struct gym_request *out, struct error *err)
{
    const char *task;
    if (json_read_string(at, &task, err))
        return err->code;
    if (strlen(task) >= GYM_TASK_MAX || !submission_is_task(task))
        return json_fail(at, err, "expected 1 to 100 letters, digits, '_', '-', '.' and ':'");
    snprintf(out->task, sizeof out->task, "%s", task);
    return 0;
}

static int read_rest(struct json_at at, struct gym_request *out, struct error *err)
{
    struct json_at priority = json_member(at, "priority"), timeout = json_member(at, "timeout"),
                   refresh = json_member(at, "force_refresh");
    int chosen = 1;
    out->timeout_seconds = DEFAULT_TIMEOUT;
    if (priority.node && json_read_choice(priority, priority_names, &chosen, err))
        return err->code;
    out->submission.priority = priority_values[chosen];
    if (timeout.node && json_read_number(timeout, 0, 3600, &out->timeout_seconds, err))
        return err->code;
    return refresh.node && !cJSON_IsNull(refresh.node) ? json_read_bool(refresh, &out->submission.again, err) : 0;
}

int gym_read(struct json_at at, const struct submission_rules *rules, struct gym_request *out, struct error *err)
{
    cJSON *form = NULL;
    struct json_at inner = json_member(at, "cudal2");
    memset(out, 0, sizeof *out);
    if (!cJSON_IsObject(at.node))
        return json_expected(at, err, "an object");
    int code = read_task(json_member(at, "task_id"), out, err);
    if (!code)
        code = make_form(at, &form, err);
    inner.node = form;
    if (!code)
        code = submission_read(inner, rules, &out->submission, err);
    cJSON_Delete(form);
    if (code)
        return code;
    code = read_rest(at, out, err);
    if (code)
        submission_free(&out->submission);
    return code;
}

/* ---- the response ---- */

static bool is_compiled(const cJSON *outcome)
{
    const char *stage = tree_text(outcome, "stage");
    return strcmp(stage, "compile") != 0 && strcmp(stage, "load") != 0;
}

/* Times of the first problem, in milliseconds; the speedup is over all of them. */
static void put_times(struct tree *t, const cJSON *outcome)
{
    const cJSON *problems = tree_member(outcome, "problems");
    const cJSON *first = cJSON_IsArray(problems) ? cJSON_GetArrayItem(problems, 0) : NULL;
    tree_put_number(t, "reference_runtime", tree_number(first, "baseline_ns") / 1e6);
    tree_put_number(t, "kernel_runtime", tree_number(first, "candidate_ns") / 1e6);
    double ratio = tree_number(tree_member(outcome, "terms"), "ratio");
    tree_put_number(t, "speedup", isfinite(ratio) ? ratio : 0);
}

static void put_outcome(struct tree *t, const cJSON *outcome)
{
    enum verdict verdict = verdict_of_outcome(outcome);
    tree_put(t, "compiled", cJSON_CreateBool(is_compiled(outcome)));
    tree_put(t, "correctness", cJSON_CreateBool(verdict == VERDICT_OK));
    tree_put(t, "decoy_kernel", cJSON_CreateBool(verdict_is_cheat(verdict, tree_text(outcome, "stage"))));
    put_times(t, outcome);
    tree_put_copy(t, "metadata", outcome);
    tree_put_text(t, "error_message", tree_text(outcome, "error"));
}

static const char *status_of(const char *state, const cJSON *outcome)
{
    if (!outcome)
        return strcmp(state, "queued") == 0 ? "pending" : "processing";
    if (verdict_of_outcome(outcome) == VERDICT_CANCELLED)
        return "cancelled";
    return cJSON_IsNull(tree_member(outcome, "reward")) ? "failed" : "completed";
}

cJSON *gym_response(const char *task, const char *state, const cJSON *outcome)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "task_id", task);
    tree_put_text(&t, "status", status_of(state, outcome));
    if (outcome)
        put_outcome(&t, outcome);
    return tree_finish(&t);
}

cJSON *gym_refusal(const char *task, const char *why)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "task_id", task);
    tree_put_text(&t, "status", "failed");
    tree_put_text(&t, "error_message", why);
    return tree_finish(&t);
}

/* What is still open makes the batch a "processing" one: its tasks are asked for one by one. */
cJSON *gym_batch_response(const char *batch, cJSON *results)
{
    int completed = 0, failed = 0, total = cJSON_GetArraySize(results);
    const cJSON *one;
    struct tree t = tree_begin();
    cJSON_ArrayForEach(one, results)
    {
        const char *status = tree_text(one, "status");
        completed += strcmp(status, "completed") == 0;
        failed += strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0;
    }
    tree_put_text(&t, "batch_id", batch);
    tree_put_number(&t, "total_tasks", total);
    tree_put_number(&t, "completed_tasks", completed);
    tree_put_number(&t, "failed_tasks", failed);
    tree_put_text(&t, "batch_status", completed + failed == total ? "completed" : "processing");
    tree_put(&t, "results", results);
    return tree_finish(&t);
}
